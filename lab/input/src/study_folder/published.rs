//! Published tables.

use super::contestants::Contestants;
use super::names::unknown;
use super::tables;
use crate::document::{Item, Log, Table, items};
use tiebreak_core::study::{Figure, FigureUnit, Published};
use toml::de::DeValue;

/// Reads `[[published]]`.
pub(super) fn published(
    root: &Table<'_>,
    contestants: &Contestants,
    workloads: &[&str],
    log: &mut Log<'_>,
) -> Vec<Published> {
    let names = contestants.names();
    let tables = tables(root, "published", log);
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
    let machine =
        if has_figures { table.required_text("machine", log) } else { table.note("machine", log) };
    let unit = if has_figures { table.required("unit", log) } else { table.get("unit") };
    Published {
        source: table.required_text("source", log),
        machine,
        unit: unit.and_then(|item| item.word(log)).unwrap_or(FigureUnit::NanosecondsAnItem),
        text: table.note("text", log),
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
        item.wrong_type("a table of workloads", log).help(help);
        return Vec::new();
    };
    let mut figures = Vec::new();
    for workload in items(table) {
        let DeValue::Table(row) = workload.value else {
            workload.wrong_type("a table of contestants", log).help(help);
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
            item.wrong_type("a number above 0", log);
            return None;
        }
    };
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    if number.is_none() {
        item.wrong("a number above 0", log);
    }
    number
}
