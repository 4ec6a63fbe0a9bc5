//! Two machines side by side.

use std::collections::BTreeMap;
use tiebreak_core::machine::{
    Beside, Better, Compared, Comparison, Difference, Figure, MachinePrint, Side, Spread, Unit,
    Winner,
};

/// Of what was measured, the larger figure must be more than so many times the smaller one: probes
/// move by 5% to 30% from run to run, also where a spread, which is that of one run, is narrow.
const BETWEEN_RUNS: f64 = 4.0 / 3.0;

/// A number with its spread, if that is known.
type Ranged = (f64, Option<Spread>);

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
/// price, the same per unit of price.
pub fn compare(a: Named<'_>, b: Named<'_>) -> Comparison {
    let prices = a.price.zip(b.price);
    let [of_a, of_b] = [a, b].map(|side| side.print.figures());
    let value = |figures: &[Figure], key: &str| {
        let found = figures.iter().find(|figure| figure.key == key);
        found.map(|figure| (figure.value, figure.spread))
    };
    let compared = |figure: &Figure| {
        let values = [value(&of_a, &figure.key), value(&of_b, &figure.key)];
        Compared {
            key: figure.key.clone(),
            words: figure.words.clone(),
            unit: figure.unit,
            better: figure.better,
            values: beside(values, figure.better),
            per_price: prices
                .filter(|_| is_sold(figure.unit))
                .and_then(|prices| per_price(values, prices, figure.better)),
        }
    };
    Comparison {
        schema: Comparison::SCHEMA.to_owned(),
        figures: merged(&of_a, &of_b).into_iter().map(compared).collect(),
        facts: differences(a.print, b.print),
        a: side(a),
        b: side(b),
    }
}

fn side(named: Named<'_>) -> Side {
    let Named { print, name, price } = named;
    Side { name: name.to_owned(), is_quick: print.is_quick, price }
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

fn beside(sides: [Option<Ranged>; 2], better: Better) -> Beside {
    let [a, b] = sides.map(|side| side.map(|(value, _)| value));
    let [spread_a, spread_b] = sides.map(|side| side.and_then(|(_, spread)| spread));
    let ratio = a.zip(b).map(|(a, b)| b / a).filter(|ratio| ratio.is_finite() && *ratio > 0.0);
    let winner = ratio.and_then(|ratio| match better {
        Better::Neither => None,
        _ if !is_clear(ratio, spread_a.zip(spread_b)) => Some(Winner::TooClose),
        Better::Higher => Some(if ratio > 1.0 { Winner::B } else { Winner::A }),
        Better::Lower => Some(if ratio < 1.0 { Winner::B } else { Winner::A }),
    });
    Beside { a, b, ratio, winner }
}

/// Whether a ratio is more than what these figures move by anyway. A number without a spread shows
/// nothing.
fn is_clear(ratio: f64, spreads: Option<(Spread, Spread)>) -> bool {
    let times = ratio.max(1.0 / ratio);
    match spreads {
        Some((a, b)) if a.is_exact() && b.is_exact() => a != b,
        Some((a, b)) => !a.overlaps(b) && times > BETWEEN_RUNS,
        None => false,
    }
}

/// Whether a price can be set against it: throughput, time and things are paid for; a share, a
/// frequency and a power are not.
fn is_sold(unit: Unit) -> bool {
    !matches!(unit, Unit::Share | Unit::Hertz | Unit::Watts)
}

fn per_price(values: [Option<Ranged>; 2], prices: (f64, f64), better: Better) -> Option<Beside> {
    let of = |side: Option<Ranged>, price: f64| {
        let times =
            |value: f64| if better == Better::Lower { value * price } else { value / price };
        let all = |one: Spread| Spread { low: times(one.low), high: times(one.high) };
        side.map(|(value, spread)| (times(value), spread.map(all)))
    };
    let [a, b] = values;
    (better != Better::Neither).then(|| beside([of(a, prices.0), of(b, prices.1)], better))
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
    let mut found = BTreeMap::new();
    for part in text.split(',').map(str::trim) {
        let Some((word, price)) = part.split_once('=') else {
            return Err(format!("'{part}' is not a price such as A=2.32"));
        };
        let Some(place) = known(word.trim()) else {
            let others = if names[0] == names[1] {
                String::new()
            } else {
                format!(", or {} and {}", names[0], names[1])
            };
            return Err(format!(
                "'{}' names neither machine: they are A and B{others}",
                word.trim()
            ));
        };
        let price = price.trim();
        let value = price.parse().ok().filter(|value: &f64| value.is_finite() && *value > 0.0);
        let Some(value) = value else {
            return Err(format!("'{price}' is not a price: it is a number above 0"));
        };
        if found.insert(place, value).is_some() {
            return Err(format!("'{}' has two prices", word.trim()));
        }
    }
    match (found.get(&0), found.get(&1)) {
        (Some(a), Some(b)) => Ok([*a, *b]),
        (None, _) => Err(format!("'{text}' has no price of A: both machines need one")),
        (_, None) => Err(format!("'{text}' has no price of B: both machines need one")),
    }
}

#[cfg(test)]
mod tests;
