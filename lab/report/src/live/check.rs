//! Progress of a file of claims.

use super::{bar, is_open, share_of_needed};
use crate::contestants::short_name;
use crate::effects::padded;
use crate::look::{Look, Spans, Tone, span};
use crate::number::{count, finite, seconds};
use crate::sentence::tone;
use crate::text::{fitted, plain, shorten_middle};
use tiebreak_core::result::{CheckResult, ClaimResult, ContestResult};
use tiebreak_core::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

/// The most contests that have a line each.
const MOST_CONTESTS: usize = 5;

/// The lines of the progress display of a file of claims, at most six, without line feeds. Their
/// number depends on that of the contests only, so that drawing them again in place does not jump.
///
/// First the claims that are settled, time and what is left of it; then a line a contest, those
/// with open claims first: a sign for each claim (`+` holds, `-` refuted, `~` too close, `!` void,
/// `.` open), and how far the open claim that is furthest has come.
pub fn check_frame(check: &CheckResult, look: &Look) -> Vec<String> {
    let look = *look;
    let mut lines = vec![status(check, look)];
    let mut order: Vec<&ContestResult> = check.contests.iter().collect();
    order.sort_by_key(|contest| !contest.run.verdicts.iter().any(is_open));
    let has_more = order.len() > MOST_CONTESTS;
    let shown = if has_more { MOST_CONTESTS - 1 } else { order.len() };
    let names = order.iter().take(shown).map(|contest| short_name(&contest.name, look));
    for (name, contest) in padded(names.collect()).into_iter().zip(&order) {
        lines.push(progress(&name, contest, look));
    }
    if has_more {
        let open = order.iter().filter(|one| one.run.verdicts.iter().any(is_open)).count();
        let text = format!("{}, {open} open", count(order.len() as u64, "contest"));
        lines.push(vec![span(Tone::Dim, text)]);
    }
    lines.into_iter().map(|line| fitted(&line, look.columns(), look)).collect()
}

/// One plain line of progress of a file of claims, without a line feed and styles.
pub fn check_line(check: &CheckResult, look: &Look) -> String {
    let text = format!("tiebreak: {}: {}", plain(&check.file), plain_status(check));
    shorten_middle(&text, look.columns(), *look)
}

/// `3 of 9 claims settled, 12 s of 60 s, at most 48 s left`.
fn plain_status(check: &CheckResult) -> String {
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

fn status(check: &CheckResult, look: Look) -> Spans {
    let all = check.claims().count().max(1);
    let settled = check.claims().filter(|(.., claim)| !is_open(claim)).count();
    let text = plain_status(check);
    let room = look.columns().saturating_sub(text.width() + 2).min(20);
    let bar = bar(settled as f64 / all as f64, room, look);
    vec![span(Tone::Plain, text), span(Tone::Plain, "  "), span(Tone::Dim, bar)]
}

/// A contest: its name, a sign for each claim, and how far the furthest open one has come.
fn progress(name: &str, contest: &ContestResult, look: Look) -> Spans {
    let mut line = vec![span(Tone::Strong, name), span(Tone::Plain, "  ")];
    line.extend(signs(&contest.run.verdicts, look));
    line
}

/// A sign for each claim, and how far the furthest open one has come.
pub(super) fn signs(claims: &[ClaimResult], look: Look) -> Spans {
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
    line.push(span(Tone::Plain, " ".repeat((MOST_SIGNS - taken).min(8) + 2)));
    let furthest = |claim: &ClaimResult| {
        let most = claim.evidence.for_claim.max(claim.evidence.against);
        share_of_needed(most, claim.evidence.needed)
    };
    match claims.iter().filter(|claim| is_open(claim)).map(furthest).reduce(f64::max) {
        Some(share) => line.push(span(Tone::Plain, bar(share, 12, look))),
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
