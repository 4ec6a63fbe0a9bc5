//! The search for saturation against virtual servers whose capacity is known.

use std::num::NonZeroU32;
use tiebreak_core::load::Overload;
use tiebreak_core::load::Spacing;
use tiebreak_load::random::{FRACTION_BITS, Words};
use tiebreak_load::saturation::{Saturation, Search, Step, Trial};
use tiebreak_load::schedule::{End, Rate, SECOND_NS, Schedule};

const TRIAL_NS: u64 = 2 * SECOND_NS;
const CAPACITY: u64 = 20_000;

/// What a server does with its capacity.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// It never has less.
    Steady,
    /// It has 12 000 a second while it is asked for more than its capacity.
    Falls,
    /// It has 12 000 a second from then on, until it is started afresh.
    Breaks,
}

/// A server that answers one message after the other. The time for each is exponentially
/// distributed, so that the counts of a second vary as those of independent events do; and in every
/// third trial, on average, it stops once for 10 ms.
struct Server {
    kind: Kind,
    has_broken: bool,
    words: Words,
    trials: u64,
}

impl Server {
    fn new(kind: Kind, seed: u64) -> Server {
        Server { kind, has_broken: false, words: Words::new(seed), trials: 0 }
    }

    fn capacity(&mut self, rate: u64) -> u64 {
        let is_overloaded = rate > CAPACITY;
        self.has_broken |= is_overloaded;
        match self.kind {
            Kind::Falls if is_overloaded => 12_000,
            Kind::Breaks if self.has_broken => 12_000,
            _ => CAPACITY,
        }
    }

    /// Runs a trial of this rate, with sends at random.
    fn trial(&mut self, rate: u64) -> Trial {
        let mean_ns = SECOND_NS / self.capacity(rate);
        self.trials += 1;
        let schedule = Schedule {
            seed: self.words.next_u64(),
            spacing: Spacing::Poisson,
            rate: Rate::per_second(rate).unwrap(),
            connections: NonZeroU32::new(100).unwrap(),
            end: End::Ns(TRIAL_NS),
        };
        // Two of three stops lie after the end.
        let mut stop_ns = Some(self.words.next_u64() % (3 * TRIAL_NS));
        let (mut sent, mut free_ns) = (0, 0u64);
        let mut completed_ns = Vec::new();
        for send in schedule.sends() {
            sent += 1;
            let mut begin_ns = free_ns.max(send.at_ns);
            if stop_ns.is_some_and(|stop_ns| stop_ns <= begin_ns) {
                begin_ns += 10_000_000;
                stop_ns = None;
            }
            free_ns = begin_ns + ((mean_ns * self.words.exponential()) >> FRACTION_BITS);
            if free_ns < TRIAL_NS {
                completed_ns.push(free_ns);
            }
        }
        let completed = completed_ns.len() as u64;
        Trial {
            rate_per_second: rate,
            duration_ns: TRIAL_NS,
            intended: sent,
            sent,
            completed,
            completing_ns: completed_ns.last().map_or(0, |last_ns| last_ns - completed_ns[0]),
            backlog: sent - completed,
        }
    }
}

fn searched(server: &mut Server, start: u64) -> Saturation {
    let mut search = Search::new(start);
    loop {
        match search.step() {
            Step::Try(rate) => search.record(server.trial(rate)),
            Step::Done(saturation) => return saturation,
        }
    }
}

/// Checks that the rate found lies within 5% of this one, in at most so many trials.
#[track_caller]
fn check(found: &Saturation, capacity: u64, trials_max: usize) {
    let within = capacity * 95 / 100..=capacity * 105 / 100;
    let is_found = within.contains(&found.low_per_second)
        && found.high_per_second.is_some_and(|high| within.contains(&high));
    assert!(is_found, "{found:?}");
    assert!(found.trials <= trials_max, "{found:?}");
}

#[test]
fn a_steady_server_is_found_ten_times_of_ten() {
    for seed in 0..10 {
        let below = searched(&mut Server::new(Kind::Steady, seed), 1000);
        let above = searched(&mut Server::new(Kind::Steady, 100 + seed), 80_000);
        check(&below, CAPACITY, 9);
        check(&above, CAPACITY, 6);
        assert_eq!((below.overload, above.overload), (Overload::Holds, Overload::Holds));
    }
}

#[test]
fn a_server_that_falls_and_recovers_is_found_and_named() {
    for seed in 0..3 {
        for start in [1000, 80_000] {
            let found = searched(&mut Server::new(Kind::Falls, seed), start);
            check(&found, CAPACITY, 14);
            let Overload::Falls { to_per_second } = found.overload else { panic!("{found:?}") };
            assert!((11_000..13_000).contains(&to_per_second), "{found:?}");
        }
    }
}

/// From above it was overloaded in the first trial, so nothing shows what it did before. From below
/// that is seen: 16 000 went through before the first overload. It then stays below.
#[test]
fn a_server_that_breaks_is_named_from_below() {
    for seed in 0..3 {
        let above = searched(&mut Server::new(Kind::Breaks, seed), 80_000);
        let below = searched(&mut Server::new(Kind::Breaks, seed), 1000);
        check(&above, 12_000, 8);
        check(&below, 12_000, 14);
        assert_eq!(below.overload, Overload::Fell { from_per_second: 16_000 });
    }
}
