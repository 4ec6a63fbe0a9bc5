//! Functions of known ratio next to busy processes, in virtual time: with equally many calls a
//! batch their intervals miss the ratio, with batches that last equally long they cover it.

use crate::studies::pilot::even_calls;
use tiebreak_core::claim::Relation;
use tiebreak_core::plan::{Adjust, Centre};
use tiebreak_core::sample::Reading;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::decide::SequentialTest;
use tiebreak_stats::observation::{LogRatio, Sum, log};
use tiebreak_stats::ratio_test::RatioTest;
use tiebreak_stats::unit;

const ERROR: f64 = 0.05;
const RACES: u64 = 60;
const UNITS: u32 = 40;
const ROUNDS: u32 = 4;
/// More than this many of 60 races at an error of 5% miss with a probability below one in a
/// million.
const MISSES_MAX: u64 = 13;

/// The other processes on the two CPUs.
#[derive(Clone, Copy, Debug)]
struct Neighbours {
    processes: u32,
    in_bursts: bool,
}

/// One CPU that a worker shares with its neighbours: it runs for a while, then they do.
struct Cpu {
    neighbours: Neighbours,
    noise: Stream,
    left_ns: f64,
}

impl Cpu {
    /// Returns the wall time of work that takes this long alone.
    fn wall_ns(&mut self, work_ns: f64) -> f64 {
        let mut wall_ns = work_ns * (1.0 + 0.002 * self.noise.normal());
        let mut work_ns = wall_ns;
        while work_ns > self.left_ns && self.neighbours.processes > 0 {
            work_ns -= self.left_ns;
            let each = f64::from(self.neighbours.processes) / 2.0;
            let (ran, pause) = if self.neighbours.in_bursts {
                (6e6 * self.noise.unit(), 20e6 * self.noise.unit() * each)
            } else {
                (3e6, 3e6 * each)
            };
            self.left_ns = ran;
            wall_ns += pause;
        }
        self.left_ns -= work_ns;
        wall_ns
    }

    /// Returns the log ratio of a unit of two functions.
    fn unit(&mut self, call_ns: [f64; 2], calls: [u64; 2]) -> LogRatio {
        let mut rounds = Vec::new();
        for _ in 0..ROUNDS {
            let mut walls = [0.0; 2];
            let order = if self.noise.sign() > 0.0 { [0, 1] } else { [1, 0] };
            for one in order {
                self.wall_ns(call_ns[one]);
                walls[one] = self.wall_ns(call_ns[one] * calls[one] as f64).round();
            }
            let sum = |one: usize| Sum {
                reading: Reading::exact(walls[one]),
                step: 1.0,
                parts: calls[one],
            };
            rounds.push(LogRatio::between_sums(sum(0), sum(1), 0.01));
        }
        unit::summarise(&rounds)
    }
}

/// Returns how many of the races end with an interval that does not cover the ratio.
fn misses(neighbours: Neighbours, call_ns: [f64; 2], calls: [u64; 2]) -> u64 {
    let race = |race: &u64| {
        let seed = Seed::from_text(&format!("{neighbours:?} {call_ns:?}"));
        let noise = Stream::new(seed, Purpose::Simulation, *race, 0);
        let mut cpu = Cpu { neighbours, noise, left_ns: 0.0 };
        let measure = Relation::Measure { precision: 1e-9 };
        let mut test = RatioTest::new(measure, Centre::Median, ERROR, 0.01, Adjust::NONE);
        for _ in 0..UNITS {
            test.observe(cpu.unit(call_ns, calls), &Conditions::UNKNOWN);
        }
        let limits = test.limits();
        let truth = log(call_ns[1]) - log(call_ns[0]);
        limits.low.is_some_and(|low| low > truth) || limits.high.is_some_and(|high| high < truth)
    };
    (0..RACES).filter(race).count() as u64
}

#[test]
fn load_makes_no_ratio_of_functions_false() {
    let (mut all, mut races) = (0, 0);
    for ratio in [1.02, 1.3, 5.0, 34.0] {
        let call_ns = [130e3, 130e3 * ratio];
        let even = even_calls(&call_ns, 52.5e3, 5e6);
        for processes in [0, 2, 8, 20] {
            for in_bursts in [false, true] {
                let neighbours = Neighbours { processes, in_bursts };
                let missed = misses(neighbours, call_ns, [even[0], even[1]]);
                assert!(missed <= MISSES_MAX, "{ratio} beside {neighbours:?}: {missed}");
                (all, races) = (all + missed, races + RACES);
            }
        }
    }
    println!("{all} of {races} intervals miss the ratio");
    assert!(all as f64 <= ERROR * races as f64, "{all} of {races}");
    // The reason for equal lengths: with one call of each a batch, only the slow one is
    // interrupted.
    let busy = Neighbours { processes: 8, in_bursts: true };
    assert!(misses(busy, [130e3, 34.0 * 130e3], [1, 1]) > RACES / 2);
}
