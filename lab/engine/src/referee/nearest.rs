//! Which question is next where a study has a budget in seconds: the one that is expected to need
//! the least time.

use super::{Referee, about};
use crate::company;
use std::collections::BTreeMap;
use tiebreak_core::plan::PlannedClaim;
use tiebreak_core::result::OpenRatio;
use tiebreak_stats::unit;

/// The next pair to race.
pub(super) struct Nearest {
    pub company: Vec<usize>,
    /// The number of its rounds so far.
    pub had: u64,
    /// Whether it is for a claim for which the cells of the table wait.
    pub is_first: bool,
    /// The nanoseconds that its question is expected to need.
    pub left_ns: f64,
}

impl Referee {
    /// Returns the pair to race next: of the open questions, the one that is expected to need the
    /// least time; `None` if none is open. Claims for which cells of the table wait come before all
    /// cells, if they are expected to end before that wait does. So a claim that nothing decides
    /// gets what cells leave, and a table has as many exact cells as its time allows.
    ///
    /// It follows from the past and the plan alone: rule A3 needs no more. Costs some operations a
    /// claim.
    pub(super) fn nearest(&self) -> Option<Nearest> {
        let wait_ns = self.plan.claims.iter().map(|planned| planned.waits_ns).max().unwrap_or(0);
        let open = self.open_claims().map(|(index, planned)| {
            let company = company::sorted(about(planned));
            let left_ns = self.expected_ns(index, planned);
            let ends_ns = self.elapsed_ns as f64 + left_ns;
            let is_first = planned.waits_ns < wait_ns && ends_ns <= wait_ns as f64;
            Nearest { had: self.had.of(&company), company, is_first, left_ns }
        });
        open.min_by(|a, b| b.is_first.cmp(&a.is_first).then(a.left_ns.total_cmp(&b.left_ns)))
    }

    /// Returns the nanoseconds that the nearest question is expected to need, where pairs are raced
    /// in this order; else 0.
    pub(crate) fn nearest_ns(&self) -> u64 {
        let nearest = if self.plan.races_nearest_first() { self.nearest() } else { None };
        nearest.map_or(0, |next| next.left_ns as u64)
    }

    /// Returns the nanoseconds that all open questions together are expected to need, where pairs
    /// are raced in this order.
    pub(crate) fn all_left_ns(&self) -> Option<f64> {
        let mut by_pair: BTreeMap<Vec<usize>, f64> = BTreeMap::new();
        for (index, planned) in self.open_claims() {
            // Questions about the same pair share its rounds.
            let left_ns = by_pair.entry(company::sorted(about(planned))).or_default();
            *left_ns = left_ns.max(self.expected_ns(index, planned));
        }
        self.plan.races_nearest_first().then(|| by_pair.values().sum())
    }

    /// Returns the nanoseconds that an open claim is expected to need.
    fn expected_ns(&self, index: usize, planned: &PlannedClaim) -> f64 {
        self.claims[index].test.rounds_left() * self.round_ns(planned)
    }

    /// Returns the ratios of a study's table that are not as exact as asked, with what each is
    /// expected to need. One that has no limits yet is expected to need as many rounds as the
    /// median of those that have some. Costs two limits a ratio.
    pub(crate) fn open_ratios(&self) -> Vec<OpenRatio> {
        let is_cell = |planned: &&PlannedClaim| planned.claim.statement.is_measure();
        let cells = (0..).zip(&self.plan.claims).filter(|(_, planned)| is_cell(planned));
        let needed = cells.clone().filter_map(|(index, _)| {
            let test = &self.claims[index].test;
            test.limits().width()?;
            let left = if self.claims[index].is_open() { test.rounds_left() } else { 0.0 };
            Some(test.rounds() as f64 + left)
        });
        let usual = unit::median(needed).unwrap_or(0.0);
        let open = cells.filter(|(index, _)| self.claims[*index].is_open());
        let open = open.filter_map(|(index, planned)| {
            let test = &self.claims[index].test;
            let name = |one: usize| self.plan.contestants[one].name.clone();
            let has_limits = test.limits().width().is_some();
            let least = if has_limits { 0.0 } else { usual - test.rounds() as f64 };
            let rounds_left = test.rounds_left().max(least);
            let seconds_left = rounds_left * self.round_ns(planned) / 1e9;
            let (left, right) = (name(planned.left), name(planned.right?));
            Some(OpenRatio { left, right, rounds_left, seconds_left })
        });
        open.collect()
    }

    /// Returns the mean nanoseconds of a round of the claim's contestants, without waits for quiet;
    /// before the first one, what a round cost in the pilot.
    fn round_ns(&self, planned: &PlannedClaim) -> f64 {
        let mean_ns = self.had.mean_ns(&company::sorted(about(planned)));
        mean_ns.unwrap_or_else(|| self.plan.round_cost_ns())
    }
}
