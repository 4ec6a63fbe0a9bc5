//! What the visits saw, pair by pair, and whether it is enough.

use super::*;

/// The least part of a pair's batches that must be without a gap: one in so many.
const VALID_ONE_IN: u64 = 20;

/// What the visits saw so far.
pub(super) struct Tally {
    /// For each pair what was seen by each way of passing.
    pairs: Vec<Vec<PairObservation>>,
    /// Pairs that could not be visited, and why.
    failed: Vec<(usize, String)>,
}

impl Tally {
    pub(super) fn of(plan: &Plan) -> Tally {
        let of_pair = |cpus: &[usize; 2]| {
            let nothing = |kernel| PairObservation {
                kernel,
                cpus: *cpus,
                visits: Vec::new(),
                batches: 0,
                invalid: 0,
                preemptions: 0,
            };
            plan.kernels.iter().copied().map(nothing).collect()
        };
        Tally { pairs: plan.pairs.iter().map(of_pair).collect(), failed: Vec::new() }
    }

    /// Adds a visit to a pair, by its place in the plan.
    pub(super) fn add(&mut self, place: usize, seen: Vec<KernelObservation>) {
        for (all, seen) in self.pairs[place].iter_mut().zip(seen) {
            all.visits.push(seen.by.map(|side| side.latency_ns));
            all.batches += seen.by.iter().map(|side| side.batches).sum::<u64>();
            all.invalid += seen.by.iter().map(|side| side.invalid).sum::<u64>();
            all.preemptions += seen.preemptions;
        }
    }

    /// Notes that a visit could not be made.
    pub(super) fn fail(&mut self, place: usize, error: &io::Error) {
        if self.failed.iter().all(|(other, _)| *other != place) {
            self.failed.push((place, error.to_string()));
        }
    }

    /// The least latency of all.
    pub(super) fn least_ns(&self) -> Option<f64> {
        let all = self.pairs.iter().flatten().flat_map(|seen| seen.visits.iter().flatten());
        all.copied().flatten().min_by(f64::total_cmp)
    }

    /// What there is enough of, and what speaks against the rest.
    pub(super) fn finish(
        self,
        plan: &Plan,
        rounds: u64,
        is_interrupted: bool,
    ) -> (Vec<PairObservation>, Vec<String>) {
        let chosen = self.pairs.len();
        let is_enough = |seen: &PairObservation| {
            let valid = seen.batches - seen.invalid;
            let has_value = seen.visits.iter().flatten().any(Option::is_some);
            has_value && valid >= plan.valid_least && valid * VALID_ONE_IN >= seen.batches
        };
        let is_begun = |pair: &[PairObservation]| pair.iter().any(|seen| !seen.visits.is_empty());
        let begun = self.pairs.iter().filter(|pair| is_begun(pair)).count();
        // A pair may fail after visits that went well.
        let has_failed = |place: usize| self.failed.iter().any(|(failed, _)| *failed == place);
        let is_missing =
            |(place, pair): &(usize, &Vec<PairObservation>)| !is_begun(pair) && !has_failed(*place);
        let missing = self.pairs.iter().enumerate().filter(is_missing).count();
        let mut reasons = Vec::new();
        if is_interrupted {
            reasons.push(format!(
                "stopped in round {rounds} of {}, when {begun} of {chosen} pairs had been visited",
                plan.rounds
            ));
        } else if missing > 0 {
            reasons.push(format!("there was no time for {missing} of {chosen} pairs"));
        }
        if let Some((place, error)) = self.failed.first() {
            let ([a, b], count) = (plan.pairs[*place], self.failed.len());
            reasons.push(format!("{count} of {chosen} pairs failed; CPUs {a} and {b}: {error}"));
        }
        let begun = self.pairs.iter().filter(|pair| is_begun(pair));
        let poor: Vec<&PairObservation> =
            begun.filter_map(|pair| pair.iter().find(|seen| !is_enough(seen))).collect();
        if let Some(seen) = poor.first() {
            let ([a, b], kernel, count) = (seen.cpus, seen.kernel.words(), poor.len());
            let (valid, batches) = (seen.batches - seen.invalid, seen.batches);
            reasons.push(format!(
                "the threads of {count} of {chosen} pairs hardly ran together; CPUs {a} and {b}, \
                 {kernel}: {valid} of {batches} batches without a gap"
            ));
        }
        (self.pairs.into_iter().flatten().filter(is_enough).collect(), reasons)
    }
}
