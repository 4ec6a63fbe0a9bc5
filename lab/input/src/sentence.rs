//! Claims as sentences, and their exact meaning.

use crate::amount::written;
use crate::decimal::{hundredfold, one_and};
use crate::grammar::KEYWORDS;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::{Metric, Unit};

/// Fractions from here on are written as factors, because percentages end here.
const FACTOR_FROM: f64 = 1000.0;

/// Returns the question that replaces a claim: which of the two is faster, or uses less?
///
/// For a workload, set the field, and then the text to the result of [`display`].
pub fn question(left: &str, right: &str, metric: Metric) -> Claim {
    let mut question = Claim {
        text: String::new(),
        left: left.to_owned(),
        right: Some(right.to_owned()),
        statement: Statement::Ratio(Relation::Order),
        metric,
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
        workload: Some(workload.to_owned()),
        ..question(left, right, metric)
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
    let [mut sentence, _] = words(claim);
    if let Some(workload) = &claim.workload {
        sentence += &format!(" on {}", name(workload));
    }
    sentence
}

/// Returns a claim as a sentence, and its meaning, both without the workload.
fn words(claim: &Claim) -> [String; 2] {
    match claim.statement {
        Statement::Ratio(relation) => of_ratio(claim, relation),
        Statement::Property(property) => of_property(claim, property),
    }
}

fn of_ratio(claim: &Claim, relation: Relation) -> [String; 2] {
    let (left, right) = (name(&claim.left), name(claim.right.as_deref().unwrap_or_default()));
    let metric = claim.metric;
    // A lower latency is faster; of other quantities there is less.
    let is_time = metric == Metric::WallTime || metric.latency().is_some();
    let by_metric = if is_time { by(metric) } else { String::new() };
    let (less, name) = (if metric.unit() == Unit::Count { "fewer" } else { "less" }, metric.name());
    let (verb, better, worse) = if is_time {
        ("is", "faster".to_owned(), "slower".to_owned())
    } else {
        ("uses", format!("{less} {name}"), format!("more {name}"))
    };
    let ratio = format!("{}, paired by round,", quotient(claim));
    match relation {
        Relation::Measure { .. } => [
            if is_time {
                format!("how much faster {left} is than {right}{by_metric}")
            } else {
                format!("how many times less {name} {left} uses than {right}")
            },
            format!("how large {ratio} is"),
        ],
        Relation::Order => [
            format!("which of {left} and {right} {verb} {better}{by_metric}"),
            format!("whether {ratio} is above 1 or below 1"),
        ],
        Relation::AtLeast { factor } => {
            let least = if factor == 1.0 { String::new() } else { format!("at least {factor}x ") };
            let sentence = format!("{left} {verb} {least}{better} than {right}{by_metric}");
            [sentence, format!("{ratio} is above {factor}")]
        }
        Relation::NoMoreThan { fraction } => {
            let bar =
                if fraction == 0.0 { String::new() } else { format!("/{}", one_and(fraction)) };
            let most = amount(fraction);
            let sentence =
                format!("{left} {verb} no more than {most} {worse} than {right}{by_metric}");
            [sentence, format!("{ratio} is above 1{bar}")]
        }
        Relation::Within { fraction } => {
            let (amount, edge) = (amount(fraction), one_and(fraction));
            let sentence = format!("{left} is within {amount} of {right}{}", by(metric));
            [sentence, format!("{ratio} is above 1/{edge} and below {edge}")]
        }
    }
}

/// Returns a text such as `the wall time of B divided by the wall time of A`.
fn quotient(claim: &Claim) -> String {
    let metric = claim.metric.name();
    let (left, right) = (name(&claim.left), name(claim.right.as_deref().unwrap_or_default()));
    format!("the {metric} of {right} divided by the {metric} of {left}")
}

fn of_property(claim: &Claim, property: Property) -> [String; 2] {
    let (left, metric) = (name(&claim.left), claim.metric);
    let trials = match metric {
        Metric::Value => format!("of the lines of {left}"),
        _ => format!("of the runs of {left}, each a fresh process"),
    };
    let (of_metric, by, unit) = (metric.name(), by(metric), metric.unit());
    match property {
        Property::InShareOfRounds { factor, share } => {
            let [claimed, _] = of_ratio(claim, Relation::AtLeast { factor });
            let (ratio, share) = (quotient(claim), hundredfold(share));
            let rounds = format!("the share of rounds in which {ratio} is at least {factor}");
            [format!("{claimed} in {share}% of rounds"), format!("{rounds} is above {share}%")]
        }
        Property::Succeeds { good, bad } => {
            let (rate, bad_rate) = (hundredfold(good), with_bad(good, bad));
            let sentence = format!("{left} succeeds at least {rate}% of the time{bad_rate}");
            [sentence, format!("{trials}, the share that succeeds {}", between(good, bad))]
        }
        Property::Quantile { good, bad, bar } => {
            let quantile = match good {
                0.5 => "median".to_owned(),
                good => format!("p{}", hundredfold(good)),
            };
            let (bar, share) = (written(bar, unit), between(good, bad));
            let bad = with_bad(good, bad);
            let meaning = format!("{trials}, the share whose {of_metric} is at most {bar} {share}");
            [format!("{quantile} of {left} is below {bar}{by}{bad}"), meaning]
        }
        Property::Mean { is_below, bar, cap } => {
            let (side, bar) = (if is_below { "below" } else { "above" }, written(bar, unit));
            let [capped, counted] = cap.map_or([String::new(), String::new()], |cap| {
                let cap = written(cap, unit);
                [format!(" capped at {cap}"), format!(", larger values counted as {cap},")]
            });
            let meaning = format!("{trials}, the mean {of_metric}{counted} is {side} {bar}");
            [format!("mean of {left} is {side} {bar}{capped}{by}"), meaning]
        }
    }
}

/// Writes the bad share, if it differs from the good one.
fn with_bad(good: f64, bad: f64) -> String {
    if good == bad { String::new() } else { format!(" with {}% as bad", hundredfold(bad)) }
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
fn name(name: &str) -> String {
    let is_keyword = KEYWORDS.iter().any(|word| word.eq_ignore_ascii_case(name));
    let is_plain = !name.is_empty()
        && !name.contains(char::is_whitespace)
        && !name.starts_with(['\'', '"'])
        && !name.ends_with('.')
        && !is_keyword;
    if is_plain { name.to_owned() } else { format!("'{}'", name.replace('\'', "''")) }
}

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
    let [_, meaning] = words(claim);
    format!("{workload}{meaning}")
}

/// Says on which side of the good and the bad share a share lies.
fn between(good: f64, bad: f64) -> String {
    let (good, bad) = (hundredfold(good), hundredfold(bad));
    if good == bad {
        return format!("is above {bad}%");
    }
    format!("is above {bad}% (holds) or below {good}% (refuted)")
}
