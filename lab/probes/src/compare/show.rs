//! Two machines side by side.

use super::{Beside, Compared, Comparison, Side, Winner, WinnerRule};
use crate::show::*;
use crate::{Better, Unit};
use tiebreak_core::metric;
use tiebreak_report::fact;
use tiebreak_report::look::letters;
use tiebreak_report::number::{Scale, ratio_decimals};
use tiebreak_report::table::GAP;
use tiebreak_report::text::wrap;
use unicode_width::UnicodeWidthStr;

/// The longest name of a machine at the head of a column.
const NAME: usize = 12;

/// Returns the comparison as JSON, with a line feed at its end.
pub fn comparison_json(comparison: &Comparison) -> String {
    tiebreak_report::json::text(comparison)
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
        let rows = comparison.figures.iter().map(|figure| (figure, figure.values));
        text += &table(&rows.collect::<Vec<_>>(), &names, look);
    }
    let priced = comparison.figures.iter().filter_map(|figure| Some((figure, figure.per_price?)));
    let priced: Vec<_> = priced.collect();
    if !priced.is_empty() {
        text += "\nPer unit of price, what is sold:\n";
        text += &table(&priced, &names, look);
    }
    text += "\n";
    text += &unnamed(comparison, look);
    text += &differences(comparison, look);
    if !comparison.figures.is_empty() {
        text += "\n";
        text += &footer(comparison, look);
    }
    text
}

/// Returns why no machine can be named by some figures, a reason each.
fn unnamed(comparison: &Comparison, look: &Look) -> String {
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for figure in &comparison.figures {
        let Some(why) = figure.why.as_deref() else { continue };
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, rows)) => rows.push(&figure.words),
            None => reasons.push((why, vec![&figure.words])),
        }
    }
    if reasons.is_empty() {
        return String::new();
    }
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Plain, "No machine can be named by:")]);
    for (why, rows) in reasons {
        let more = rows.len().saturating_sub(ROWS_SHOWN);
        let rest = if more > 0 { format!(" and {more} more") } else { String::new() };
        let texts: Vec<String> = rows.iter().take(ROWS_SHOWN).map(|row| plain(row)).collect();
        let said = format!("{}{rest}: ", texts.join("; "));
        page.labelled("  ", &[span(Tone::Plain, said), span(Tone::Dim, plain(why))]);
    }
    page.gap();
    page.finish()
}

/// Figures that a reason names.
const ROWS_SHOWN: usize = 3;

/// By which rule a machine is named.
fn footer(comparison: &Comparison, look: &Look) -> String {
    let Some(WinnerRule { error, factor, rows }) = comparison.rule else {
        return paragraph(Tone::Dim, "No figure of both can name a better machine.", look);
    };
    let (distance, error) = (spread_title(look), percent(error, Rounding::Nearest));
    let words = format!(
        "The better one is named where the parts of both prints, whose distance from the figure is \
         {distance}, prove more than {factor}x (exact rank-sum test), and the figures lie further \
         apart than the parts of either: wrong in any of the {rows} rows with probability at most \
         {error}, if runs on one machine differ by no more than that beyond their parts."
    );
    paragraph(Tone::Dim, words, look)
}

/// Returns the head of a column of spreads.
fn spread_title(look: &Look) -> &'static str {
    if look.unicode { "\u{b1}" } else { "+-" }
}

/// `here (a short look), price 2.32`.
fn described(side: &Side) -> String {
    let quick = if side.is_quick { " (a short look)" } else { "" };
    let price = side.price.map(|price| format!(", price {price}")).unwrap_or_default();
    format!("{}{quick}{price}", plain(&side.name))
}

/// Returns what stands at the heads of columns: the names, or A and B where they are alike or long.
fn names(comparison: &Comparison) -> [String; 2] {
    let names = [&comparison.a.name, &comparison.b.name].map(|name| plain(name));
    let usable = names[0] != names[1] && names.iter().all(|name| name.len() <= NAME);
    if usable { names } else { ["A".to_owned(), "B".to_owned()] }
}

