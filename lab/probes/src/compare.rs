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
/// What is sold by the hour beside bandwidth.
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

/// Sets two machines side by side: every figure that either has, `b` over `a`, and, if both have a
/// price, what is sold by the hour divided by it. [`WinnerRule`] says which machine is named.
pub fn compare(a: Named<'_>, b: Named<'_>) -> Comparison {
    let prices = a.price.zip(b.price);
    let [of_a, of_b] = [a, b].map(|side| figures(side.print));
    let of = |all: &[Figure], key: &str| all.iter().find(|other| other.key == key).cloned();
    let both = merged(&of_a, &of_b).into_iter();
    let both: Vec<(&Figure, _)> =
        both.map(|one| (one, [&of_a, &of_b].map(|all| of(all, &one.key)))).collect();
    let is_priced = |figure: &Figure| prices.is_some() && is_sold(figure);
    let rows = |(figure, sides): &(&Figure, [Option<Figure>; 2])| {
        let might = figure.better != Better::Neither && sides.iter().all(Option::is_some);
        usize::from(might) * (1 + usize::from(is_priced(figure)))
    };
    let rule = WinnerRule { error: ERROR, factor: BETWEEN_RUNS, rows: both.iter().map(rows).sum() };
    let compared = |(figure, sides): &(&Figure, [Option<Figure>; 2])| {
        let why = why(figure, sides, [&of_a, &of_b], &rule);
        let beside = |sides: &[Option<Figure>; 2]| {
            beside(sides, figure.better, why.is_none().then_some(&rule))
        };
        let priced = prices.filter(|_| is_sold(figure)).map(|prices| per_price(sides, prices));
        Compared {
            key: figure.key.clone(),
            words: figure.words.clone(),
            unit: figure.unit,
            better: figure.better,
            values: beside(sides),
            per_price: priced.map(|sides| beside(&sides)),
            why: why.clone(),
        }
    };
    Comparison {
        schema: Comparison::SCHEMA.to_owned(),
        figures: both.iter().map(compared).collect(),
        facts: differences(a.print, b.print),
        rule: (rule.rows > 0).then_some(rule),
        a: side(a),
        b: side(b),
    }
}

fn side(named: Named<'_>) -> Side {
    let Named { print, name, price } = named;
    Side { name: name.to_owned(), is_quick: print.is_quick, price }
}

/// The figures of a print, with what the rest of it says against some of them.
fn figures(print: &MachinePrint) -> Vec<Figure> {
    let busy = match print.noise.as_ref().and_then(Probed::value) {
        Some(noise) => noise.busy_share().map(|share| {
            let percent = share * 100.0;
            format!("{percent:.0}% of CPU time was lost to other work meanwhile")
        }),
        None => Some(NO_NOISE.to_owned()),
    };
    let is_short = print.cores.as_ref().and_then(Probed::value).is_none_or(|one| one.is_short_look);
    let is_moved = print.machine.is_guest() && is_short;
    let placed = "a short look sees one of the placements between which a hypervisor moves CPUs";
    let doubted = |figure: Figure| {
        let placed = (is_moved && figure.key.starts_with("cores-")).then(|| placed.to_owned());
        let doubt = figure.doubt.clone().or_else(|| busy.clone()).or(placed);
        Figure { doubt, ..figure }
    };
    print.figures().into_iter().map(doubted).collect()
}

/// The figures of both, each once: those of the second stand where they do there.
fn merged<'a>(of_a: &'a [Figure], of_b: &'a [Figure]) -> Vec<&'a Figure> {
    let mut all: Vec<&Figure> = of_a.iter().collect();
    for (index, figure) in of_b.iter().enumerate() {
        if all.iter().any(|other| other.key == figure.key) {
            continue;
        }
        let before = of_b[..index].iter().rev();
        let place = before.filter_map(|near| all.iter().position(|one| one.key == near.key)).next();
        all.insert(place.map_or(0, |place| place + 1), figure);
    }
    all
}

/// Why a figure can name no machine; `None` of a fact too, and where one side was not looked at.
fn why(
    figure: &Figure,
    sides: &[Option<Figure>; 2],
    all: [&[Figure]; 2],
    rule: &WinnerRule,
) -> Option<String> {
    if figure.better == Better::Neither {
        return None;
    }
    let is_level = |figure: &Figure| figure.key.starts_with("latency-");
    let of_side = |place: usize| match &sides[place] {
        Some(found) if found.doubt.is_some() => found.doubt.clone(),
        Some(found) if found.parts.is_empty() => {
            Some("the print holds no repeated measurements of it".to_owned())
        }
        Some(_) => None,
        None => (is_level(figure) && all[place].iter().any(is_level))
            .then(|| "no such level found".to_owned()),
    };
    let told = match [of_side(0), of_side(1)] {
        [Some(a), Some(b)] if a == b => Some(format!("A and B: {a}")),
        [a, b] => {
            let sides = [("A", a), ("B", b)].into_iter();
            let said = sides.filter_map(|(name, why)| Some(format!("{name}: {}", why?)));
            Some(said.collect::<Vec<_>>().join("; ")).filter(|said| !said.is_empty())
        }
    };
    told.or_else(|| {
        let [a, b] = [sides[0].as_ref()?, sides[1].as_ref()?].map(|side| side.parts.len());
        let least = chance_above(&vec![2.0; a], &vec![1.0; b], 1.0);
        (least > one_sided(rule)).then(|| format!("{a} and {b} repeated measurements are too few"))
    })
}

