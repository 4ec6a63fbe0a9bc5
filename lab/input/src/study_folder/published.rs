//! Published tables.

use super::contestants::Contestants;
use super::names::unknown;
use super::places::Place;
use super::table::{Table, tables};
use crate::document::keys::{Item, items};
use crate::document::log::Log;
use crate::document::value;
use tiebreak_core::study::{Figure, FigureUnit, Published};
use toml::de::DeValue;

const UNITS: [(&str, FigureUnit); 6] = [
    ("ns/item", FigureUnit::NanosecondsAnItem),
    ("M/s", FigureUnit::MillionsASecond),
    ("GB/s", FigureUnit::GigabytesASecond),
    ("us", FigureUnit::Microseconds),
    ("s", FigureUnit::Seconds),
    ("MB", FigureUnit::Megabytes),
];

/// Reads `[[published]]`.
pub(super) fn published(
    root: &Table<'_>,
    contestants: &Contestants,
    workloads: &[&str],
    log: &mut Log<'_>,
) -> Vec<Published> {
    let names = contestants.names();
    let tables = tables(root, "published", Place::Published, log);
    tables.iter().map(|table| one(table, &names, workloads, log)).collect()
}

fn one(
    table: &Table<'_>,
    contestants: &[&str],
    workloads: &[&str],
    log: &mut Log<'_>,
) -> Published {
    let has_figures = table.get("figures").is_some();
    if !has_figures && table.get("text").is_none() {
        log.error(table.span.clone(), "this published table has no figures and no text").help(
            "write [published.figures.WORKLOAD] with a line CONTESTANT = FIGURE for each, or text",
        );
    }
    let machine = if has_figures {
        table.required_text("machine", "Ice Lake 3.2 GHz, GCC 12", log)
    } else {
        table.text("machine", log)
    };
    let unit =
        if has_figures { table.required("unit", "\"ns/item\"", log) } else { table.get("unit") };
    Published {
        source: table.required_text("source", "AUTHOR, DATE", log),
        machine,
        unit: unit
            .and_then(|item| value::word(item, &UNITS, log))
            .unwrap_or(FigureUnit::NanosecondsAnItem),
        text: table.text("text", log),
        figures: match table.get("figures") {
            Some(item) => figures(item, contestants, workloads, log),
            None => Vec::new(),
        },
    }
}

/// Reads `[published.figures.WORKLOAD]`.
fn figures(
    item: &Item<'_>,
    contestants: &[&str],
    workloads: &[&str],
    log: &mut Log<'_>,
) -> Vec<Figure> {
    let help = "write [published.figures.WORKLOAD] with a line CONTESTANT = FIGURE for each";
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, "a table of workloads", log).help(help);
        return Vec::new();
    };
    let mut figures = Vec::new();
    for workload in items(table) {
        let DeValue::Table(row) = workload.value else {
            value::wrong_type(&workload, "a table of contestants", log).help(help);
            continue;
        };
        if !workloads.contains(&workload.key) {
            unknown(workload.key_span.clone(), "workload", workload.key, workloads, log);
        }
        for cell in items(row) {
            if !contestants.contains(&cell.key) {
                unknown(cell.key_span.clone(), "contestant", cell.key, contestants, log);
            }
            if let Some(value) = figure(&cell, log) {
                let (workload, contestant) = (workload.key.to_owned(), cell.key.to_owned());
                figures.push(Figure { workload, contestant, value });
            }
        }
    }
    figures
}

/// Reads a number above 0.
fn figure(item: &Item<'_>, log: &mut Log<'_>) -> Option<f64> {
    let number: Option<f64> = match item.value {
        DeValue::Integer(integer) => {
            u64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|value| value as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => {
            value::wrong_type(item, "a number above 0", log);
            return None;
        }
    };
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    if number.is_none() {
        value::wrong(item, "a number above 0", log);
    }
    number
}