fn table(rows: &[(&Compared, Beside)], names: &[String; 2], look: &Look) -> String {
    let mut columns = Table::of(rows)
        .right(&names[0], 0, |(figure, beside)| or_dash(beside.a, |a| written(a, figure.unit)))
        .right(spread_title(look), 3, |(figure, beside)| {
            spread(beside.a, beside.spread_a, figure.better)
        })
        .right(&names[1], 0, |(figure, beside)| or_dash(beside.b, |b| written(b, figure.unit)))
        .right(spread_title(look), 3, |(figure, beside)| {
            spread(beside.b, beside.spread_b, figure.better)
        })
        .decimal("ratio", 1, |(_, beside)| {
            let decimals = ratio_decimals(beside.ratio, [None; 2]).min(3);
            or_dash(beside.ratio, |value| ratio(value, decimals, Rounding::Nearest))
        })
        .left("better", 2, |(figure, beside)| match beside.winner {
            Some(Winner::A) => &names[0],
            Some(Winner::B) => &names[1],
            Some(Winner::NoneShown) => "none shown",
            None if figure.better == Better::Neither => "",
            None => "-",
        })
        .columns();
    let widths = columns.iter().map(|column| {
        let cells = column.cells.iter().chain([&column.title]);
        GAP + cells.map(|cell| cell.width()).max().unwrap_or(0)
    });
    let room = look.columns().saturating_sub(widths.sum()).max(16);
    let words: Vec<Vec<String>> = rows.iter().map(|row| broken(&row.0.words, room)).collect();
    for column in &mut columns {
        let cells = std::mem::take(&mut column.cells).into_iter().zip(&words);
        let cells = cells.flat_map(|(cell, lines)| {
            std::iter::once(cell).chain(vec![String::new(); lines.len() - 1])
        });
        column.cells = cells.collect();
    }
    columns.insert(0, Column::new("figure", Align::Left, words.concat()));
    render(columns, look)
}

/// Returns a row's words, broken into lines: cut in the middle, rows could not be distinguished.
fn broken(words: &str, room: usize) -> Vec<String> {
    let lines = wrap(&[span(Tone::Plain, plain(words))], room);
    lines.iter().map(|line| letters(line)).collect()
}

/// Writes how far the farther of the least and the greatest part lies from the value, as a share
/// of it: `3%`, `>10x`; a dash if that is not known, and nothing of a fact.
fn spread(value: Option<f64>, ends: Option<[f64; 2]>, better: Better) -> String {
    let Some((value, [low, high])) = value.zip(ends) else {
        return if better == Better::Neither { String::new() } else { "-".to_owned() };
    };
    let share = (high / value - 1.0).max(1.0 - low / value);
    match share {
        share if !share.is_finite() || share > 10.0 => ">10x".to_owned(),
        share if share < 0.0095 => format!("{:.1}%", share.max(0.0) * 100.0),
        share => format!("{:.0}%", share * 100.0),
    }
}

/// `7.751 GiB`, `32.1 GB/s`, `3.5 GHz`, `12%`.
fn written(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Nanoseconds => Scale::of(metric::Unit::Nanoseconds, value).write(value),
        Unit::Bytes => Scale::of(metric::Unit::Bytes, value).write(value),
        Unit::Count if value == value.trunc() => format!("{value:.0}"),
        Unit::Count => Scale::of(metric::Unit::Count, value).write(value),
        Unit::BytesPerSecond => decimal(value, "B/s"),
        Unit::Hertz => decimal(value, "Hz"),
        Unit::Watts => format!("{value:.2} W"),
        Unit::Share => percent(value, Rounding::Nearest),
    }
}

/// In powers of 1000, as rates are written: `34.9 GB/s`.
fn decimal(value: f64, unit: &str) -> String {
    let steps = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    let step = steps.iter().find(|(size, _)| value.abs() >= *size);
    let (size, letter) = step.copied().unwrap_or((1.0, ""));
    format!("{:.2} {letter}{unit}", value / size)
}

