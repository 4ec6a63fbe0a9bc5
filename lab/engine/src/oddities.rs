//! Oddities of the samples: sums over a run, reported at its end as warnings.

use tiebreak_core::sample::{Mark, Sample};
use tiebreak_core::warning::Warning;

/// Foreign load below this share of our CPUs' time is not reported.
const FOREIGN_SHARE_MIN: f64 = 0.05;
/// Stolen time below this share is not reported.
const STEAL_SHARE_MIN: f64 = 0.01;

/// Sums over all samples of a run.
#[derive(Clone, Debug, Default)]
pub struct Oddities {
    wall_ns: u64,
    foreign_cpu_ns: u64,
    steal_ns: u64,
    throttled: u64,
    clock_backwards: u64,
    rounds_never_quiet: u64,
    behind_schedule: u64,
}

impl Oddities {
    /// Counts a round, and whether it started although the machine was never quiet.
    pub fn take_round(&mut self, samples: &[Sample]) {
        let not_quiet = samples.iter().any(|sample| sample.marks.has(Mark::NotQuiet));
        self.rounds_never_quiet += u64::from(not_quiet);
        for sample in samples {
            self.wall_ns = self.wall_ns.saturating_add(sample.wall_ns);
            self.foreign_cpu_ns += sample.beside.foreign_cpu_ns.unwrap_or(0);
            self.steal_ns += sample.beside.steal_ns.unwrap_or(0);
            self.throttled += u64::from(sample.marks.has(Mark::Throttled));
            self.behind_schedule += u64::from(sample.marks.has(Mark::BehindSchedule));
            self.clock_backwards += u64::from(sample.marks.has(Mark::ClockBackwards));
        }
    }

    /// Returns the warnings about the run's samples; contestants may use `cpus` CPUs.
    pub fn warnings(&self, cpus: f64) -> Vec<Warning> {
        let time_ns = self.wall_ns.max(1) as f64 * cpus.max(1.0);
        let foreign = self.foreign_cpu_ns as f64 / time_ns;
        let steal = self.steal_ns as f64 / time_ns;
        let (throttled, backwards) = (self.throttled, self.clock_backwards);
        let (rounds, behind) = (self.rounds_never_quiet, self.behind_schedule);
        let possible = [
            (foreign >= FOREIGN_SHARE_MIN, Warning::ForeignLoad { share: foreign }),
            (steal >= STEAL_SHARE_MIN, Warning::Steal { share: steal }),
            (throttled > 0, Warning::Throttled { samples: throttled }),
            (backwards > 0, Warning::ClockBackwards { samples: backwards }),
            (rounds > 0, Warning::NeverQuiet { rounds }),
            (behind > 0, Warning::BehindSchedule { samples: behind }),
        ];
        let seen = possible.into_iter().filter(|(is_seen, _)| *is_seen);
        seen.map(|(_, warning)| warning).collect()
    }
}
