use super::*;
use crate::random::Words;

/// A trial of a second in which all went well, at 1000 messages a second.
const GOOD: Trial = Trial {
    rate_per_second: 1000,
    duration_ns: SECOND_NS,
    intended: 1000,
    sent: 1000,
    completed: 999,
    completing_ns: 998_000_000,
    backlog: 1,
};

#[test]
fn each_rule_has_its_outcome() {
    let not = Outcome::NotSustained;
    for (trial, expected) in [
        (GOOD, Outcome::Sustained),
        // Every answer takes 50 ms, or the last 50 ms have no answer.
        (
            Trial { completed: 950, completing_ns: 949_000_000, backlog: 50, ..GOOD },
            Outcome::Sustained,
        ),
        // Answers come at 980 a second.
        (
            Trial { completed: 980, completing_ns: 999_000_000, backlog: 20, ..GOOD },
            not(Shortfall::Pace),
        ),
        (
            Trial { sent: 0, completed: 0, completing_ns: 0, backlog: 0, ..GOOD },
            not(Shortfall::Pace),
        ),
        // The server stopped half-way, or never answered.
        (
            Trial { completed: 500, completing_ns: 499_000_000, backlog: 500, ..GOOD },
            not(Shortfall::Backlog),
        ),
        (Trial { completed: 0, completing_ns: 0, backlog: 1000, ..GOOD }, not(Shortfall::Backlog)),
        (Trial { completed: 998, completing_ns: 998_000_000, ..GOOD }, Outcome::Sustained),
        (Trial { completed: 997, completing_ns: 998_000_000, ..GOOD }, not(Shortfall::Lost)),
        (Trial { intended: 1010, ..GOOD }, Outcome::Sustained),
        (Trial { intended: 1011, ..GOOD }, Outcome::GeneratorBound),
        // One message of one.
        (
            Trial { sent: 1, completed: 1, completing_ns: 0, backlog: 0, intended: 1, ..GOOD },
            Outcome::Sustained,
        ),
        // Numbers that no trial has, but that must not stop a program.
        (Trial { duration_ns: 0, ..GOOD }, not(Shortfall::Pace)),
        (
            Trial { completed: u64::MAX, completing_ns: u64::MAX, duration_ns: u64::MAX, ..GOOD },
            Outcome::Sustained,
        ),
    ] {
        assert_eq!(trial.outcome(), expected, "{trial:?}");
    }
    assert_eq!(GOOD.pace_per_second(), 1000);
}

/// A trial with this pace of answers, of 10 000 messages a second or less.
fn trial(rate_per_second: u64, pace_per_second: u64) -> Trial {
    let pace = pace_per_second.min(rate_per_second);
    Trial {
        rate_per_second,
        intended: rate_per_second,
        sent: rate_per_second,
        completed: pace + 1,
        completing_ns: SECOND_NS,
        backlog: rate_per_second.saturating_sub(pace + 1),
        ..GOOD
    }
}

/// Runs a search to its end. `run` is given a rate and the number of trials before. Returns the
/// rates that were tried, and the result.
fn run_search(
    mut search: Search,
    mut run: impl FnMut(u64, usize) -> Trial,
) -> (Vec<u64>, Saturation) {
    let mut rates = Vec::new();
    loop {
        match search.step() {
            Step::Try(rate) => {
                search.record(run(rate, rates.len()));
                rates.push(rate);
                assert!(rates.len() < 200, "no end: {search:?}");
            }
            Step::Done(saturation) => return (rates, saturation),
        }
    }
}

/// Runs a search against a server that answers trial `n` at pace `n` of these, and every further
/// one at the last pace.
fn searched(start: u64, paces: &[u64]) -> (Vec<u64>, Saturation) {
    let search = Search::new(start);
    run_search(search, |rate, before| trial(rate, paces[before.min(paces.len() - 1)]))
}

#[track_caller]
fn check(start: u64, paces: &[u64], rates: &[u64], low: u64, high: u64, overload: Overload) {
    let (tried, found) = searched(start, paces);
    assert_eq!(tried, rates);
    let expected = Saturation {
        low_per_second: low,
        high_per_second: Some(high),
        is_generator_bound: false,
        overload,
        trials: rates.len(),
    };
    assert_eq!(found, expected);
}

