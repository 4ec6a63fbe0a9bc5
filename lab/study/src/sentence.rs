//! Claims as sentences, and what they say.

use crate::decimal::{hundredfold, one_and};
use tiebreak_core::claim::{Claim, Relation};
use tiebreak_core::metric::{Metric, Unit};

/// Fractions from here on are written as factors, as percentages end here.
const FACTOR_FROM: f64 = 1000.0;

/// The question that stands in place of a claim: which of the two is faster, by wall time?
///
/// For another metric or a workload set the field, and then the text to what [`display`] gives.
pub fn question(left: &str, right: &str) -> Claim {
    let mut question = Claim {
        text: String::new(),
        left: left.to_owned(),
        right: right.to_owned(),
        relation: Relation::Order,
        metric: Metric::WallTime,
        workload: None,
    };
    question.text = display(&question);
    question
}

/// A claim as a sentence, whatever its text is; [`parse`](crate::parse) reads the claim back from
/// it, to the last bit of its numbers. A question ([`Relation::Order`]) is written as one, which
/// nothing reads back.
///
/// Factors must be above 0 and at most 1e6, fractions at least 0 (of `Within` above 0) and below
/// 1e6; of other numbers the sentence means nothing.
pub fn display(claim: &Claim) -> String {
    let (left, right) = (name(&claim.left), name(&claim.right));
    let metric = claim.metric;
    let is_time = metric == Metric::WallTime;
    let less = if metric.unit() == Unit::Count { "fewer" } else { "less" };
    let mut text = match claim.relation {
        Relation::Order if is_time => format!("which of {left} and {right} is faster"),
        Relation::Order => format!("which of {left} and {right} uses {less} {}", metric.name()),
        Relation::AtLeast { factor } => {
            let bound = if factor == 1.0 { String::new() } else { format!("at least {factor}x ") };
            match is_time {
                true => format!("{left} is {bound}faster than {right}"),
                false => format!("{left} uses {bound}{less} {} than {right}", metric.name()),
            }
        }
        Relation::NoMoreThan { fraction } => {
            let bound = format!("no more than {}", amount(fraction));
            match is_time {
                true => format!("{left} is {bound} slower than {right}"),
                false => format!("{left} uses {bound} more {} than {right}", metric.name()),
            }
        }
        Relation::Within { fraction } => {
            let by = if is_time { String::new() } else { format!(" by {}", metric.name()) };
            format!("{left} is within {} of {right}{by}", amount(fraction))
        }
    };
    if let Some(workload) = &claim.workload {
        text += &format!(" on {}", name(workload));
    }
    text
}

/// What a claim is about, in one sentence without a full stop: `the wall time of B divided by the
/// wall time of A, paired by round, is above 1.5`.
///
/// The ratio is that of the two values of one round, taken as one constant factor or as the median
/// over rounds, as the plan's centre says; it is never a ratio of means. All forms speak of the
/// right one over the left one, the ratio that results give: with `r` for it, `at least F` is
/// `r > F`, `no more than f` is `r > 1 / (1 + f)`, `within f` is `1 / (1 + f) < r < 1 + f`.
pub fn meaning(claim: &Claim) -> String {
    let metric = claim.metric.name();
    let (left, right) = (name(&claim.left), name(&claim.right));
    let workload = claim.workload.as_deref().map(|w| format!("on {}, ", name(w)));
    let workload = workload.unwrap_or_default();
    let ratio =
        format!("the {metric} of {right} divided by the {metric} of {left}, paired by round,");
    match claim.relation {
        Relation::Order => format!("{workload}whether {ratio} is above 1 or below 1"),
        Relation::AtLeast { factor } => format!("{workload}{ratio} is above {factor}"),
        Relation::NoMoreThan { fraction: 0.0 } => format!("{workload}{ratio} is above 1"),
        Relation::NoMoreThan { fraction } => {
            format!("{workload}{ratio} is above 1/{}", one_and(fraction))
        }
        Relation::Within { fraction } => {
            let edge = one_and(fraction);
            format!("{workload}{ratio} is above 1/{edge} and below {edge}")
        }
    }
}

/// A fraction as an amount: a percentage as long as there is one.
fn amount(fraction: f64) -> String {
    if fraction < FACTOR_FROM {
        format!("{}%", hundredfold(fraction))
    } else {
        format!("{}x", one_and(fraction))
    }
}

/// A name as it stands in a sentence: between quotes unless it can only be one word.
fn name(name: &str) -> String {
    let is_keyword = ["on", "by"].iter().any(|word| word.eq_ignore_ascii_case(name));
    let is_plain = !name.is_empty()
        && !name.contains(char::is_whitespace)
        && !name.starts_with(['\'', '"'])
        && !name.ends_with('.')
        && !is_keyword;
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}
