//! Whether another way to compare the same programs would have ended a run much sooner: advice
//! about the next run, and no evidence of this one.

use super::Referee;
use crate::claim_test;
use crate::round_ratio::{self, Part};
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Adjust, Centre, Kind, Plan, PlannedClaim};
use tiebreak_core::warning::Warning;
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;

/// A claim that was settled in less time than this is not worth advice.
const LONG_NS: u64 = 5_000_000_000;
/// Another way is proposed if it settles the claim within this share of the rounds, one in so many.
const SOONER: usize = 2;
/// More rounds than this are not tried, so that advice costs less than a tenth of a second.
const ROUNDS_MAX: usize = 20_000;

/// The ways that are tried, each with the time on a CPU or with an adjustment of the wall time. Of
/// those that need equally many rounds the first one is proposed.
const WAYS: [(Metric, Adjust); 4] = [
    (Metric::WallTime, Adjust { slot: true, strata: false }),
    (Metric::WallTime, Adjust { slot: false, strata: true }),
    (Metric::WallTime, Adjust { slot: true, strata: true }),
    (Metric::RunTime, Adjust::NONE),
];

/// The rounds of one claim, about the wall time of two programs, while it was open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sooner {
    rounds: Vec<Tried>,
}

/// What is known of a round in each way.
#[derive(Clone, Copy, Debug)]
struct Tried {
    by_wall_time: f64,
    /// `None` if children or other threads did part of the work.
    by_run_time: Option<f64>,
    conditions: Conditions,
}

impl Sooner {
    /// Adds a round, if the claim is about the wall time of programs and nothing is adjusted yet.
    pub(super) fn take(
        &mut self,
        planned: &PlannedClaim,
        (left, right): (Part, Part),
        conditions: &Conditions,
    ) {
        let plan = left.plan;
        let is_tried = plan.functions.is_none()
            && plan.kind == Kind::Compare
            && plan.centre != Centre::Mean
            && plan.adjust.is_none()
            && planned.claim.metric == Metric::WallTime
            && planned.claim.statement.relation().is_some();
        if !is_tried || self.rounds.len() >= ROUNDS_MAX {
            return;
        }
        let ratio = |metric| round_ratio::log_ratio(metric, left, right).0.middle();
        let is_whole = [left, right].iter().all(|part| part.sample.is_of_main_thread());
        self.rounds.push(Tried {
            by_wall_time: ratio(Metric::WallTime),
            by_run_time: is_whole.then(|| ratio(Metric::RunTime)),
            conditions: *conditions,
        });
    }

    /// Returns the way that settles the claim in the fewest of the rounds, at most `most`, and how
    /// many those are. Costs as much as so many rounds, four times.
    fn fewest(
        &self,
        plan: &Plan,
        relation: Relation,
        error: f64,
        most: usize,
    ) -> Option<(Metric, Adjust, u64)> {
        let rounds = &self.rounds[..self.rounds.len().min(most)];
        let found = WAYS.into_iter().filter_map(|(metric, adjust)| {
            let centre = if adjust.is_none() { plan.centre } else { Centre::Factor };
            let tried = Plan { centre, adjust, ..plan.clone() };
            let mut test = claim_test::ratio_test(&tried, relation, error);
            for (number, round) in (1..).zip(rounds) {
                let d = match metric {
                    Metric::RunTime => round.by_run_time?,
                    _ => round.by_wall_time,
                };
                if test.observe(LogRatio::exact(d), &round.conditions).is_some() {
                    return Some((metric, adjust, number));
                }
            }
            None
        });
        found.min_by_key(|(.., rounds)| *rounds)
    }
}

