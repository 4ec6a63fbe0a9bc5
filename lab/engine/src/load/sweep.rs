//! A sweep: the highest rate that a server sustains, then loads at shares of it.

use super::{Server, outcome};
use crate::error::LabError;
use tiebreak_core::load::{
    LoadEnd, LoadEnding, LoadPart, MessageCounts, Pace, PaceResult, SaturationResult, Spacing,
};
use tiebreak_load::saturation::{Saturation, Search, Step, Trial};
use tiebreak_load::seen::Account;

/// How long a trial is at most: the time in which a rate is sustained or not.
const TRIAL_NS_MAX: u64 = 2_000_000_000;
/// The loads of a sweep, in percent of the rate that the server sustains.
const PERCENTS: [u64; 4] = [25, 50, 75, 90];

/// What a sweep has found.
#[derive(Default)]
pub(super) struct Swept {
    /// The highest rate that the server sustains; `None` if no rate was tried to the end.
    pub saturation: Option<SaturationResult>,
    /// The loads.
    pub loads: Vec<PaceResult>,
    /// Why it ended before its last load, if that load could not begin or nothing arrived.
    pub failure: Option<LabError>,
}

/// Looks for the highest rate that a server sustains, from a rate on, and loads it at shares of
/// that. If a load is interrupted, or the server breaks a connection or falls silent, that load is
/// the last.
///
/// # Errors
/// Fails if the first load cannot begin.
pub(super) fn sweep(
    server: &mut Server,
    start_per_second: u64,
    spacing: Spacing,
) -> Result<Swept, LabError> {
    let end = server.request.end;
    let trial_ns = match end {
        LoadEnd::DurationNs(ns) => ns.min(TRIAL_NS_MAX),
        LoadEnd::Messages(_) => TRIAL_NS_MAX,
    };
    let copies = server.facts.arrivals_a_message;
    let mut search = Search::new(start_per_second);
    // What was found before a search ends early stays, if there was anything.
    let so_far = |search: &Search| search.so_far().map(|found| result(&found, trial_ns));
    let mut swept = Swept::default();
    let mut trials = 0;
    let saturation = loop {
        let rate_per_second = match search.step() {
            Step::Try(rate_per_second) => rate_per_second,
            Step::Done(saturation) => break saturation,
        };
        trials += 1;
        let pace = Pace::Open { rate_per_second, spacing };
        let end = LoadEnd::DurationNs(trial_ns);
        let seen = match server.observe(pace, end, LoadPart::Trial(trials)) {
            Ok(seen) => seen,
            Err(error) if trials == 1 => return Err(error),
            Err(error) => {
                swept.saturation = so_far(&search);
                return Ok(Swept { failure: Some(error), ..swept });
            }
        };
        let is_refused = trials == 1 && seen.counts.arrived == 0;
        if is_cut_off(&seen) || is_silent(&seen) || is_refused {
            swept.saturation = so_far(&search);
            swept.failure = silence(&seen, rate_per_second);
            swept.loads.push(outcome::of(&seen, pace));
            return Ok(swept);
        }
        search.record(trial(&seen, rate_per_second, trial_ns, copies));
    };
    swept.saturation = Some(result(&saturation, trial_ns));
    for (number, percent) in (1..).zip(PERCENTS) {
        let rate_per_second = saturation.low_per_second * percent / 100;
        if rate_per_second == 0 {
            continue;
        }
        let pace = Pace::Open { rate_per_second, spacing };
        let seen = match server.observe(pace, end, LoadPart::Sweep(number)) {
            Ok(seen) => seen,
            Err(error) => return Ok(Swept { failure: Some(error), ..swept }),
        };
        swept.loads.push(outcome::of(&seen, pace));
        if is_cut_off(&seen) || is_silent(&seen) {
            swept.failure = silence(&seen, rate_per_second);
            break;
        }
    }
    Ok(swept)
}

/// Returns whether a server answers nothing any more: no lower rate will bring it back.
fn is_silent(seen: &Account) -> bool {
    let MessageCounts { sent, arrived, refused, .. } = seen.counts;
    sent > 0 && arrived == 0 && refused == 0
}

/// Returns what to say of a silent server.
fn silence(seen: &Account, rate_per_second: u64) -> Option<LabError> {
    let sent = seen.counts.sent;
    let text = format!("the server answered none of {sent} sent at {rate_per_second} a second");
    (is_silent(seen) && !is_cut_off(seen)).then_some(LabError::Data(text))
}

fn is_cut_off(seen: &Account) -> bool {
    matches!(seen.ending, LoadEnding::Interrupted | LoadEnding::Broken { .. })
}

/// Returns what a load says as a trial. A message has arrived when all its copies have; which are
/// missing is not known, so they are counted together.
fn trial(seen: &Account, rate_per_second: u64, duration_ns: u64, copies: u32) -> Trial {
    let copies = u64::from(copies.max(1));
    let (last_ns, arrived) = seen.times.before_end.unwrap_or((0, 0));
    let first_ns = seen.times.arrivals_ns.map_or(0, |(first_ns, _)| first_ns);
    Trial {
        rate_per_second,
        duration_ns,
        intended: seen.counts.intended,
        sent: seen.counts.sent,
        completed: arrived / copies,
        completing_ns: last_ns.saturating_sub(first_ns),
        // What never came is lost.
        backlog: seen.backlog.saturating_sub(seen.counts.lost).div_ceil(copies),
    }
}

fn result(saturation: &Saturation, trial_ns: u64) -> SaturationResult {
    let Saturation { low_per_second, high_per_second, is_generator_bound, overload, trials } =
        *saturation;
    SaturationResult {
        low_per_second,
        high_per_second,
        is_generator_bound,
        overload,
        trials: trials as u64,
        trial_ns,
    }
}

#[cfg(test)]
mod tests {
    use super::super::outcome::tests::seen;
    use super::*;
    use tiebreak_load::saturation::{Outcome, Shortfall};

    #[test]
    fn a_trial_is_judged_in_messages() {
        let mut seen = seen(&[(10, 10); 1000]);
        (seen.counts.intended, seen.counts.sent) = (500, 500);
        let duration_ns = 1_000_000;
        let trial = trial(&seen, 500_000, duration_ns, 2);
        assert_eq!((trial.completed, trial.completing_ns), (500, 999_000));
        assert_eq!(trial.outcome(), Outcome::Sustained);
    }

    #[test]
    fn what_never_came_is_lost_and_not_late() {
        let mut seen = seen(&[(10, 10); 995]);
        (seen.counts.intended, seen.counts.sent, seen.counts.lost) = (1000, 1000, 5);
        seen.backlog = 5;
        let trial = trial(&seen, 1_000_000, 1_000_000, 1);
        assert_eq!(trial.backlog, 0);
        assert_eq!(trial.outcome(), Outcome::NotSustained(Shortfall::Lost));
    }
}