#[test]
fn a_steady_server_takes_few_trials() {
    let holds = Overload::Holds;
    check(40_000, &[20_000], &[40_000, 19_500, 20_500], 19_500, 20_500, holds);
    let rates = [1000, 4000, 16_000, 64_000, 19_500, 20_500];
    check(1000, &[20_000], &rates, 19_500, 20_500, holds);
    check(20_500, &[20_000], &[20_500, 19_500, 20_500], 19_500, 20_500, holds);
    check(19_500, &[20_000], &[19_500, 78_000, 20_500], 19_500, 20_500, holds);
}

#[test]
fn one_disturbed_trial_changes_nothing() {
    let (ok, holds) = (20_000, Overload::Holds);
    // Below the capacity: tried again, then once more.
    let rates = [40_000, 19_500, 19_500, 19_500, 20_500];
    check(40_000, &[ok, 15_000, ok], &rates, 19_500, 20_500, holds);
    // So little that its own pace explains it: the only failure is tried again.
    let rates = [1000, 4000, 3822, 4000, 4000, 16_000, 64_000, 19_500, 20_500];
    check(1000, &[ok, 3920, ok], &rates, 19_500, 20_500, holds);
    // By luck above it: the fall that this would be is tried again at both ends.
    let rates = [40_000, 19_500, 20_500, 40_000, 20_500, 20_500];
    check(40_000, &[ok, ok, 30_000, ok], &rates, 19_500, 20_500, holds);
    // Far below, in the first trial that should have been sustained.
    let (_, found) = searched(40_000, &[10_000, ok]);
    assert!((19_000..=20_000).contains(&found.low_per_second), "{found:?}");
    assert!(found.high_per_second.is_some_and(|high| (20_000..=21_000).contains(&high)));
    assert_eq!(found.overload, holds);
}

#[test]
fn a_disturbance_of_any_kind_is_tried_again() {
    for disturb in [
        (|trial: &mut Trial| trial.sent = trial.intended / 2) as fn(&mut Trial),
        |trial| trial.completed -= trial.completed / 200,
        |trial| {
            trial.completed /= 2;
            trial.completing_ns /= 2;
            trial.backlog = trial.sent - trial.completed;
        },
    ] {
        let search = Search::new(1000);
        let (rates, found) = run_search(search, |rate, before| {
            let mut trial = trial(rate, 20_000);
            if before == 1 {
                disturb(&mut trial);
            }
            trial
        });
        assert_eq!(rates[1..4], [4000; 3]);
        assert_eq!((found.low_per_second, found.high_per_second), (19_500, Some(20_500)));
    }
}

#[test]
fn the_ends_of_all_rates() {
    // Sustains everything.
    let (rates, found) = searched(1_000_000, &[u64::MAX]);
    assert_eq!(rates, [1_000_000, 4_000_000, RATE_PER_SECOND_MAX]);
    assert_eq!((found.low_per_second, found.high_per_second), (RATE_PER_SECOND_MAX, None));
    assert_eq!(found.overload, Overload::Unknown);
    // Sustains nothing.
    let (rates, found) = searched(1000, &[0]);
    assert_eq!((found.low_per_second, found.high_per_second), (0, Some(1)));
    assert!(rates.len() < 15, "{rates:?}");
    assert_eq!(Search::new(0).step(), Step::Try(1));
    assert_eq!(Search::new(u64::MAX).step(), Step::Try(RATE_PER_SECOND_MAX));
}

#[test]
fn a_slow_generator_ends_the_search() {
    let (rates, found) = run_search(Search::new(1000), |rate, _| {
        let sent = rate.min(5000);
        Trial { rate_per_second: rate, intended: rate, ..trial(sent, sent) }
    });
    assert_eq!(rates, [1000, 4000, 16_000, 16_000]);
    assert!(found.is_generator_bound);
    assert_eq!((found.low_per_second, found.high_per_second), (5000, None));
}

/// Whatever a server does, a search ends, and its interval is in order.
#[test]
fn a_search_ends_whatever_the_server_does() {
    let mut longest = 0;
    for seed in 0..300 {
        let mut words = Words::new(seed);
        let search = Search::new(1 + words.next_u64() % 100_000);
        let (rates, found) =
            run_search(search, |rate, _| trial(rate, words.next_u64() % (2 * rate)));
        let high = found.high_per_second;
        assert!(high.is_none_or(|high| found.low_per_second < high), "{found:?}");
        for rate in &rates {
            assert!(rates.iter().filter(|other| *other == rate).count() <= 3, "{rates:?}");
        }
        longest = longest.max(rates.len());
    }
    assert!(longest > 10, "{longest}");
}
