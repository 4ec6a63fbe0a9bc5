//! Two machines side by side.

use super::facts;
use crate::look::{Look, Tone, span};
use crate::number::{Rounding, Scale, ratio, ratio_decimals};
use crate::page::Page;
use crate::table::{Align, Column, render};
use crate::text::{plain, shorten_middle};
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::machine::{Beside, Better, Compared, Comparison, Side, Unit, Winner};
use tiebreak_core::metric;

/// The longest name of a machine at the head of a column.
const NAME: usize = 14;

/// The comparison as JSON, with a line feed at its end.
pub fn comparison_json(comparison: &Comparison) -> String {
    serde_json::to_string_pretty(comparison).unwrap_or_default() + "\n"
}

/// Figures of both machines with their ratios, the same per unit of price if both have a price, and
/// the facts in which they differ.
pub fn comparison(comparison: &Comparison, look: &Look) -> String {
    let mut page = Page::new(*look);
    let names = names(comparison);
    let [a, b] = [&comparison.a, &comparison.b].map(described);
    page.paragraph("A: ", &[span(Tone::Strong, a)]);
    page.paragraph("B: ", &[span(Tone::Strong, b)]);
    page.paragraph("", &[span(Tone::Dim, "Ratios are B over A.")]);
    page.gap();
    let mut text = page.finish();
    if comparison.figures.is_empty() {
        text += "Neither print holds a figure.\n";
    } else {
        text += &figures(comparison, &names, look);
    }
    if comparison.figures.iter().any(|figure| figure.per_price.is_some()) {
        text += "\nPer unit of price: what a machine gives, divided by its price; what something \
                 costs, times the price.\n";
        text = wrapped(text, look);
        text += &priced(comparison, &names, look);
    }
    text += "\n";
    text += &differences(comparison, look);
    if !comparison.figures.is_empty() {
        text += "\n";
        text += &footer(look);
    }
    text
}

/// What a winner here is worth.
fn footer(look: &Look) -> String {
    let mut page = Page::new(*look);
    let words = "These figures promise no error: two prints are not a race. A machine is named as \
                 the better one where what was measured differs by more than a third and does not \
                 overlap, and where a count that it tells differs. For a verdict: \
                 tiebreak compare, or a study.";
    page.paragraph("", &[span(Tone::Dim, words)]);
    page.finish()
}

/// Long lines of prose made to fit; tables fit already.
fn wrapped(text: String, look: &Look) -> String {
    let Some((head, last)) = text.trim_end().rsplit_once('\n') else { return text };
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Dim, last)]);
    format!("{head}\n{}", page.finish())
}

/// `here (a short look), price 2.32`.
fn described(side: &Side) -> String {
    let quick = if side.is_quick { " (a short look)" } else { "" };
    let price = side.price.map(|price| format!(", price {price}")).unwrap_or_default();
    format!("{}{quick}{price}", plain(&side.name))
}

/// What stands at the heads of columns: the names, or A and B where they are alike or long.
fn names(comparison: &Comparison) -> [String; 2] {
    let names = [&comparison.a.name, &comparison.b.name].map(|name| plain(name));
    let usable = names[0] != names[1] && names.iter().all(|name| name.len() <= NAME);
    if usable { names } else { ["A".to_owned(), "B".to_owned()] }
}

fn figures(comparison: &Comparison, names: &[String; 2], look: &Look) -> String {
    let rows = comparison.figures.iter().map(|figure| (figure, figure.values));
    table(&rows.collect::<Vec<_>>(), names, look)
}

fn priced(comparison: &Comparison, names: &[String; 2], look: &Look) -> String {
    let rows = comparison.figures.iter().filter_map(|figure| Some((figure, figure.per_price?)));
    table(&rows.collect::<Vec<_>>(), names, look)
}

fn table(rows: &[(&Compared, Beside)], names: &[String; 2], look: &Look) -> String {
    let cell = |value: Option<f64>, unit| value.map_or("-".to_owned(), |v| written(v, unit));
    let values = rows.iter().map(|(f, beside)| [cell(beside.a, f.unit), cell(beside.b, f.unit)]);
    let values: Vec<[String; 2]> = values.collect();
    let side = |place: usize| values.iter().map(|pair| pair[place].clone()).collect();
    let times = |beside: &Beside| match beside.ratio {
        Some(value) => {
            ratio(value, ratio_decimals(Some(value), [None; 2]).min(3), Rounding::Nearest)
        }
        None => "-".to_owned(),
    };
    let better = |(figure, beside): &(&Compared, Beside)| match beside.winner {
        Some(Winner::A) => names[0].clone(),
        Some(Winner::B) => names[1].clone(),
        Some(Winner::TooClose) => "none shown".to_owned(),
        None if figure.better == Better::Neither => String::new(),
        None => "-".to_owned(),
    };
    // What the other columns need.
    let room = look.columns().saturating_sub(46).max(16);
    let words = rows.iter().map(|(figure, _)| shorten_middle(&figure.words, room, *look));
    let columns = vec![
        Column::new("figure", Align::Left, words.collect()),
        Column::new(&names[0], Align::Right, side(0)),
        Column::new(&names[1], Align::Right, side(1)),
        Column::new("ratio", Align::Decimal, rows.iter().map(|(_, b)| times(b)).collect()).rank(1),
        Column::new("better", Align::Left, rows.iter().map(better).collect()).rank(2),
    ];
    render(columns, look)
}

