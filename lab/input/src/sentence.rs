//! Claims as sentences.

use crate::bar::written;
use crate::decimal::{hundredfold, one_and};
use crate::tail::KEYWORDS;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::{Metric, Unit};

/// Fractions from here on are written as factors, because percentages end here.
const FACTOR_FROM: f64 = 1000.0;

/// Returns the question that replaces a claim: which of the two is faster, by wall time?
///
/// For another metric or a workload, set the field, and then the text to the result of [`display`].
pub fn question(left: &str, right: &str) -> Claim {
    let mut question = Claim {
        text: String::new(),
        left: left.to_owned(),
        right: Some(right.to_owned()),
        statement: Statement::Ratio(Relation::Order),
        metric: Metric::WallTime,
        workload: None,
    };
    question.text = display(&question);
    question
}

/// Returns the question for a cell of a study's table: how many times as much of the metric as the
/// left contestant does the right one need, on this workload? It is answered when both limits lie
/// within a factor of `1 + precision` of their middle; 0.05 for 5%.
pub fn measure_question(
    left: &str,
    right: &str,
    precision: f64,
    metric: Metric,
    workload: &str,
) -> Claim {
    let mut question = Claim {
        statement: Statement::Ratio(Relation::Measure { precision }),
        metric,
        workload: Some(workload.to_owned()),
        ..question(left, right)
    };
    question.text = display(&question);
    question
}

/// Writes a claim as a sentence, whatever its text is. [`parse`](crate::parse) reads the claim back
/// from it, to the last bit of its numbers. A question ([`Relation::Order`]) is written as one,
/// which cannot be read back.
///
/// Factors must be above 0 and at most 1e6, fractions at least 0 (for `Within` above 0) and below
/// 1e6, shares above 0 and below 1 with `bad` at most `good`, bars above 0 and at most 1e18, caps
/// above their bar; with other numbers the sentence means nothing. [`Metric::Value`], which only
/// streams have, cannot be read back.
pub fn display(claim: &Claim) -> String {
    let mut text = match claim.statement {
        Statement::Ratio(relation) => ratio(claim, relation),
        Statement::Property(property) => of_property(claim, property),
    };
    if let Some(workload) = &claim.workload {
        text += &format!(" on {}", name(workload));
    }
    text
}

/// Writes the two names, `faster than` or `uses less`, and the metric, in the order of the
/// sentence.
fn ratio(claim: &Claim, relation: Relation) -> String {
    let (left, right) = (name(&claim.left), name(claim.right.as_deref().unwrap_or_default()));
    let metric = claim.metric;
    let is_time = metric == Metric::WallTime;
    let less = if metric.unit() == Unit::Count { "fewer" } else { "less" };
    match relation {
        Relation::Measure { .. } if is_time => format!("how much faster {left} is than {right}"),
        Relation::Measure { .. } => {
            format!("how many times less {} {left} uses than {right}", metric.name())
        }
        Relation::Order if is_time => format!("which of {left} and {right} is faster"),
        Relation::Order => format!("which of {left} and {right} uses {less} {}", metric.name()),
        Relation::AtLeast { factor } => {
            let bound = if factor == 1.0 { String::new() } else { format!("at least {factor}x ") };
            if is_time {
                format!("{left} is {bound}faster than {right}")
            } else {
                format!("{left} uses {bound}{less} {} than {right}", metric.name())
            }
        }
        Relation::NoMoreThan { fraction } => {
            let bound = format!("no more than {}", amount(fraction));
            if is_time {
                format!("{left} is {bound} slower than {right}")
            } else {
                format!("{left} uses {bound} more {} than {right}", metric.name())
            }
        }
        Relation::Within { fraction } => {
            format!("{left} is within {} of {right}{}", amount(fraction), by(metric))
        }
    }
}

fn of_property(claim: &Claim, property: Property) -> String {
    let (left, metric) = (name(&claim.left), claim.metric);
    let bad = |good: f64, bad: f64| {
        if good == bad { String::new() } else { format!(" with {}% as bad", hundredfold(bad)) }
    };
    match property {
        Property::InShareOfRounds { factor, share } => {
            let claimed = ratio(claim, Relation::AtLeast { factor });
            format!("{claimed} in {}% of rounds", hundredfold(share))
        }
        Property::Succeeds { good, bad: low } => {
            let rate = hundredfold(good);
            format!("{left} succeeds at least {rate}% of the time{}", bad(good, low))
        }
        Property::Quantile { good, bad: low, bar } => {
            let quantile = match good {
                0.5 => "median".to_owned(),
                good => format!("p{}", hundredfold(good)),
            };
            let (bar, by) = (written(bar, metric.unit()), by(metric));
            format!("{quantile} of {left} is below {bar}{by}{}", bad(good, low))
        }
        Property::Mean { is_below, bar, cap } => {
            let side = if is_below { "below" } else { "above" };
            let cap = cap.map(|cap| format!(" capped at {}", written(cap, metric.unit())));
            let (bar, cap) = (written(bar, metric.unit()), cap.unwrap_or_default());
            format!("mean of {left} is {side} {bar}{cap}{}", by(metric))
        }
    }
}

/// Writes the metric at the end of a sentence that does not name it elsewhere.
fn by(metric: Metric) -> String {
    match metric {
        Metric::WallTime => String::new(),
        metric => format!(" by {}", metric.name()),
    }
}

/// Writes a fraction as an amount: as a percentage if there is one.
fn amount(fraction: f64) -> String {
    if fraction < FACTOR_FROM {
        format!("{}%", hundredfold(fraction))
    } else {
        format!("{}x", one_and(fraction))
    }
}

/// Writes a name in a sentence: between quotes unless it can only be one word.
pub(crate) fn name(name: &str) -> String {
    let is_keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
    let is_plain = !name.is_empty()
        && !name.contains(char::is_whitespace)
        && !name.starts_with(['\'', '"'])
        && !name.ends_with('.')
        && !is_keyword;
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}
