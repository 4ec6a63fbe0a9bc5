//! The results of many simulated runs.

use super::scenario::SimulatedRun;
use tiebreak_core::forecast::Says;
use tiebreak_core::verdict::Verdict;

/// Counts of simulated runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// The maximum number of rounds of a run whose verdict counts.
    budget: Option<u64>,
    runs: u64,
    ended: u64,
    /// The numbers of rounds after which runs ended, sorted.
    ended_after: Vec<u64>,
    holds: u64,
    refuted: u64,
    too_close: u64,
}

impl Tally {
    /// Starts without runs. With a budget, later verdicts count as none.
    pub fn new(budget: Option<u64>) -> Tally {
        Tally { budget, ..Tally::default() }
    }

    /// Adds a run, and returns whether it ended within the budget.
    pub fn add(&mut self, run: SimulatedRun) -> bool {
        self.runs += 1;
        let Some(rounds) = run.rounds else {
            return false;
        };
        let at = self.ended_after.partition_point(|other| *other <= rounds);
        self.ended_after.insert(at, rounds);
        let in_time = self.budget.is_none_or(|budget| rounds <= budget);
        if in_time {
            self.ended += 1;
            match run.verdict {
                Verdict::Holds => self.holds += 1,
                Verdict::Refuted => self.refuted += 1,
                Verdict::TooClose => self.too_close += 1,
                Verdict::Undecided | Verdict::Void => {}
            }
        }
        in_time
    }

    /// Returns the number of runs so far.
    pub fn runs(&self) -> u64 {
        self.runs
    }

    /// Returns the number of runs that ended within the budget.
    pub fn ended(&self) -> u64 {
        self.ended
    }

    /// Returns the rounds after which at least this share of the runs had ended; `None` if fewer
    /// ever did.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = libm::ceil(share * self.runs as f64) as usize;
        self.ended_after.get(rank.max(1) - 1).copied()
    }

    /// Returns the share of runs that had ended after `rounds` rounds; 0 without runs.
    pub fn ended_by(&self, rounds: u64) -> f64 {
        let ended = self.ended_after.partition_point(|other| *other <= rounds);
        ended as f64 / self.runs.max(1) as f64
    }

    /// Returns the shares of runs by their verdict within the budget.
    pub fn says(&self) -> Says {
        let share = |count: u64| count as f64 / self.runs.max(1) as f64;
        let decided = self.holds + self.refuted + self.too_close;
        Says {
            holds: share(self.holds),
            refuted: share(self.refuted),
            too_close: share(self.too_close),
            undecided: share(self.runs - decided),
        }
    }
}
