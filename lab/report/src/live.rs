//! Progress: a few lines while a run is going on, drawn only between samples.

use crate::contestants::short_name;
use crate::effects::verdict_words;
use crate::picture::Axis;
use crate::prelude::*;
use crate::presented::pair;
use crate::property::trial_noun;
use crate::sentence::{observation_noun, tone};
use crate::text::fitted;
use std::slice::from_ref;
use tiebreak_core::plan::Budget;

/// The most claims, contests or workloads that have a line each.
const MOST_LINES: usize = 5;

/// The lines of the progress display, at most six, without line feeds. Their number depends on the
/// number of claims only, so that drawing them again in place does not jump.
///
/// First rounds, time and what is left of it; then of a single claim its interval on an axis (of a
/// share, under the curve of plausible rates) and what the bets for and against it have won, on a
/// logarithmic scale up to what they need; of several claims a line each, the open ones first.
pub fn frame(run: &RunResult, look: &Look) -> Vec<String> {
    let by_rounds = run.budget.rounds.map_or(0.0, |most| run.rounds as f64 / most as f64);
    let used = used(run.seconds, &run.budget).max(by_rounds);
    let mut lines = vec![with_bar(status(run), used, *look)];
    match (run.verdicts.as_slice(), &run.self_check) {
        (_, Some(_)) | ([], None) => {}
        ([claim], None) => lines.extend(single(run, claim, *look)),
        (claims, None) => lines.extend(several(run, claims, *look)),
    }
    lines.iter().map(|line| fitted(line, look.columns(), *look)).collect()
}

/// One plain line of progress, for pipes and dumb terminals, without a line feed and styles: the
/// status, and as much of the limits and the evidence as fits.
pub fn line(run: &RunResult, look: &Look) -> String {
    let parts = match (run.verdicts.as_slice(), &run.self_check) {
        (_, Some(_)) | ([], None) => Vec::new(),
        ([claim], None) => {
            let quantity = Presented::of(claim);
            let limits = format!("{} {}", pair(&quantity, *look), quantity.limits());
            vec![limits, format!("evidence {}", of_needed(strongest(claim), claim))]
        }
        (claims, None) => vec![format!("{} settled", settled(claims.iter(), "claim"))],
    };
    let mut text = format!("tiebreak: {}", status(run));
    for part in parts {
        if text.width() + 2 + part.width() <= look.columns() {
            text += &format!("; {part}");
        }
    }
    shorten_middle(&text, look.columns(), *look)
}

/// The progress of several runs of one command.
struct Progress<'a> {
    /// The name of their file or study.
    name: String,
    status: String,
    /// The part of the bar that is full.
    used: f64,
    /// What a run is: a contest, a workload.
    noun: &'static str,
    /// Each with its name, and what stands between the name and the signs of its claims.
    runs: Vec<(&'a str, String, &'a RunResult)>,
}

impl Progress<'_> {
    /// Returns the lines of a frame, or one plain line.
    fn lines(mut self, look: Look, is_frame: bool) -> Vec<String> {
        if !is_frame {
            // Of a long name a part is enough; a figure must be whole.
            let room = look.columns().saturating_sub(self.status.width() + 2);
            let name = shorten_middle(&plain(&self.name), room, look);
            let text =
                if name.is_empty() { self.status } else { format!("{name}: {}", self.status) };
            return vec![shorten_middle(&text, look.columns(), look)];
        }
        let mut lines = vec![with_bar(self.status, self.used, look)];
        let rest =
            shortened(&mut self.runs, self.noun, |(.., run)| run.verdicts.iter().any(is_open));
        let names = padded(self.runs.iter().map(|(name, ..)| short_name(name, look)).collect());
        let middles = padded(self.runs.iter().map(|(_, middle, _)| middle.clone()).collect());
        for ((name, middle), (.., run)) in names.into_iter().zip(middles).zip(&self.runs) {
            let mut line = vec![span(Tone::Strong, name), words(format!("{middle}  "))];
            line.extend(signs(&run.verdicts, look));
            lines.push(line);
        }
        lines.extend(rest);
        lines.iter().map(|line| fitted(line, look.columns(), look)).collect()
    }
}

