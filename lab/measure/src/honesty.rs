//! Rules for contestants of every kind, libraries and runners: trials and resets.
//!
//! A trial checks the whole answer of a timed batch. In a unit one contestant is on trial, in a
//! batch that is drawn, so that no contestant knows when it is.

use std::collections::HashMap;
use tiebreak_abi::Random;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::verdict::Fault;

/// Trials may take one part in this many of the units' time, apart from the first of them.
const SHARE: u64 = 10;

/// A reset may take as long as the run, plus this many times the shortest reset of the unit. What
/// all contestants have to put back belongs to the task and is not a place to hide work.
const RESETS: u64 = 10;
/// By how many times what is allowed units may exceed it in sum, and how much of that a single unit
/// can be: the system may interrupt anything for longer than it takes.
const EXCESS: f64 = 10.0;
const EXCESS_OF_UNIT: f64 = 2.0;
/// How much of it a unit below what is allowed takes off at most: what is above in a fifth of all
/// units or more is found in the end.
const CREDIT_OF_UNIT: f64 = 0.5;
/// The share of the time of others that a contestant's own threads may be on a CPU: they may still
/// be going to sleep.
const BURNT: f64 = 0.25;

/// A batch on trial.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Turn {
    /// The contestant, by its index in the plan.
    pub(crate) contestant: usize,
    /// The batch's index among the batches of the request.
    pub(crate) batch: usize,
    /// The seed of what else the trial needs.
    pub(crate) seed: u64,
}

/// The trials of a run so far.
#[derive(Debug, Default)]
pub(crate) struct Trials {
    /// The number of trials of each contestant.
    had: HashMap<usize, u64>,
    trials_ns: u64,
    units_ns: u64,
}

impl Trials {
    /// Draws the contestant on trial in these rounds, among those with the fewest trials, and the
    /// batch. Returns `None` if trials have taken more than their share of the time.
    pub(crate) fn draw(&self, orders: &[Vec<usize>], seed: u64) -> Option<Turn> {
        let batches: Vec<usize> = orders.iter().flatten().copied().collect();
        let least = batches.iter().map(|contestant| self.had(*contestant)).min();
        let least = least.filter(|_| self.are_due())?;
        let mut due: Vec<(usize, &usize)> = batches.iter().enumerate().collect();
        due.retain(|(_, contestant)| self.had(**contestant) == least);
        let mut random = Random::new(seed);
        let (batch, contestant) = due[random.below(due.len() as u64) as usize];
        Some(Turn { contestant: *contestant, batch, seed: random.next_u64() })
    }

    /// Returns whether trials have taken at most their share of the time.
    pub(crate) fn are_due(&self) -> bool {
        self.trials_ns * SHARE <= self.units_ns
    }

    fn had(&self, contestant: usize) -> u64 {
        self.had.get(&contestant).copied().unwrap_or(0)
    }

    /// Records how long a unit took, including its trial, and how long the trial took.
    pub(crate) fn spent(&mut self, turn: Option<&Turn>, trial_ns: u64, unit_ns: u64) {
        if let Some(turn) = turn {
            *self.had.entry(turn.contestant).or_default() += 1;
        }
        self.trials_ns += trial_ns;
        self.units_ns += unit_ns.saturating_sub(trial_ns);
    }
}

/// Returns the fault of a contestant that breaks a rule.
pub(crate) fn misconduct(
    contestant: usize,
    workload: &str,
    what: impl Into<String>,
) -> UnitFailure {
    let fault = Fault::Conduct { workload: workload.to_owned(), what: what.into() };
    UnitFailure::Fault(contestant, fault)
}

/// Returns the fault of a contestant whose checksum is wrong although its answer shows no error.
pub(crate) fn wrong_checksum(workload: &str, expected: u64, got: impl ToString) -> Fault {
    let (expected, got) = (expected.to_string(), got.to_string());
    Fault::WrongAnswer { workload: workload.to_owned(), item: None, expected, got }
}

/// Returns the failure of a request for a contestant that the plan does not have.
pub(crate) fn no_contestant(contestant: usize) -> UnitFailure {
    UnitFailure::Broken(format!("the plan has no contestant {contestant}"))
}

/// How far the units of a contestant were above what is allowed, as a multiple of that, summed so
/// far; units below it reduce the sum, to no less than 0.
#[derive(Debug, Default)]
pub(crate) struct Excess(f64);

impl Excess {
    /// Takes what a unit had and what is allowed; returns whether the sum is now too large.
    fn is_too_large(&mut self, value: f64, allowed: f64) -> bool {
        let excess = value / allowed.max(1.0) - 1.0;
        self.0 = (self.0 + excess.clamp(-CREDIT_OF_UNIT, EXCESS_OF_UNIT)).max(0.0);
        self.0 >= EXCESS
    }

