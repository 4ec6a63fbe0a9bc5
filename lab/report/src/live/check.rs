//! Progress of a file of claims.

use super::{frame_of, is_open, with_bar};
use crate::look::{Look, Spans};
use crate::number::{count, finite, seconds};
use crate::text::{plain, shorten_middle};
use tiebreak_core::result::{CheckResult, RunResult};

/// The lines of the progress display of a file of claims, at most six, without line feeds. Their
/// number depends on that of the contests only, so that drawing them again in place does not jump.
///
/// First the claims that are settled, time and what is left of it; then a line a contest, those
/// with open claims first: a sign for each claim (`+` holds, `-` refuted, `~` too close, `!` void,
/// `.` open), and how far the open claim that is furthest has come.
pub fn check_frame(check: &CheckResult, look: &Look) -> Vec<String> {
    let runs = check.contests.iter().map(|contest| (contest.name.as_str(), &contest.run));
    let middles = |shown: &[(&str, &RunResult)]| vec!["  ".to_owned(); shown.len()];
    frame_of(status(check, *look), runs.collect(), "contest", middles, *look)
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
    with_bar(plain_status(check), settled as f64 / all as f64, look)
}
