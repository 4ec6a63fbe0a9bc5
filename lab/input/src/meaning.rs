//! The exact meaning of claims.

use crate::bar::written;
use crate::decimal::{hundredfold, one_and};
use crate::sentence::name;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;

/// Returns the exact meaning of a claim, in one sentence without a full stop:
/// `the wall time of B divided by the wall time of A, paired by round, is above 1.5`. It says what
/// `holds` proves. If a good and a bad share are named, it also says what `refuted` proves, which
/// then is not the opposite.
///
/// The ratio is that of the two values of one round, taken as one constant factor or as the median
/// over rounds, depending on the plan's centre; or it is that of the means. All forms use the right
/// one over the left one, the ratio in results: with `r` for it, `at least F` is `r > F`,
/// `no more than f` is `r > 1 / (1 + f)`, `within f` is `1 / (1 + f) < r < 1 + f`.
///
/// Shares, quantiles and means are over runs, each a fresh process, or over the lines of a stream:
/// `p99 of A is below 5 ms` is `P(X <= 5 ms) > 0.99`, so that a value equal to the bar counts as
/// below. With a cap the mean is that of `min(X, cap)`.
pub fn meaning(claim: &Claim) -> String {
    let workload = claim.workload.as_deref().map(|w| format!("on {}, ", name(w)));
    let workload = workload.unwrap_or_default();
    let said = match claim.statement {
        Statement::Ratio(relation) => ratio(claim, relation),
        Statement::Property(property) => of_property(claim, property),
    };
    format!("{workload}{said}")
}

/// Returns a text such as `the wall time of B divided by the wall time of A`.
fn quotient(claim: &Claim) -> String {
    let metric = claim.metric.name();
    let (left, right) = (name(&claim.left), name(claim.right.as_deref().unwrap_or_default()));
    format!("the {metric} of {right} divided by the {metric} of {left}")
}

fn ratio(claim: &Claim, relation: Relation) -> String {
    let ratio = format!("{}, paired by round,", quotient(claim));
    match relation {
        Relation::Order => format!("whether {ratio} is above 1 or below 1"),
        Relation::Measure { .. } => format!("how large {ratio} is"),
        Relation::AtLeast { factor } => format!("{ratio} is above {factor}"),
        Relation::NoMoreThan { fraction: 0.0 } => format!("{ratio} is above 1"),
        Relation::NoMoreThan { fraction } => format!("{ratio} is above 1/{}", one_and(fraction)),
        Relation::Within { fraction } => {
            let edge = one_and(fraction);
            format!("{ratio} is above 1/{edge} and below {edge}")
        }
    }
}

fn of_property(claim: &Claim, property: Property) -> String {
    let (metric, unit) = (claim.metric.name(), claim.metric.unit());
    let trials = match claim.metric {
        Metric::Value => format!("of the lines of {}", name(&claim.left)),
        _ => format!("of the runs of {}, each a fresh process", name(&claim.left)),
    };
    match property {
        Property::InShareOfRounds { factor, share } => format!(
            "the share of rounds in which {} is at least {factor} is above {}%",
            quotient(claim),
            hundredfold(share)
        ),
        Property::Succeeds { good, bad } => {
            format!("{trials}, the share that succeeds {}", between(good, bad))
        }
        Property::Quantile { good, bad, bar } => {
            let bar = written(bar, unit);
            format!("{trials}, the share whose {metric} is at most {bar} {}", between(good, bad))
        }
        Property::Mean { is_below, bar, cap } => {
            let cap = cap.map(|cap| format!(", larger values counted as {},", written(cap, unit)));
            let side = if is_below { "below" } else { "above" };
            let (cap, bar) = (cap.unwrap_or_default(), written(bar, unit));
            format!("{trials}, the mean {metric}{cap} is {side} {bar}")
        }
    }
}

/// Says on which side of the good and the bad share a share lies.
fn between(good: f64, bad: f64) -> String {
    let (good, bad) = (hundredfold(good), hundredfold(bad));
    if good == bad {
        return format!("is above {bad}%");
    }
    format!("is above {bad}% (holds) or below {good}% (refuted)")
}