    /// Returns what is wrong with a contestant whose resets take longer than what they put back can
    /// explain, given the times of its reset, of its run and of the unit's shortest reset, and the
    /// cost of an empty reset, in nanoseconds.
    pub(crate) fn of_resets(
        &mut self,
        [reset_ns, run_ns, least_ns]: [u64; 3],
        empty_ns: u64,
    ) -> Option<String> {
        let allowed_ns = run_ns + RESETS * least_ns + empty_ns;
        self.is_too_large(reset_ns as f64, allowed_ns as f64).then(|| {
            let times = reset_ns as f64 / run_ns.max(1) as f64;
            format!(
                "has a 'reset' that takes {times:.1} times as long as its 'run', and is not timed \
                 (where putting back is part of the task, all contestants do it)"
            )
        })
    }

    /// Returns what is wrong with a contestant whose own threads were on a CPU for so long in the
    /// batches of others, which took so long; units without such batches count nothing.
    pub(crate) fn of_threads(&mut self, burnt_ns: u64, others_ns: u64) -> Option<String> {
        let (burnt_ns, others_ns) = (burnt_ns as f64, others_ns as f64);
        let is_burning = others_ns > 0.0 && self.is_too_large(burnt_ns, BURNT * others_ns);
        is_burning.then(|| {
            let share = 100.0 * burnt_ns / others_ns;
            format!(
                "has threads of its own that were on a CPU for {share:.0}% of the time in which \
                 others were timed"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_contestant_has_its_turn_and_trials_have_their_share_of_the_time() {
        let orders = [vec![4, 2, 9], vec![9, 4, 2]];
        let flat: Vec<usize> = orders.iter().flatten().copied().collect();
        let mut trials = Trials::default();
        let mut places = std::collections::HashSet::new();
        for seed in 0..300 {
            let turn = trials.draw(&orders, seed).unwrap();
            assert_eq!(flat[turn.batch], turn.contestant);
            places.insert(turn.batch);
            trials.spent(Some(&turn), 10, 110);
        }
        assert_eq!(trials.had, HashMap::from([(4, 100), (2, 100), (9, 100)]));
        assert_eq!(places.len(), flat.len());
        trials.spent(None, 1, 1);
        assert!(trials.draw(&orders, 1).is_none());
        trials.spent(None, 0, 20);
        assert!(trials.draw(&orders, 1).is_some());
        assert!(trials.draw(&[], 1).is_none());
    }

    /// Returns after how many of 100 such units a contestant is void, if it is.
    fn found(mut times_ns: impl FnMut(u64) -> [u64; 3]) -> Option<u64> {
        let mut excess = Excess::default();
        (1..=100).find(|unit| excess.of_resets(times_ns(*unit), 5000).is_some())
    }

    #[test]
    fn own_threads_may_go_to_sleep_while_others_run_and_not_burn_a_cpu() {
        let found = |burnt_ns, others_ns| {
            let mut excess = Excess::default();
            (1..=100).find(|_| excess.of_threads(burnt_ns, others_ns).is_some())
        };
        assert_eq!(found(0, 0), None);
        assert_eq!(found(1_000_000, 0), None);
        assert_eq!(found(250_000, 1_000_000), None);
        assert_eq!(found(300_000, 1_000_000), Some(51));
        assert_eq!(found(990_000, 1_000_000), Some(5));
    }

    #[test]
    fn resets_may_take_as_long_as_runs_and_as_what_all_have_to_put_back() {
        let check = |times_ns: [u64; 3], expected| {
            assert_eq!(found(|_| times_ns), expected, "{times_ns:?}");
        };
        check([0, 0, 0], None);
        check([5000, 10, 0], None);
        check([90_000, 100_000, 0], None);
        check([900_000, 100_000, 100_000], None);
        check([900_000, 100_000, 0], Some(5));
        check([130_000, 100_000, 0], Some(43));
        check([13_400_000, 100_000, 100_000], Some(5));
    }

    #[test]
    fn resets_may_be_interrupted_and_not_hide_work_in_every_fourth_unit() {
        let [honest, much] = [[500, 300, 500], [900_000, 300, 500]];
        assert_eq!(found(|unit| if unit % 20 < 2 { much } else { honest }), None);
        for (every, most) in [(2, 20), (4, 90)] {
            let often = found(|unit| if unit % every == 0 { much } else { honest });
            assert!(often.is_some_and(|unit| unit < most), "{often:?}");
        }
    }
}
