//! Whether a study's budget suffices for the ratios of its tables, and what to do if not: a larger
//! budget, or fewer contestants or workloads.

use crate::claim_test::ClaimTest;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::journal::StopReason;
use tiebreak_core::plan::{Budget, Plan};
use tiebreak_core::result::RunResult;
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::{LeaveOut, Warning};

/// The most contestants or workloads that are named.
const NAMES_MAX: usize = 3;
/// The share of the time that they must take to be all that is named.
const MOST: f64 = 0.5;

/// What a ratio of a table needs.
#[derive(Clone, Debug)]
struct Need<'a> {
    workload: &'a str,
    contestant: &'a str,
    seconds: f64,
}

/// Adds a warning to each run with ratios that are not as exact as asked, if the budget ended the
/// study: what all of them would still need.
pub fn warn(runs: &mut [RunResult], budget: Budget) {
    if !runs.iter().any(|run| run.stopped == Some(StopReason::Budget)) {
        return;
    }
    let cells = runs.iter().flat_map(|run| &run.verdicts);
    let asked = cells.filter(|claim| claim.verdict != Verdict::Void);
    let precisions: Vec<f64> = asked.filter_map(|claim| precision(&claim.statement)).collect();
    let blocks = runs.iter().filter_map(|run| run.study.as_deref());
    let needs = blocks.flat_map(|block| {
        // What has no one factor, or too coarse a clock, never becomes exact.
        let open = block.open_ratios.iter().filter(|open| open.seconds_left.is_finite());
        open.map(|open| Need {
            workload: &block.workload.name,
            contestant: &open.left,
            seconds: open.seconds_left,
        })
    });
    let needs: Vec<Need<'_>> = needs.collect();
    let Some(precision) = precisions.first().copied().filter(|_| !needs.is_empty()) else { return };
    let is_by_time = budget.rounds.is_none();
    let seconds_left = needs.iter().map(|need| need.seconds).sum();
    let warning = Warning::Inexact {
        open: needs.len() as u64,
        of: precisions.len() as u64,
        precision,
        seconds_left,
        budget_s: budget.seconds.filter(|_| is_by_time).map(|seconds| seconds + seconds_left),
        leave_out: leave_out(&needs, runs.len()),
    };
    let is_short = |run: &&mut RunResult| {
        run.study.as_ref().is_some_and(|block| !block.open_ratios.is_empty())
    };
    runs.iter_mut().filter(is_short).for_each(|run| run.warnings.push(warning.clone()));
}

/// Returns a warning if the costs of the pilots show that the budget cannot suffice for all ratios
/// of the tables in these plans.
pub fn foreseen(plans: &[&Plan], budget: Budget) -> Option<Warning> {
    let seconds = budget.seconds?;
    let (mut needs, mut least, mut asked) = (Vec::new(), u64::MAX, None);
    for plan in plans {
        let functions = plan.functions.as_deref()?;
        for planned in &plan.claims {
            let Some(precision) = precision(&planned.claim.statement) else { continue };
            let rounds = ClaimTest::new(plan, planned).rounds_left();
            asked = Some(precision);
            least = least.min(rounds as u64);
            needs.push(Need {
                workload: &functions.workload.name,
                contestant: &plan.contestants[planned.left].name,
                seconds: rounds * plan.round_cost_ns() / 1e9,
            });
        }
    }
    let all: f64 = needs.iter().map(|need| need.seconds).sum();
    let mut sorted: Vec<f64> = needs.iter().map(|need| need.seconds).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    let ends = sorted.iter().scan(0.0, |end, seconds| {
        *end += seconds;
        Some(*end)
    });
    let fit = ends.take_while(|end| *end <= seconds).count();
    (fit < needs.len()).then_some(Warning::ShortBudget {
        fit: fit as u64,
        of: needs.len() as u64,
        precision: asked?,
        fewest: least,
        seconds: all,
        leave_out: leave_out(&needs, plans.len()),
    })
}

/// Returns the precision that is asked of a ratio of a table.
fn precision(statement: &Statement) -> Option<f64> {
    match statement {
        Statement::Ratio(Relation::Measure { precision }) => Some(*precision),
        _ => None,
    }
}

/// Returns the contestants that need most of the time or, if fewer of them do, the workloads.
fn leave_out(needs: &[Need<'_>], workloads: usize) -> LeaveOut {
    let by_contestant = largest(needs, |need| need.contestant, false);
    let by_workload = largest(needs, |need| need.workload, true);
    let by_workload = by_workload.filter(|of| of.names.len() < workloads);
    let rank = |of: &LeaveOut| (of.share < MOST, of.names.len());
    by_contestant.into_iter().chain(by_workload).min_by_key(rank).unwrap_or_default()
}

/// Returns the largest groups of needs, until they are most of the time.
fn largest<'a>(
    needs: &[Need<'a>],
    group: fn(&Need<'a>) -> &'a str,
    are_workloads: bool,
) -> Option<LeaveOut> {
    let all: f64 = needs.iter().map(|need| need.seconds).sum();
    let mut groups: Vec<(&str, f64)> = Vec::new();
    for need in needs {
        match groups.iter_mut().find(|(name, _)| *name == group(need)) {
            Some((_, seconds)) => *seconds += need.seconds,
            None => groups.push((group(need), need.seconds)),
        }
    }
    groups.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut named = LeaveOut { names: Vec::new(), are_workloads, share: 0.0 };
    for (name, seconds) in groups.into_iter().take(NAMES_MAX) {
        if named.share >= MOST {
            break;
        }
        named.names.push(name.to_owned());
        named.share += seconds / all.max(f64::MIN_POSITIVE);
    }
    named.share = named.share.min(1.0);
    (named.share > 0.0).then_some(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_most_of_the_time_is_named() {
        let check = |needs: &[(&'static str, &'static str, f64)], workloads, expected: &str| {
            let each = needs.iter().map(|(workload, contestant, seconds)| Need {
                workload,
                contestant,
                seconds: *seconds,
            });
            let LeaveOut { names, are_workloads, share } =
                leave_out(&each.collect::<Vec<_>>(), workloads);
            let what = if are_workloads { "workloads" } else { "contestants" };
            let told = format!("{what} {} {:.0}%", names.join(" "), share * 100.0);
            assert_eq!(told, expected, "{needs:?}");
        };
        let one = [("w", "a", 10.0), ("w", "b", 60.0), ("w", "c", 30.0)];
        check(&one, 1, "contestants b 60%");
        check(&[("w", "a", 30.0), ("w", "b", 30.0), ("w", "c", 40.0)], 1, "contestants c a 70%");
        // Eight contestants alike: no three of them explain more than the one workload does.
        let alike = ["a", "b", "c", "d", "e", "f", "g", "h"];
        let mut two: Vec<_> = alike.iter().map(|one| ("slow", *one, 10.0)).collect();
        two.push(("quick", "a", 1.0));
        check(&two, 2, "workloads slow 99%");
        check(&two[..8], 1, "contestants a b c 38%");
        check(&[], 2, "contestants  0%");
        check(&[("w", "a", 0.0)], 1, "contestants  0%");
    }
}