/// The progress of a file of claims: the lines of a frame that is drawn again in place, at most
/// six, or one plain line. The number of lines depends on that of the contests only, so that the
/// frame does not jump.
///
/// First the claims that are settled, time and what is left of it; then a line a contest, those
/// with open claims first: a sign for each claim (`+` holds, `-` refuted, `~` too close, `!` void,
/// `.` open), and how far the open claim that is furthest has come.
pub fn of_check(check: &CheckResult, look: &Look, is_frame: bool) -> Vec<String> {
    let all = check.claims().count();
    let open = check.claims().filter(|(.., claim)| is_open(claim)).count();
    let claims = settled(check.claims().map(|(.., claim)| claim), "claim");
    let mut status = format!("{claims} settled, {}", time(check.seconds, &check.budget));
    if let Some(most) = finite(check.budget.seconds) {
        status += &format!(", at most {} left", seconds((most - check.seconds).max(0.0)));
    }
    let contests = check.contests.iter();
    let progress = Progress {
        name: check.file.clone(),
        status,
        used: (all - open) as f64 / all.max(1) as f64,
        noun: "contest",
        runs: contests.map(|one| (one.name.as_str(), String::new(), &one.run)).collect(),
    };
    progress.lines(*look, is_frame)
}

/// The progress of a study, like that of a file of claims.
///
/// First what is settled and what is left of the budget, with a bar of what is used; then a line a
/// workload, those with something open first: units done, a sign for each claim and for each ratio
/// of its table (`+` settled, `-` refuted, `~` too close, `!` void, `.` open), and how far the one
/// that is furthest has come.
pub fn of_study(study: &StudyResult, look: &Look, is_frame: bool) -> Vec<String> {
    let mut parts = Vec::new();
    for (noun, is_ratio) in [("ratio", true), ("claim", false)] {
        let all = study.runs.iter().flat_map(|run| &run.verdicts);
        let mut all = all.filter(|claim| claim.statement.is_measure() == is_ratio).peekable();
        if all.peek().is_some() {
            parts.push(settled(all, noun));
        }
    }
    let time = time(study.seconds, &study.budget);
    let runs = study.runs.iter().map(|run| {
        let name = run.study.as_ref().map_or("", |study| &study.workload.name);
        (name, format!("  {:>10}", count(run.rounds, observation_noun(run))), run)
    });
    let progress = Progress {
        name: study.study.clone(),
        status: if parts.is_empty() {
            time
        } else {
            format!("{} settled, {time}", parts.join(" and "))
        },
        used: used(study.seconds, &study.budget),
        noun: "workload",
        runs: runs.collect(),
    };
    progress.lines(*look, is_frame)
}

/// Puts what is open first, and of too many cuts the rest; then it returns a line about all.
fn shortened<T>(all: &mut Vec<T>, noun: &str, is_open: impl Fn(&T) -> bool) -> Option<Spans> {
    all.sort_by_key(|one| !is_open(one));
    if all.len() <= MOST_LINES {
        return None;
    }
    let open = all.iter().filter(|one| is_open(one)).count();
    let text = format!("{}, {open} open", count(all.len() as u64, noun));
    all.truncate(MOST_LINES - 1);
    Some(vec![span(Tone::Dim, text)])
}

fn is_open(claim: &ClaimResult) -> bool {
    claim.verdict == Verdict::Undecided
}

/// `3 of 9 claims`.
fn settled<'a>(claims: impl Iterator<Item = &'a ClaimResult>, noun: &str) -> String {
    let (open, settled): (Vec<_>, Vec<_>) = claims.partition(|claim| is_open(claim));
    format!("{} of {}", settled.len(), count((open.len() + settled.len()) as u64, noun))
}

