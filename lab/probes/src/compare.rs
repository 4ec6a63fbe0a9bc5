//! Compares two machines: every figure that either has, side by side.

mod show;

pub use show::{comparison, comparison_json};

use crate::{Better, Figure, MachinePrint, Probed, Spread, Unit};
use serde::{Deserialize, Serialize};
use tiebreak_core::fingerprint::Fact;
use tiebreak_stats::rank_sum::chance_above;

/// The probability that a table names any machine wrongly.
const ERROR: f64 = 0.01;
/// A machine is named only where the figures differ by more than this factor. Parts of one run say
/// what moves within seconds; by how much two runs differ beyond that was seen in ten short looks
/// at one quiet machine: of all figures that may name a machine by at most 1.15 times.
const BETWEEN_RUNS: f64 = 1.2;
/// What is said of a print that does not say how quiet the machine was.
const NO_NOISE: &str =
    "the print has no noise: how much CPU time was lost to other work is not known";
/// What is sold by the hour, apart from bandwidth.
const SOLD: [&str; 3] = ["topology-cpus", "topology-cores", "topology-memory"];

/// A print with the name that it has in a comparison, and its price if one was given.
#[derive(Clone, Copy, Debug)]
pub struct Named<'a> {
    /// The print.
    pub print: &'a MachinePrint,
    /// The name.
    pub name: &'a str,
    /// The price, in the unit of the other one.
    pub price: Option<f64>,
}

/// A figure of two prints, where each has it.
type Sides<'a> = [Option<&'a Figure>; 2];

/// Sets two machines side by side: every figure that either has, `b` over `a`, and, if both have a
/// price, what is sold by the hour divided by it. [`WinnerRule`] says which machine is named.
pub fn compare(a: Named<'_>, b: Named<'_>) -> Comparison {
    let prices = a.price.zip(b.price);
    let all = [a, b].map(|side| figures(side.print));
    let both = merged(&all);
    let might = both.iter().filter(|(figure, sides)| {
        figure.better != Better::Neither && sides.iter().all(Option::is_some)
    });
    let rows = might.map(|(one, _)| 1 + usize::from(prices.is_some() && is_sold(one))).sum();
    let rule = WinnerRule { error: ERROR, factor: BETWEEN_RUNS, rows };
    let compared = both.iter().map(|&(figure, sides)| {
        let why = why(figure, sides, &all, &rule);
        let named = why.is_none().then_some(&rule);
        let per_price = prices.filter(|_| is_sold(figure)).map(|(a, b)| {
            let priced =
                [(sides[0], a), (sides[1], b)].map(|(side, price)| Some(per(side?, price)));
            beside(priced.each_ref().map(Option::as_ref), named)
        });
        Compared {
            key: figure.key.clone(),
            words: figure.words.clone(),
            unit: figure.unit,
            better: figure.better,
            values: beside(sides, named),
            per_price,
            why,
        }
    });
    let figures = compared.collect();
    let facts = a.print.machine.differences(&b.print.machine).into_iter().map(|key| {
        let [a, b] = [a, b].map(|side| side.print.machine.0.get(&key).cloned());
        Difference { key, a, b }
    });
    let facts = facts.collect();
    let [a, b] = [a, b].map(|Named { print, name, price }| Side {
        name: name.to_owned(),
        is_quick: print.is_quick,
        price,
    });
    let rule = (rows > 0).then_some(rule);
    Comparison { schema: Comparison::SCHEMA.to_owned(), a, b, figures, facts, rule }
}

/// Returns the figures of a print, with what the rest of it says against some of them.
fn figures(print: &MachinePrint) -> Vec<Figure> {
    let noise = print.noise.as_ref().and_then(Probed::value);
    let busy = noise.map_or(Some(NO_NOISE.to_owned()), |noise| {
        let percent = noise.busy_share()? * 100.0;
        Some(format!("{percent:.0}% of CPU time was lost to other work meanwhile"))
    });
    let is_short = print.cores.as_ref().and_then(Probed::value).is_none_or(|one| one.is_short_look);
    let is_moved = print.machine.is_guest() && is_short;
    let placed = "a short look sees one of the placements between which a hypervisor moves CPUs";
    let mut figures = print.figures();
    for figure in &mut figures {
        let placed = (is_moved && figure.key.starts_with("cores-")).then(|| placed.to_owned());
        figure.doubt = figure.doubt.take().or_else(|| busy.clone()).or(placed);
    }
    figures
}

