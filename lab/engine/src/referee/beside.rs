//! What other processes did during the rounds of a claim about how long programs take and, for two
//! programs, what the same rounds show about their time on a CPU.
//!
//! Runs of programs cannot be made equally long as batches of functions can. The longer one meets
//! more of what else runs, so its ratio by wall time is specific to this machine with these other
//! processes.

use crate::round_ratio::{self, Part};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Kind, PlannedClaim};
use tiebreak_core::result::BesideResult;
use tiebreak_stats::observation::factor;
use tiebreak_stats::unit::median;

/// Other processes that used less than this share of our CPUs' time are not reported.
const SHARE_MIN: f64 = 0.1;

/// Sums over the rounds of one claim.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside {
    wall_ns: u64,
    foreign_cpu_ns: u64,
    /// Log ratios by time on a CPU, of the main threads if these did the work.
    by_run_time: Vec<f64>,
    /// The same with the time of children and other threads.
    by_cpu_time: Vec<f64>,
}

impl Beside {
    /// Adds a round, if the claim is about the wall time of programs.
    pub(super) fn take(&mut self, planned: &PlannedClaim, left: Part, right: Option<Part>) {
        if left.plan.functions.is_some()
            || left.plan.kind != Kind::Compare
            || planned.claim.metric != Metric::WallTime
            || planned.claim.statement.is_about_success()
        {
            return;
        }
        for part in std::iter::once(left).chain(right) {
            self.wall_ns += part.sample.wall_ns;
            self.foreign_cpu_ns += part.sample.beside.foreign_cpu_ns.unwrap_or(0);
        }
        let Some(right) = right.filter(|_| planned.claim.statement.property().is_none()) else {
            return;
        };
        let by_cpu_time = round_ratio::log_ratio(Metric::CpuTime, left, right).0;
        self.by_cpu_time.push(by_cpu_time.middle());
        // The time is known if the main thread did the work.
        if [left, right].iter().all(|part| part.sample.is_of_main_thread()) {
            let by_run_time = round_ratio::log_ratio(Metric::RunTime, left, right).0;
            self.by_run_time.push(by_run_time.middle());
        }
    }

    /// Returns what is worth reporting; contestants may use `cpus` CPUs.
    pub(crate) fn result(&self, cpus: f64) -> Option<BesideResult> {
        let time_ns = self.wall_ns as f64 * cpus.max(1.0);
        let share = (self.foreign_cpu_ns as f64 / time_ns).min(1.0);
        if time_ns == 0.0 || share < SHARE_MIN {
            return None;
        }
        let is_whole = self.by_run_time.len() == self.by_cpu_time.len();
        let (metric, ratios) = if is_whole {
            (Metric::RunTime, &self.by_run_time)
        } else {
            (Metric::CpuTime, &self.by_cpu_time)
        };
        let ratio = median(ratios.iter().copied()).map(factor).filter(|ratio| ratio.is_finite());
        Some(BesideResult { foreign_share: share, metric, ratio })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planning::{self, Request, tests::request};
    use tiebreak_core::plan::Plan;
    use tiebreak_core::sample::Sample;

    fn plan(claim: &str) -> Plan {
        let (names, claims) = (["a", "b"].map(str::to_owned).into(), vec![claim.to_owned()]);
        planning::plan(&Request { names, claims, ..request(&["one", "other"]) }).unwrap()
    }

    type Found = (Metric, Option<f64>);

    #[test]
    fn a_busy_machine_is_reported_with_the_ratio_by_time_on_a_cpu() {
        fn check(claim: &str, foreign: u64, run_share: u64, expected: Option<Found>) {
            let plan = plan(claim);
            let mut beside = Beside::default();
            for round in 0..5 {
                let of = |cpu_ns: u64, wall_ns: u64| {
                    let mut sample = Sample::of_wall_ns(wall_ns);
                    sample.user_ns = cpu_ns + 1000 * round;
                    sample.meters.run_ns = Some(sample.user_ns * run_share / 100);
                    sample.beside.foreign_cpu_ns = Some(wall_ns * foreign / 50);
                    sample
                };
                let samples = [of(1_000_000, 1_500_000), of(7_000_000, 15_000_000 + round)];
                let part = |contestant: usize| Part {
                    plan: &plan,
                    contestant,
                    company: &[0, 1],
                    sample: &samples[contestant],
                    batches: &[],
                };
                let right = plan.claims[0].right.map(part);
                beside.take(&plan.claims[0], part(0), right);
            }
            let found = beside.result(2.0);
            assert_eq!(found.map(|found| found.metric), expected.map(|(metric, _)| metric));
            if let (Some(found), Some((_, ratio))) = (found, expected) {
                let is_near = |(found, ratio): (f64, f64)| (found / ratio - 1.0).abs() < 0.01;
                assert_eq!(found.ratio.is_some(), ratio.is_some(), "{found:?}");
                assert!(found.ratio.zip(ratio).is_none_or(is_near), "{found:?}");
                assert!((found.foreign_share - foreign as f64 / 100.0).abs() < 0.001);
            }
        }
        let faster = "a is faster than b";
        check(faster, 85, 100, Some((Metric::RunTime, Some(7.0))));
        check(faster, 85, 50, Some((Metric::CpuTime, Some(7.0))));
        check(faster, 9, 100, None);
        check("a uses less cpu time than b", 85, 100, None);
        check("p90 of a is below 5 ms", 85, 100, Some((Metric::RunTime, None)));
        check("a is faster than b in 90% of rounds", 85, 100, Some((Metric::RunTime, None)));
        check("a succeeds at least 98% of the time", 85, 100, None);
    }
}