/// Facts that differ, a paragraph each: they may be long.
fn differences(comparison: &Comparison, look: &Look) -> String {
    if comparison.facts.is_empty() {
        return paragraph(Tone::Plain, "The machines differ in no fact that they tell.", look);
    }
    let mut page = Page::new(*look);
    page.paragraph("", &[span(Tone::Plain, "They differ in:")]);
    for fact in &comparison.facts {
        let [a, b] = [&fact.a, &fact.b].map(|side| {
            side.as_ref().map_or("not known".to_owned(), |text| fact::value(&fact.key, text))
        });
        let name = fact.a.as_ref().or(fact.b.as_ref()).map(|one| fact::name(&fact.key, one));
        let name = format!("{}: ", name.unwrap_or_default());
        page.labelled("  ", &[span(Tone::Dim, name), span(Tone::Plain, format!("A {a}; B {b}"))]);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::Difference;
    use tiebreak_core::fingerprint::Fact;

    const LOOK: Look = Look { width: 80, color: false, unicode: true };

    fn made_up(priced: bool) -> Comparison {
        let beside = |a: f64, b: Option<f64>, winner| Beside {
            a: Some(a),
            b,
            ratio: b.map(|b| b / a),
            winner,
            ..Beside::default()
        };
        let spread = |all: Beside| Beside {
            spread_a: all.a.map(|a| [0.94 * a, 1.02 * a]),
            spread_b: all.b.map(|b| [0.999 * b, 1.004 * b]),
            ..all
        };
        let figure = |words: &str, unit, better, values: Beside, per_price: Option<Beside>| {
            let (key, words) = (words.to_owned(), words.to_owned());
            let per_price = per_price.filter(|_| priced);
            Compared { key, words, unit, better, values, per_price, why: None }
        };
        let side = |name: &str, price: f64| Side {
            name: name.to_owned(),
            is_quick: price > 2.2,
            price: priced.then_some(price),
        };
        let (fact, ns) = (Better::Neither, Unit::Nanoseconds);
        let cpus = Some(beside(29.41, Some(13.79), None));
        let many = beside(64.0, Some(32.0), None);
        let mut figures = vec![
            figure("CPUs that may be used", Unit::Count, fact, many, cpus),
            figure("sockets", Unit::Count, fact, beside(1.0, Some(2.0), None), None),
            figure("core to core", ns, Better::Lower, beside(60.0, Some(130.6), None), None),
            figure(
                "load latency, L2",
                ns,
                Better::Lower,
                spread(beside(3.5, Some(3.6), Some(Winner::NoneShown))),
                None,
            ),
            figure("load latency, L3", ns, Better::Lower, spread(beside(13.7, None, None)), None),
            figure(
                "read bandwidth, one thread",
                Unit::BytesPerSecond,
                Better::Higher,
                spread(beside(12.3e9, Some(34.9e9), Some(Winner::B))),
                Some(spread(beside(5.65e9, Some(15.04e9), Some(Winner::B)))),
            ),
        ];
        figures.extend(["nearest", "farthest"].map(|end| Compared {
            words: format!("core to core, two lines, {end} pair"),
            values: spread(beside(60.0, Some(130.6), None)),
            ..figures[2].clone()
        }));
        figures[2].why = Some("A: the print holds no repeated measurements of it".to_owned());
        figures[4].why = Some("B: no such level found".to_owned());
        Comparison {
            schema: Comparison::SCHEMA.to_owned(),
            a: side("c6g", 2.176),
            b: side("c7g", 2.32),
            figures,
            facts: vec![
                Difference {
                    key: "cpu_model".to_owned(),
                    a: Some(Fact::Text("Neoverse-N1".to_owned())),
                    b: Some(Fact::Text("Neoverse-V1".to_owned())),
                },
                Difference { key: "l3_bytes".to_owned(), a: Some(Fact::Number(32 << 20)), b: None },
            ],
            rule: Some(WinnerRule { error: 0.01, factor: 1.2, rows: 4 }),
        }
    }

    #[test]
    fn comparisons_read_well() {
        insta::assert_snapshot!("priced", comparison(&made_up(true), &LOOK));
        let mut empty = made_up(false);
        empty.figures.clear();
        empty.facts.clear();
        empty.rule = None;
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