/// Returns the figures of both, each once: those that only the second has stand where they do
/// there.
fn merged([of_a, of_b]: &[Vec<Figure>; 2]) -> Vec<(&Figure, Sides<'_>)> {
    let in_b = |key: &str| of_b.iter().find(|other| other.key == key);
    let mut all: Vec<(&Figure, Sides<'_>)> =
        of_a.iter().map(|figure| (figure, [Some(figure), in_b(&figure.key)])).collect();
    let mut place = 0;
    for figure in of_b {
        match all.iter().position(|(other, _)| other.key == figure.key) {
            Some(found) => place = found + 1,
            None => {
                all.insert(place, (figure, [None, Some(figure)]));
                place += 1;
            }
        }
    }
    all
}

/// Returns why a figure can name no machine; `None` of a fact too, and where one side was not
/// looked at.
fn why(
    figure: &Figure,
    sides: Sides<'_>,
    all: &[Vec<Figure>; 2],
    rule: &WinnerRule,
) -> Option<String> {
    if figure.better == Better::Neither {
        return None;
    }
    match [0, 1].map(|place| doubt(figure, sides[place], &all[place])) {
        [Some(a), Some(b)] if a == b => return Some(format!("A and B: {a}")),
        [Some(a), Some(b)] => return Some(format!("A: {a}; B: {b}")),
        [Some(a), None] => return Some(format!("A: {a}")),
        [None, Some(b)] => return Some(format!("B: {b}")),
        [None, None] => {}
    }
    let (a, b) = (sides[0]?.parts.len(), sides[1]?.parts.len());
    let least = chance_above(&vec![2.0; a], &vec![1.0; b], 1.0);
    (least > one_sided(rule)).then(|| format!("{a} and {b} repeated measurements are too few"))
}

/// Returns why one side's figure can name no machine, `all` being the figures of that side.
fn doubt(figure: &Figure, side: Option<&Figure>, all: &[Figure]) -> Option<String> {
    let is_level = |figure: &Figure| figure.key.starts_with("latency-");
    let Some(found) = side else {
        let is_lacking = is_level(figure) && all.iter().any(is_level);
        return is_lacking.then(|| "no such level found".to_owned());
    };
    let none = "the print holds no repeated measurements of it";
    found.doubt.clone().or_else(|| found.parts.is_empty().then(|| none.to_owned()))
}

/// Returns the error of one row in one direction.
fn one_sided(rule: &WinnerRule) -> f64 {
    rule.error / rule.rows.max(1) as f64 / 2.0
}

/// Two numbers, side by side; a machine is named by the rule, where there is one.
fn beside(sides: Sides<'_>, rule: Option<&WinnerRule>) -> Beside {
    let [a, b] = sides.map(|side| side.map(|figure| figure.value));
    let [spread_a, spread_b] = sides.map(|side| {
        let spread = side?.spread.filter(|spread| !spread.is_exact())?;
        Some([spread.low, spread.high])
    });
    let ratio = a.zip(b).map(|(a, b)| b / a);
    let ratio = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let winner = rule.filter(|_| ratio.is_some()).and_then(|rule| {
        let (a, b) = (sides[0]?, sides[1]?);
        Some(match (is_above(rule, a, b), is_above(rule, b, a), a.better) {
            (_, _, Better::Neither) => return None,
            (true, false, Better::Higher) | (false, true, Better::Lower) => Winner::A,
            (false, true, Better::Higher) | (true, false, Better::Lower) => Winner::B,
            _ => Winner::NoneShown,
        })
    });
    Beside { a, b, spread_a, spread_b, ratio, winner }
}

/// Whether a figure is proven to be above another one; what is printed must say the same.
fn is_above(rule: &WinnerRule, above: &Figure, below: &Figure) -> bool {
    // A machine may differ from itself in a minute by as much as its own measurements do.
    let apart = [above, below].map(|one| one.spread.map_or(1.0, |spread| spread.high / spread.low));
    let least = apart.into_iter().fold(rule.factor, f64::max);
    above.value > least * below.value
        && chance_above(&above.parts, &below.parts, rule.factor) <= one_sided(rule)
}

/// Whether it is sold by the hour: CPUs, memory and what goes through it are; a latency, a share,
/// a frequency and a power are not.
fn is_sold(figure: &Figure) -> bool {
    figure.unit == Unit::BytesPerSecond || SOLD.contains(&figure.key.as_str())
}

/// Returns a figure per unit of price.
fn per(figure: &Figure, price: f64) -> Figure {
    let spread = |Spread { low, high }| Spread { low: low / price, high: high / price };
    Figure {
        value: figure.value / price,
        parts: figure.parts.iter().map(|part| part / price).collect(),
        spread: figure.spread.map(spread),
        ..figure.clone()
    }
}

/// Reads prices such as `A=2.32,B=2.176`: each names a machine by `A` or `B` or by its name.
///
/// # Errors
/// A sentence that names the word that is wrong, and what could stand there.
pub fn prices(text: &str, names: [&str; 2]) -> Result<[f64; 2], String> {
    let [a, b] = names;
    let own = if a == b { String::new() } else { format!(", or {a} and {b}") };
    let mut found = [None; 2];
    for part in text.split(',').map(str::trim) {
        let pair = part.split_once('=').map(|(word, price)| (word.trim(), price.trim()));
        let (word, price) =
            pair.ok_or_else(|| format!("'{part}' is not a price such as A=2.32"))?;
        let by_name = names.iter().position(|name| *name == word).filter(|_| a != b);
        let place = ["A", "B"].iter().position(|name| *name == word).or(by_name);
        let place = place
            .ok_or_else(|| format!("'{word}' names neither machine: they are A and B{own}"))?;
        let value = price.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
        let value =
            value.ok_or_else(|| format!("'{price}' is not a price: it is a number above 0"))?;
        if found[place].replace(value).is_some() {
            return Err(format!("'{word}' has two prices"));
        }
    }
    match found {
        [Some(a), Some(b)] => Ok([a, b]),
        [a, _] => {
            let name = if a.is_none() { "A" } else { "B" };
            Err(format!("'{text}' has no price of {name}: both machines need one"))
        }
    }
}

/// Two machines side by side: the figures that either has, and the facts in which they differ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// `tiebreak/machine-comparison/1`.
    pub schema: String,
    /// The first machine.
    pub a: Side,
    /// The second machine.
    pub b: Side,
    /// The figures, probe by probe, in the order in which the probes run.
    pub figures: Vec<Compared>,
    /// The facts in which they differ, by key; state (`now_`) apart.
    pub facts: Vec<Difference>,
    /// The rule by which winners are named; absent from older comparisons.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<WinnerRule>,
}