/// `1.9 s of 60 s`.
fn time(used: f64, budget: &Budget) -> String {
    match finite(budget.seconds) {
        Some(most) => format!("{} of {}", seconds(used), seconds(most)),
        None => seconds(used),
    }
}

/// Returns the used part of a budget of time; 0 without one.
fn used(seconds: f64, budget: &Budget) -> f64 {
    finite(budget.seconds).map_or(0.0, |most| seconds / most)
}

/// `round 12, 1.9 s of 60 s, about 8 s left`.
fn status(run: &RunResult) -> String {
    let mut text = format!("{} {}", round_noun(run), run.rounds);
    if let Some(most) = run.budget.rounds {
        text += &format!(" of {most}");
    }
    text += &format!(", {}", time(run.seconds, &run.budget));
    if let Some(left) = finite(run.eta_seconds) {
        text += &format!(", about {} left", seconds(left));
    }
    text
}

/// Returns the noun for the rounds of a run: lines of a stream, runs of the only contestant, units
/// of a study, or rounds.
pub(crate) fn round_noun(run: &RunResult) -> &'static str {
    if run.study.is_some() {
        return observation_noun(run);
    }
    let mut nouns = run.verdicts.iter().map(trial_noun);
    match nouns.next() {
        Some(first) if run.self_check.is_none() && nouns.all(|noun| noun == first) => first,
        _ => "round",
    }
}

/// Puts a bar of the used part behind a text, in the room that is left.
fn with_bar(text: String, used: f64, look: Look) -> Spans {
    let room = look.columns().saturating_sub(text.width() + 2).min(20);
    vec![words(text), words("  "), span(Tone::Dim, bar(used, room, look))]
}

/// Draws a bar that is full at 1.
fn bar(share: f64, columns: usize, look: Look) -> String {
    let share = if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) };
    let eighths = (share * (8 * columns) as f64).floor() as usize;
    let (full, rest) = (eighths / 8, eighths % 8);
    let blocks =
        ['\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];
    let mut text = String::from(look.pick("\u{2588}", "#")).repeat(full);
    if rest > 0 && look.unicode {
        text.push(blocks[rest - 1]);
    }
    let empty = columns - text.chars().count();
    text + &look.pick("\u{b7}", ".").repeat(empty)
}

/// Returns the evidence of the side of a claim that has more.
fn strongest(claim: &ClaimResult) -> f64 {
    claim.evidence.for_claim.max(claim.evidence.against)
}

/// Returns the progress of evidence from 0 to 1 by its logarithm: bets multiply, so each round
/// adds.
fn share_of_needed(evidence: f64, claim: &ClaimResult) -> f64 {
    evidence.max(1.0).ln() / claim.evidence.needed.max(1.0 + 1e-9).ln()
}

/// `131 of 200`.
fn of_needed(evidence: f64, claim: &ClaimResult) -> String {
    let [evidence, needed] = [evidence, claim.evidence.needed].map(|value| match value {
        v if v.is_nan() => "-".to_owned(),
        v if v >= 1e6 => format!("{v:.0e}"),
        v if v >= 9.95 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    });
    format!("{evidence} of {needed}")
}

/// Columns kept for an estimate behind a picture, and for the evidence behind its bar.
const ESTIMATE: usize = 10;
const COUNTS: usize = 18;