/// The error of one row in one direction.
fn one_sided(rule: &WinnerRule) -> f64 {
    rule.error / rule.rows.max(1) as f64 / 2.0
}

/// Two numbers beside each other; a machine is named by the rule, where there is one.
fn beside(sides: &[Option<Figure>; 2], better: Better, rule: Option<&WinnerRule>) -> Beside {
    let [a, b] = [sides[0].as_ref(), sides[1].as_ref()];
    let value = |side: Option<&Figure>| side.map(|figure| figure.value);
    let spread = |side: Option<&Figure>| {
        let spread = side.and_then(|figure| figure.spread).filter(|spread| !spread.is_exact());
        spread.map(|spread| [spread.low, spread.high])
    };
    let ratio = value(a).zip(value(b)).map(|(a, b)| b / a);
    let ratio = ratio.filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    // How far a machine's own measurements lie apart: so far may it be from itself in a minute.
    let apart = |figure: &Figure| figure.spread.map_or(1.0, |spread| spread.high / spread.low);
    // What is printed must say the same as what is proven.
    let is_above = |rule: &WinnerRule, above: &Figure, below: &Figure| {
        let least = rule.factor.max(apart(above)).max(apart(below));
        above.value > least * below.value
            && chance_above(&above.parts, &below.parts, rule.factor) <= one_sided(rule)
    };
    let named = |rule: &WinnerRule| {
        let (a, b) = (a?, b?);
        Some(match (is_above(rule, a, b), is_above(rule, b, a), better) {
            (_, _, Better::Neither) => return None,
            (true, false, Better::Higher) | (false, true, Better::Lower) => Winner::A,
            (false, true, Better::Higher) | (true, false, Better::Lower) => Winner::B,
            _ => Winner::TooClose,
        })
    };
    let winner = rule.filter(|_| ratio.is_some()).and_then(named);
    Beside { a: value(a), b: value(b), spread_a: spread(a), spread_b: spread(b), ratio, winner }
}

/// Whether it is sold by the hour: CPUs, memory and what goes through it are; a latency, a share,
/// a frequency and a power are not.
fn is_sold(figure: &Figure) -> bool {
    figure.unit == Unit::BytesPerSecond || SOLD.contains(&figure.key.as_str())
}

fn per_price(sides: &[Option<Figure>; 2], prices: (f64, f64)) -> [Option<Figure>; 2] {
    let divided = |side: &Option<Figure>, price: f64| {
        let mut figure = side.clone()?;
        figure.value /= price;
        figure.parts.iter_mut().for_each(|part| *part /= price);
        let each = |one: Spread| Spread { low: one.low / price, high: one.high / price };
        figure.spread = figure.spread.map(each);
        Some(figure)
    };
    [divided(&sides[0], prices.0), divided(&sides[1], prices.1)]
}

fn differences(a: &MachinePrint, b: &MachinePrint) -> Vec<Difference> {
    let of = |print: &MachinePrint, key: &str| print.machine.0.get(key).cloned();
    let keys = a.machine.differences(&b.machine).into_iter();
    keys.map(|key| Difference { a: of(a, &key), b: of(b, &key), key }).collect()
}

/// Reads prices such as `A=2.32,B=2.176`: each names a machine by `A` or `B` or by its name.
///
/// # Errors
/// A sentence that names the word that is wrong, and what could stand there.
pub fn prices(text: &str, names: [&str; 2]) -> Result<[f64; 2], String> {
    let known = |word: &str| match word {
        "A" => Some(0),
        "B" => Some(1),
        word if names[0] != names[1] => names.iter().position(|name| *name == word),
        _ => None,
    };
    let mut found = [None; 2];
    for part in text.split(',').map(str::trim) {
        let Some((word, price)) = part.split_once('=') else {
            return Err(format!("'{part}' is not a price such as A=2.32"));
        };
        let Some(place) = known(word.trim()) else {
            let [a, b] = names;
            let others = if a == b { String::new() } else { format!(", or {a} and {b}") };
            let word = word.trim();
            return Err(format!("'{word}' names neither machine: they are A and B{others}"));
        };
        let price = price.trim();
        let value = price.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
        let value =
            value.ok_or_else(|| format!("'{price}' is not a price: it is a number above 0"));
        if found[place].replace(value?).is_some() {
            return Err(format!("'{}' has two prices", word.trim()));
        }
    }
    let lacks = |name| format!("'{text}' has no price of {name}: both machines need one");
    Ok([found[0].ok_or_else(|| lacks("A"))?, found[1].ok_or_else(|| lacks("B"))?])
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

/// Two numbers beside each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Beside {
    /// Of the first machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub a: Option<f64>,
    /// Of the second machine; absent if it was not measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub b: Option<f64>,
    /// Where the first lay while it was measured, least and greatest; absent where nobody knows,
    /// and of a fact.
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
    TooClose,
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