/// A machine is named where an exact rank-sum test of the parts of both prints shows that they
/// differ by more than a factor, and the figures themselves do so too, and by more than parts of
/// either print. The error is shared equally by all rows that might name one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WinnerRule {
    /// The probability that any machine is named wrongly, at most, if two runs on one machine
    /// differ by no more than the factor beyond what parts of one run do.
    pub error: f64,
    /// The factor.
    pub factor: f64,
    /// The rows that share the error.
    pub rows: usize,
}

impl Comparison {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine-comparison/1";
}

/// One of two machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Side {
    /// What it is called in the comparison.
    pub name: String,
    /// Whether its probes had only a short look.
    pub is_quick: bool,
    /// Its price, in whatever both prices are in: an hour's dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<f64>,
}

/// A figure of two machines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// Its key.
    pub key: String,
    /// The same in words.
    pub words: String,
    /// What it counts.
    pub unit: Unit,
    /// Which way is better.
    pub better: Better,
    /// The figures themselves.
    pub values: Beside,
    /// Why no machine can be named, in words; absent where one might be, and of facts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Divided by the price, where both prices are known and it is a thing that is sold by the
    /// hour: CPUs, memory, bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_price: Option<Beside>,
}

/// Two numbers, side by side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Of the first machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// Of the second machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<f64>,
    /// Where the first lay while it was measured, least and greatest; absent where that is not
    /// known, and of a fact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_a: Option<[f64; 2]>,
    /// The same of the second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_b: Option<[f64; 2]>,
    /// `b / a`; absent if either is, or `a` is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// Which machine has the better of the two; absent if none can be named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub winner: Option<Winner>,
}

/// Which of two machines has the better figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Winner {
    /// The first.
    A,
    /// The second.
    B,
    /// Neither is shown to be.
    #[serde(alias = "too-close")]
    NoneShown,
}

/// A fact in which two machines differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Difference {
    /// Its key.
    pub key: String,
    /// What the first machine says; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<Fact>,
    /// What the second machine says; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<Fact>,
}

#[cfg(test)]
mod tests;