/// Four lines about one claim: the interval, its axis, and the evidence on both sides; of a share a
/// curve above them.
fn single(run: &RunResult, claim: &ClaimResult, look: Look) -> Vec<Spans> {
    let quantity = Presented::of(claim);
    let sides = if claim.is_question {
        let right = claim.right.as_deref().unwrap_or_default();
        [claim.left.as_str(), right]
            .map(|name| format!("for {}", shorten_middle(&plain(name), look.columns() / 5, look)))
    } else {
        ["for", "against"].map(str::to_owned)
    };
    let labels = padded([vec![pair(&quantity, look)], sides.to_vec()].concat());
    let indent = labels[0].width() + 2;
    let blank = words(" ".repeat(indent));
    let room = (look.columns() - indent - ESTIMATE).min(56);
    let axis = Axis::around(from_ref(&quantity), run.resolution, room);
    let mut lines = Vec::new();
    if quantity.is_share() {
        let share = claim.share.as_ref().filter(|_| quantity.is_known());
        let points = share.map_or(&[][..], |share| &share.density);
        lines.push(vec![blank.clone(), span(Tone::Dim, axis.curve(points, look))]);
    }
    let mut interval = vec![span(Tone::Strong, &labels[0]), words("  ")];
    interval.extend(axis.draw(&quantity, run.resolution, look));
    let [estimate, ..] = quantity.numbers();
    interval.push(span(Tone::Strong, format!("  {}", estimate.unwrap_or_default())));
    lines.push(interval);
    lines.push(vec![blank, span(Tone::Dim, axis.labels(&quantity, &quantity.bars))]);
    let evidence = [claim.evidence.for_claim, claim.evidence.against];
    for (label, evidence) in labels[1..].iter().zip(evidence) {
        let bar = bar(share_of_needed(evidence, claim), room - (COUNTS - ESTIMATE), look);
        let text = format!("  {bar}  {}", of_needed(evidence, claim));
        lines.push(vec![span(Tone::Strong, label), words(text)]);
    }
    lines
}

/// Columns of a bar of evidence.
const EVIDENCE: usize = 12;

/// A line a claim, open ones first, and if there are too many a line about the others.
fn several(run: &RunResult, claims: &[ClaimResult], look: Look) -> Vec<Spans> {
    let mut claims: Vec<&ClaimResult> = claims.iter().collect();
    let rest = shortened(&mut claims, "claim", |claim| is_open(claim));
    let quantities: Vec<_> = claims.iter().map(|claim| Presented::of(claim)).collect();
    let labels = padded(quantities.iter().map(|quantity| pair(quantity, look)).collect());
    let room = look.columns().saturating_sub(labels[0].width() + 20).clamp(8, 50);
    let ratios: Vec<_> = quantities.iter().filter(|one| one.is_ratio()).cloned().collect();
    let mut lines = Vec::new();
    for ((claim, quantity), label) in claims.iter().zip(&quantities).zip(&labels) {
        // The ratios share an axis; everything else has one of its own.
        let shown = if quantity.is_ratio() { &ratios[..] } else { from_ref(quantity) };
        let mut line = vec![span(Tone::Strong, label), words("  ")];
        line.extend(Axis::around(shown, run.resolution, room).draw(quantity, run.resolution, look));
        line.push(words("  "));
        line.push(if is_open(claim) {
            words(bar(share_of_needed(strongest(claim), claim), EVIDENCE, look))
        } else {
            span(tone(claim), verdict_words(claim, look))
        });
        lines.push(line);
    }
    lines.extend(rest);
    lines
}

/// A sign for each claim, and how far the furthest open one has come.
fn signs(claims: &[ClaimResult], look: Look) -> Spans {
    const MOST_SIGNS: usize = 24;
    let mut line = Spans::new();
    for claim in claims.iter().take(MOST_SIGNS) {
        line.push(match claim.verdict {
            Verdict::Holds => span(tone(claim), "+"),
            Verdict::Refuted => span(tone(claim), "-"),
            Verdict::TooClose => span(tone(claim), "~"),
            Verdict::Void => span(tone(claim), "!"),
            Verdict::Undecided => span(Tone::Dim, "."),
        });
    }
    if claims.len() > MOST_SIGNS {
        line.push(span(Tone::Dim, look.pick("\u{2026}", "...")));
    }
    line.push(words(" ".repeat(MOST_SIGNS.saturating_sub(claims.len()).min(8) + 2)));
    let open = claims.iter().filter(|claim| is_open(claim));
    let shares = open.map(|claim| share_of_needed(strongest(claim), claim));
    line.push(match shares.reduce(f64::max) {
        Some(share) => words(bar(share, EVIDENCE, look)),
        None => span(Tone::Dim, "settled"),
    });
    line
}
