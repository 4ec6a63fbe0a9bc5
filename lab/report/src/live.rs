//! Progress: a few lines while a run is going on, drawn only between samples.

use crate::contestants::short_name;
use crate::effects::{pair, verdict_words};
use crate::look::{Look, Span, Spans, Tone, columns_of, letters, paint, span, words};
use crate::number::{count, finite, seconds};
use crate::picture::Axis;
use crate::presented::Presented;
use crate::property::trial_noun;
use crate::sentence::{observation_noun, tone};
use crate::text::{padded, plain, shorten_middle};
use tiebreak_core::result::{CheckResult, ClaimResult, RunResult, StudyResult};
use tiebreak_core::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

/// The most claims, contests or workloads that have a line each.
const MOST_CLAIMS: usize = 5;

/// The lines of the progress display, at most six, without line feeds. Their number depends on the
/// number of claims only, so that drawing them again in place does not jump.
///
/// First rounds, time and what is left of it; then of a single claim its interval on an axis (of a
/// share, under the curve of plausible rates) and what the bets for and against it have won, on a
/// logarithmic scale up to what they need; of several claims a line each, the open ones first.
pub fn frame(run: &RunResult, look: &Look) -> Vec<String> {
    let look = *look;
    let mut lines = vec![status(run, look)];
    match (run.verdicts.as_slice(), &run.self_check) {
        (_, Some(_)) | ([], None) => {}
        ([claim], None) => lines.extend(single(run, claim, look)),
        (claims, None) => lines.extend(several(run, claims, look)),
    }
    lines.into_iter().map(|line| fitted(&line, look)).collect()
}

/// One plain line of progress, for pipes and dumb terminals, without a line feed and styles: the
/// status, and as much of the limits and the evidence as fits.
pub fn line(run: &RunResult, look: &Look) -> String {
    let look = Look { color: false, ..*look };
    let mut parts = Vec::new();
    match (run.verdicts.as_slice(), &run.self_check) {
        (_, Some(_)) | ([], None) => {}
        ([claim], None) => {
            let quantity = Presented::of(claim);
            let most = claim.evidence.for_claim.max(claim.evidence.against);
            parts.push(format!("{} {}", pair(&quantity, look), quantity.limits()));
            parts.push(format!("evidence {}", of_needed(most, claim)));
        }
        (claims, None) => {
            let settled = claims.iter().filter(|claim| !is_open(claim)).count();
            let all = count(claims.len() as u64, "claim");
            parts.push(format!("{settled} of {all} settled"));
        }
    }
    let mut text = format!("tiebreak: {}", plain_status(run));
    for part in parts {
        if text.width() + 2 + part.width() <= look.columns() {
            text += &format!("; {part}");
        }
    }
    shorten_middle(&text, look.columns(), look)
}

/// Draws a frame about several runs, each with its name: the status, a line a run, those with
/// something open first, and of too many a last line about the others. `middles` gives what stands
/// between the names and the signs of the claims.
fn frame_of(
    status: Spans,
    mut runs: Vec<(&str, &RunResult)>,
    noun: &str,
    middles: fn(&[(&str, &RunResult)]) -> Vec<String>,
    look: Look,
) -> Vec<String> {
    let has_open = |(_, run): &(&str, &RunResult)| run.verdicts.iter().any(is_open);
    runs.sort_by_key(|run| !has_open(run));
    let has_more = runs.len() > MOST_CLAIMS;
    let shown = &runs[..if has_more { MOST_CLAIMS - 1 } else { runs.len() }];
    let names = padded(shown.iter().map(|(name, _)| short_name(name, look)).collect());
    let mut lines = vec![status];
    for ((name, middle), (_, run)) in names.into_iter().zip(middles(shown)).zip(shown) {
        let mut line = vec![span(Tone::Strong, name), words(middle)];
        line.extend(signs(&run.verdicts, look));
        lines.push(line);
    }
    if has_more {
        let open = runs.iter().filter(|run| has_open(run)).count();
        let text = format!("{}, {open} open", count(runs.len() as u64, noun));
        lines.push(vec![span(Tone::Dim, text)]);
    }
    lines.into_iter().map(|line| fitted(&line, look)).collect()
}