impl Referee {
    /// Proposes another way for the next run if it would have settled a claim in at most half of
    /// the rounds, or at all where this run did not. Claims that were settled soon get no advice.
    pub(super) fn sooner(&self, index: usize, planned: &PlannedClaim) -> Option<Warning> {
        let claim = &self.claims[index];
        let Statement::Ratio(relation) = planned.claim.statement else { return None };
        let is_settled = claim.test.settled().is_some();
        if claim.void || is_settled && claim.ended_ns? < LONG_NS {
            return None;
        }
        let rounds = claim.test.rounds();
        let most = if is_settled { rounds as usize / SOONER } else { usize::MAX };
        let (metric, adjust, after) =
            claim.sooner.fewest(&self.plan, relation, planned.error, most)?;
        Some(Warning::Sooner {
            claim: planned.claim.text.clone(),
            is_question: planned.claim.statement.is_question(),
            rounds,
            after,
            metric,
            adjust,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{self, Request, tests::request};
    use tiebreak_core::journal::Round;
    use tiebreak_core::sample::Sample;
    use tiebreak_stats::coins::{Purpose, Seed, Stream};

    /// What a run needs, in milliseconds, and how much of it is not on a CPU.
    #[derive(Clone, Copy)]
    struct World {
        /// What the second program needs more.
        more: f64,
        /// What running second costs.
        second: f64,
        /// The share of runs that wait for a CPU, and the mean of that wait.
        waits: f64,
        waits_ms: f64,
        /// What it sleeps, which is not noisy.
        sleeps_ms: f64,
        /// Relative noise of its work.
        noise: f64,
    }

    const CALM: World =
        World { more: 0.02, second: 0.0, waits: 0.3, waits_ms: 0.0, sleeps_ms: 0.0, noise: 0.01 };

    /// Returns what is proposed after so many rounds, or once the question is settled.
    fn proposed(world: World, round_ns: u64, is_over: bool) -> Option<Warning> {
        let plan = planning::plan(&Request { resolution: 0.0, ..request(&["a", "b"]) }).unwrap();
        let mut chance = Stream::new(Seed::from_text("sooner"), Purpose::Simulation, 0, 0);
        let mut referee = Referee::new(&plan);
        while referee.rounds < 400 && !referee.company().is_empty() {
            let coins = referee.draw(0);
            let mut run = |slot: usize| {
                let second = if slot == 1 { world.second } else { 0.0 };
                let cost = 1.0 + world.more * coins.order[slot] as f64 + second;
                let work_ms = 3.0 * cost * (1.0 + world.noise * chance.normal());
                let waits = chance.unit() < world.waits;
                let wait_ms = if waits { 2.0 * chance.unit() * world.waits_ms } else { 0.0 };
                let wall_ms = work_ms + wait_ms + world.sleeps_ms * cost;
                let mut sample = Sample::of_wall_ns((1e6 * wall_ms) as u64);
                sample.user_ns = (1e6 * work_ms) as u64;
                sample.meters.run_ns = Some(sample.user_ns);
                sample.beside.run_delay_ns = Some((1e6 * wait_ms) as u64);
                sample
            };
            let samples = vec![run(0), run(1)];
            let elapsed_ns = referee.elapsed_ns + round_ns;
            let (batches, wealth) = (Vec::new(), Vec::new());
            referee.take_round(&Round {
                coins,
                waited_ns: 0,
                elapsed_ns,
                samples,
                batches,
                histograms: Vec::new(),
                wealth,
            });
        }
        let warnings = referee.warnings(2.0, is_over);
        warnings.into_iter().find(|warning| matches!(warning, Warning::Sooner { .. }))
    }

    /// A round of a claim that takes long.
    const ROUND_NS: u64 = 500_000_000;

    const CLAIM: &str = "'which of A and B is faster' would have been settled after ";

    #[test]
    fn the_way_that_needs_the_fewest_rounds_is_proposed() {
        fn check(world: World, expected: &str) {
            let text = proposed(world, ROUND_NS, true).map(|warning| warning.to_string());
            let text = text.as_deref().and_then(|text| text.strip_prefix(CLAIM));
            assert_eq!(text, Some(expected));
        }
        check(
            World { waits_ms: 2.0, ..CALM },
            "34 of these 76 rounds by run time: --by 'run time' asks for that, which is another \
             question",
        );
        let factor = "which asks for one factor (--centre factor)";
        check(
            World { second: 0.05, ..CALM },
            &format!("46 of these 150 rounds with --adjust slot, {factor}"),
        );
        // By run time the noise of little work hides what a long sleep shows.
        check(
            World { waits: 0.6, waits_ms: 20.0, sleeps_ms: 20.0, noise: 0.05, ..CALM },
            &format!("138 of these 288 rounds with --adjust strata, {factor}"),
        );
    }

    #[test]
    fn nothing_is_proposed_that_helps_little_or_would_have_come_soon() {
        let neighbour = World { waits_ms: 2.0, ..CALM };
        assert_eq!(proposed(World { more: 0.0, noise: 0.1, ..CALM }, ROUND_NS, true), None);
        assert_eq!(proposed(World { more: 1.0, ..neighbour }, ROUND_NS, true), None);
        assert_eq!(proposed(neighbour, 1_000_000, true), None);
        assert_eq!(proposed(neighbour, ROUND_NS, false), None);
    }
}