/// `7.751 GiB`, `32.1 GB/s`, `3.5 GHz`, `12.5%`.
fn written(value: f64, unit: Unit) -> String {
    let scaled = |unit: metric::Unit| Scale::of(unit, value).write(value);
    match unit {
        Unit::Nanoseconds => scaled(metric::Unit::Nanoseconds),
        Unit::Bytes => scaled(metric::Unit::Bytes),
        Unit::Count if value == value.trunc() => format!("{value:.0}"),
        Unit::Count => scaled(metric::Unit::Count),
        Unit::BytesPerSecond => decimal(value, "B/s"),
        Unit::Hertz => decimal(value, "Hz"),
        Unit::Watts => format!("{value:.2} W"),
        Unit::Share => format!("{:.2} %", value * 100.0),
    }
}

/// In powers of 1000, as rates are told: `34.9 GB/s`.
fn decimal(value: f64, unit: &str) -> String {
    let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = steps.iter().find(|(size, _)| value.abs() >= *size);
    let (size, letter) = step.copied().unwrap_or((1.0, ""));
    format!("{:.2} {letter}{unit}", value / size)
}

/// Facts that differ, a paragraph each: they may be long.
fn differences(comparison: &Comparison, look: &Look) -> String {
    let mut page = Page::new(*look);
    if comparison.facts.is_empty() {
        page.paragraph("", &[span(Tone::Plain, "The machines differ in no fact that they tell.")]);
        return page.finish();
    }
    page.paragraph("", &[span(Tone::Plain, "They differ in:")]);
    for fact in &comparison.facts {
        let text = |side: &Option<Fact>| {
            side.as_ref().map_or("not told".to_owned(), |said| facts::value(&fact.key, said))
        };
        let name = fact.a.as_ref().or(fact.b.as_ref()).map(|one| facts::name(&fact.key, one));
        let name = format!("{}: ", name.unwrap_or_default());
        page.labelled(
            "  ",
            &[
                span(Tone::Dim, name),
                span(Tone::Plain, format!("A {}; B {}", text(&fact.a), text(&fact.b))),
            ],
        );
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::machine::Difference;
    use unicode_width::UnicodeWidthStr;

    const LOOK: Look = Look { width: 80, color: false, unicode: true };

    fn made_up(priced: bool) -> Comparison {
        let beside = |a: f64, b: Option<f64>, winner| Beside {
            a: Some(a),
            b,
            ratio: b.map(|b| b / a),
            winner,
        };
        let figure = |words: &str, unit, better, values: Beside, per_price: Option<Beside>| {
            let per_price = per_price.filter(|_| priced);
            Compared {
                key: words.to_owned(),
                words: words.to_owned(),
                unit,
                better,
                values,
                per_price,
            }
        };
        let side = |name: &str, price: f64| Side {
            name: name.to_owned(),
            is_quick: price > 2.2,
            price: priced.then_some(price),
        };
        let (higher, lower) = (Better::Higher, Better::Lower);
        Comparison {
            schema: Comparison::SCHEMA.to_owned(),
            a: side("c6g", 2.176),
            b: side("c7g", 2.32),
            figures: vec![
                figure(
                    "CPUs that may be used",
                    Unit::Count,
                    higher,
                    beside(64.0, Some(64.0), Some(Winner::TooClose)),
                    Some(beside(29.41, Some(27.59), Some(Winner::A))),
                ),
                figure("sockets", Unit::Count, Better::Neither, beside(1.0, Some(2.0), None), None),
                figure(
                    "read bandwidth, one thread",
                    Unit::BytesPerSecond,
                    higher,
                    beside(12.3e9, Some(34.9e9), Some(Winner::B)),
                    Some(beside(5.65e9, Some(15.04e9), Some(Winner::B))),
                ),
                figure(
                    "core to core, lowest mode",
                    Unit::Nanoseconds,
                    lower,
                    beside(60.0, None, None),
                    Some(beside(130.6, None, None)),
                ),
                figure(
                    "memory",
                    Unit::Bytes,
                    higher,
                    beside(1e11, Some(1e11), Some(Winner::TooClose)),
                    None,
                ),
            ],
            facts: vec![
                Difference {
                    key: "cpu_model".to_owned(),
                    a: Some(Fact::Text("Neoverse-N1".to_owned())),
                    b: Some(Fact::Text("Neoverse-V1".to_owned())),
                },
                Difference { key: "l3_bytes".to_owned(), a: Some(Fact::Number(32 << 20)), b: None },
            ],
        }
    }

    #[test]
    fn comparisons_read_well() {
        insta::assert_snapshot!("priced", comparison(&made_up(true), &LOOK));
        let mut empty = made_up(false);
        empty.figures.clear();
        empty.facts.clear();
        empty.b.name = empty.a.name.clone();
        insta::assert_snapshot!("nothing_to_compare", comparison(&empty, &LOOK));
        for width in [40, 60, 100] {
            let look = Look { width, ..LOOK };
            for line in comparison(&made_up(true), &look).lines() {
                assert!(line.width() <= width, "{line}");
            }
        }
    }

    #[test]
    fn json_holds_everything() {
        let made_up = made_up(true);
        let text = comparison_json(&made_up);
        assert_eq!(serde_json::from_str::<Comparison>(&text).unwrap(), made_up);
    }
}