/// Paints a line, cut to the width of the screen.
fn fitted(line: &[Span], look: Look) -> String {
    if columns_of(line) <= look.columns() {
        return paint(line, look);
    }
    shorten_middle(letters(line).trim_end(), look.columns(), look)
}

fn is_open(claim: &ClaimResult) -> bool {
    claim.verdict == Verdict::Undecided
}

/// `round 12, 1.9 s of 60 s, about 8 s left`.
fn plain_status(run: &RunResult) -> String {
    let noun = round_noun(run);
    let rounds = match run.budget.rounds {
        Some(most) => format!("{noun} {} of {most}", run.rounds),
        None => format!("{noun} {}", run.rounds),
    };
    let time = match finite(run.budget.seconds) {
        Some(most) => format!("{} of {}", seconds(run.seconds), seconds(most)),
        None => seconds(run.seconds),
    };
    match finite(run.eta_seconds) {
        Some(left) => format!("{rounds}, {time}, about {} left", seconds(left)),
        None => format!("{rounds}, {time}"),
    }
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

/// Returns the first line: the status and the used part of the budget.
fn status(run: &RunResult, look: Look) -> Spans {
    let by_time = finite(run.budget.seconds).map(|most| run.seconds / most);
    let by_rounds = run.budget.rounds.map(|most| run.rounds as f64 / most as f64);
    let used = by_time.unwrap_or(0.0).max(by_rounds.unwrap_or(0.0));
    with_bar(plain_status(run), used, look)
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

/// Returns the progress of evidence from 0 to 1 by its logarithm: bets multiply, so each round
/// adds.
fn share_of_needed(evidence: f64, needed: f64) -> f64 {
    evidence.max(1.0).ln() / needed.max(1.0 + 1e-9).ln()
}

/// `131 of 200`.
fn of_needed(evidence: f64, claim: &ClaimResult) -> String {
    let size = |value: f64| match value {
        v if v.is_nan() => "-".to_owned(),
        v if v >= 1e6 => format!("{v:.0e}"),
        v if v >= 9.95 => format!("{v:.0}"),
        v => format!("{v:.1}"),
    };
    format!("{} of {}", size(evidence), size(claim.evidence.needed))
}

/// Columns kept for an estimate behind a picture, and for the evidence behind its bar.
const ESTIMATE: usize = 10;
const COUNTS: usize = 18;

/// Four lines about one claim: the interval, its axis, and the evidence on both sides; of a share a
/// curve above them.
fn single(run: &RunResult, claim: &ClaimResult, look: Look) -> Vec<Spans> {
    let quantity = Presented::of(claim);
    let name = |text: &str| shorten_middle(&plain(text), look.columns() / 5, look);
    let sides = if claim.is_question {
        let right = claim.right.as_deref().unwrap_or_default();
        [format!("for {}", name(&claim.left)), format!("for {}", name(right))]
    } else {
        ["for".to_owned(), "against".to_owned()]
    };
    let labels = padded([vec![pair(&quantity, look)], sides.to_vec()].concat());
    let indent = labels[0].width() + 2;
    let room = (look.columns() - indent - ESTIMATE).min(56);
    let axis = Axis::around(std::slice::from_ref(&quantity), run.resolution, room);
    let mut interval = vec![span(Tone::Strong, &labels[0]), words("  ")];
    interval.extend(axis.draw(&quantity, run.resolution, look));
    let [estimate, ..] = quantity.numbers();
    let estimate = format!("  {}", estimate.unwrap_or_default());
    interval.push(span(Tone::Strong, estimate));
    let below = |text: String| vec![span(Tone::Dim, format!("{}{text}", " ".repeat(indent)))];
    let mut lines = Vec::new();
    if quantity.is_share() {
        let share = claim.share.as_ref().filter(|_| quantity.is_known());
        let points = share.map_or(&[][..], |share| &share.density);
        lines.push(below(axis.curve(points, look)));
    }
    lines.extend([interval, below(axis.labels(&quantity, &quantity.bars))]);
    for (label, evidence) in
        labels[1..].iter().zip([claim.evidence.for_claim, claim.evidence.against])
    {
        let share = share_of_needed(evidence, claim.evidence.needed);
        lines.push(vec![
            span(Tone::Strong, label),
            words(format!("  {}", bar(share, room - (COUNTS - ESTIMATE), look))),
            words(format!("  {}", of_needed(evidence, claim))),
        ]);
    }
    lines
}

/// A line a claim, open ones first, and if there are too many a line about the others.
fn several(run: &RunResult, claims: &[ClaimResult], look: Look) -> Vec<Spans> {
    let mut order: Vec<&ClaimResult> = claims.iter().collect();
    order.sort_by_key(|claim| !is_open(claim));
    let shown = if claims.len() > MOST_CLAIMS { MOST_CLAIMS - 1 } else { claims.len() };
    let quantity: Vec<_> = order.iter().take(shown).map(|claim| Presented::of(claim)).collect();
    let labels = padded(quantity.iter().map(|quantity| pair(quantity, look)).collect());
    let evidence_room = 12;
    let taken = labels[0].width() + 2 + 2 + evidence_room.max(16);
    let room = look.columns().saturating_sub(taken).clamp(8, 50);
    let ratios: Vec<_> = quantity.iter().filter(|quantity| quantity.is_ratio()).cloned().collect();
    let mut lines = Vec::new();
    for ((claim, quantity), label) in order.iter().zip(&quantity).zip(&labels) {
        // The ratios share an axis; everything else has one of its own.
        let shown = if quantity.is_ratio() { &ratios[..] } else { std::slice::from_ref(quantity) };
        let axis = Axis::around(shown, run.resolution, room);
        let mut line = vec![span(Tone::Strong, label), words("  ")];
        line.extend(axis.draw(quantity, run.resolution, look));
        let most = claim.evidence.for_claim.max(claim.evidence.against);
        let share = share_of_needed(most, claim.evidence.needed);
        line.push(words("  "));
        line.push(if is_open(claim) {
            words(bar(share, evidence_room, look))
        } else {
            span(tone(claim), verdict_words(claim, look))
        });
        lines.push(line);
    }
    if shown < claims.len() {
        let open = claims.iter().filter(|claim| is_open(claim)).count();
        let text = format!("{} claims, {} open", claims.len(), open);
        lines.push(vec![span(Tone::Dim, text)]);
    }
    lines
}

/// A sign for each claim, and how far the furthest open one has come.
fn signs(claims: &[ClaimResult], look: Look) -> Spans {
    const MOST_SIGNS: usize = 24;
    let mut line = Spans::new();
    for claim in claims.iter().take(MOST_SIGNS) {
        let tone = if is_open(claim) { Tone::Dim } else { tone(claim) };
        line.push(span(tone, sign(claim)));
    }
    if claims.len() > MOST_SIGNS {
        line.push(span(Tone::Dim, look.pick("\u{2026}", "...")));
    }
    let taken = claims.len().min(MOST_SIGNS);
    line.push(words(" ".repeat((MOST_SIGNS - taken).min(8) + 2)));
    let furthest = |claim: &ClaimResult| {
        let most = claim.evidence.for_claim.max(claim.evidence.against);
        share_of_needed(most, claim.evidence.needed)
    };
    match claims.iter().filter(|claim| is_open(claim)).map(furthest).reduce(f64::max) {
        Some(share) => line.push(words(bar(share, 12, look))),
        None => line.push(span(Tone::Dim, "settled")),
    }
    line
}

fn sign(claim: &ClaimResult) -> &'static str {
    match claim.verdict {
        Verdict::Holds => "+",
        Verdict::Refuted => "-",
        Verdict::TooClose => "~",
        Verdict::Void => "!",
        Verdict::Undecided => ".",
    }
}

/// The lines of the progress display of a file of claims, at most six, without line feeds. Their
/// number depends on that of the contests only, so that drawing them again in place does not jump.
///
/// First the claims that are settled, time and what is left of it; then a line a contest, those
/// with open claims first: a sign for each claim (`+` holds, `-` refuted, `~` too close, `!` void,
/// `.` open), and how far the open claim that is furthest has come.
pub fn check_frame(check: &CheckResult, look: &Look) -> Vec<String> {
    let runs = check.contests.iter().map(|contest| (contest.name.as_str(), &contest.run));
    let middles = |shown: &[(&str, &RunResult)]| vec!["  ".to_owned(); shown.len()];
    frame_of(check_status_line(check, *look), runs.collect(), "contest", middles, *look)
}

/// One plain line of progress of a file of claims, without a line feed and styles.
pub fn check_line(check: &CheckResult, look: &Look) -> String {
    let text = format!("tiebreak: {}: {}", plain(&check.file), check_status(check));
    shorten_middle(&text, look.columns(), *look)
}

/// `3 of 9 claims settled, 12 s of 60 s, at most 48 s left`.
fn check_status(check: &CheckResult) -> String {
    let all = check.claims().count();
    let settled = check.claims().filter(|(.., claim)| !is_open(claim)).count();
    let claims = format!("{settled} of {} settled", count(all as u64, "claim"));
    match finite(check.budget.seconds) {
        Some(most) => {
            let left = seconds((most - check.seconds).max(0.0));
            let used = seconds(check.seconds);
            format!("{claims}, {used} of {}, at most {left} left", seconds(most))
        }
        None => format!("{claims}, {}", seconds(check.seconds)),
    }
}

fn check_status_line(check: &CheckResult, look: Look) -> Spans {
    let all = check.claims().count().max(1);
    let settled = check.claims().filter(|(.., claim)| !is_open(claim)).count();
    with_bar(check_status(check), settled as f64 / all as f64, look)
}

/// The lines of the progress display of a study, at most six, without line feeds. Their number
/// depends on that of the workloads only, so that drawing them again in place does not jump.
///
/// First what is settled and what is left of the budget, with a bar of what is used; then a line a
/// workload, those with something open first: units done, a sign for each claim and for each ratio
/// of its table (`+` settled, `-` refuted, `~` too close, `!` void, `.` open), and how far the one
/// that is furthest has come.
pub fn study_frame(study: &StudyResult, look: &Look) -> Vec<String> {
    let runs = study.runs.iter().map(|run| (workload_name(run), run));
    let units = |shown: &[(&str, &RunResult)]| {
        let units = shown.iter().map(|(_, run)| count(run.rounds, observation_noun(run)));
        let units = padded(units.map(|text| format!("{text:>10}")).collect());
        units.into_iter().map(|text| format!("  {text}  ")).collect()
    };
    frame_of(study_status_line(study, *look), runs.collect(), "workload", units, *look)
}

/// One plain line of progress of a study, without a line feed and styles.
pub fn study_line(study: &StudyResult, look: &Look) -> String {
    let text = format!("tiebreak: {}: {}", plain(&study.study), study_status(study));
    shorten_middle(&text, look.columns(), *look)
}

fn workload_name(run: &RunResult) -> &str {
    run.study.as_ref().map_or("", |study| &study.workload.name)
}

/// `12 of 24 ratios and 3 of 9 claims settled, 12 s of 60 s`.
fn study_status(study: &StudyResult) -> String {
    let settled = |is_ratio: bool| {
        let all = study.runs.iter().flat_map(|run| &run.verdicts);
        let all: Vec<&ClaimResult> =
            all.filter(|claim| claim.statement.is_measure() == is_ratio).collect();
        let settled = all.iter().filter(|claim| !is_open(claim)).count();
        let noun = if is_ratio { "ratio" } else { "claim" };
        let text = format!("{settled} of {}", count(all.len() as u64, noun));
        (!all.is_empty()).then_some(text)
    };
    let parts: Vec<String> = [settled(true), settled(false)].into_iter().flatten().collect();
    let used = seconds(study.seconds);
    let time = match finite(study.budget.seconds) {
        Some(most) => format!("{used} of {}", seconds(most)),
        None => used,
    };
    match parts.as_slice() {
        [] => time,
        parts => format!("{} settled, {time}", parts.join(" and ")),
    }
}

/// Returns the status and the used part of the budget.
fn study_status_line(study: &StudyResult, look: Look) -> Spans {
    let used = finite(study.budget.seconds).map_or(0.0, |most| study.seconds / most);
    with_bar(study_status(study), used, look)
}
