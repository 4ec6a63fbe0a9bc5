//! Published tables.

use super::contestants::Contestants;
use crate::document::{Item, Table};
use crate::names::is_known;
use tiebreak_core::study::{Figure, FigureUnit, Published};
use toml::de::DeValue;

/// Reads `[[published]]`.
pub fn published(
    root: &Table<'_>,
    contestants: &Contestants,
    workloads: &[&str],
) -> Vec<Published> {
    let names = contestants.names();
    let tables = root.tables("published");
    tables.iter().map(|table| one(table, &names, workloads)).collect()
}

fn one(table: &Table<'_>, contestants: &[&str], workloads: &[&str]) -> Published {
    let has_figures = table.get("figures").is_some();
    if !has_figures && table.get("text").is_none() {
        table.error("this published table has no figures and no text").help(
            "write [published.figures.WORKLOAD] with a line CONTESTANT = FIGURE for each, or text",
        );
    }
    let machine = if has_figures { table.required_text("machine") } else { table.note("machine") };
    let unit = if has_figures { table.required("unit") } else { table.get("unit") };
    Published {
        source: table.required_text("source"),
        machine,
        unit: unit.and_then(|item| item.word()).unwrap_or(FigureUnit::NanosecondsAnItem),
        statistic: table.read("statistic", Item::word),
        text: table.note("text"),
        figures: match table.get("figures") {
            Some(item) => figures(item, contestants, workloads),
            None => Vec::new(),
        },
    }
}

/// Reads `[published.figures.WORKLOAD]`.
fn figures(item: &Item<'_>, contestants: &[&str], workloads: &[&str]) -> Vec<Figure> {
    let help = "write [published.figures.WORKLOAD] with a line CONTESTANT = FIGURE for each";
    let Some(rows) = item.entries() else {
        item.wrong_type("a table of workloads").help(help);
        return Vec::new();
    };
    let mut figures = Vec::new();
    for workload in rows {
        let Some(row) = workload.entries() else {
            workload.wrong_type("a table of contestants").help(help);
            continue;
        };
        is_known(workload.key, workloads, "workload", workload.key_span.clone(), item.log);
        for cell in row {
            is_known(cell.key, contestants, "contestant", cell.key_span.clone(), item.log);
            if let Some(value) = figure(&cell) {
                let (workload, contestant) = (workload.key.to_owned(), cell.key.to_owned());
                figures.push(Figure { workload, contestant, value });
            }
        }
    }
    figures
}

/// Reads a number above 0.
fn figure(item: &Item<'_>) -> Option<f64> {
    let number = match item.value {
        DeValue::Integer(integer) => {
            u64::from_str_radix(integer.as_str(), integer.radix()).ok().map(|value| value as f64)
        }
        DeValue::Float(float) => float.as_str().parse().ok(),
        _ => return item.typed(None, "a number above 0"),
    };
    let number = number.filter(|number| *number > 0.0 && number.is_finite());
    number.or_else(|| item.wrong("a number above 0").none())
}
