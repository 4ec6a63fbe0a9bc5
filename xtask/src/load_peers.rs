//! The table of what generators of load say of a server that stands still at times, from the
//! measurements of `bench/load`.

use crate::measured::{Part, rendered, source};
use anyhow::{Result, ensure};
use tiebreak_report::markdown::table;

/// The path of the data, from the root.
pub const DATA: &str = "docs/measured/load-peers.json";

const SCHEMA: &str = "tiebreak/load-peers/1";

/// The percentiles, as the data names them and as the table does.
const SHARES: [(&str, &str); 4] =
    [("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("p99_9", "p99.9")];

/// Renders the block, with links as seen from `docs/manual`.
///
/// # Errors
/// Fails if the data is not what `bench/load` writes.
pub fn render(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| {
        Ok(format!("{}\n{} {}\n", said(data)?, conditions(data), source(DATA)))
    })
}

/// Renders the block of the README.
///
/// # Errors
/// As [`render`].
pub fn in_short(json: &str) -> Result<String> {
    rendered(json, DATA, SCHEMA, |data| Ok(format!("{}\n{}\n", said(data)?, conditions(data))))
}

/// Makes the table.
fn said(data: Part<'_>) -> Result<String> {
    ensure!(data.list("generators").next().is_some(), "{DATA}: no generators");
    let head: Vec<&str> =
        ["generator"].into_iter().chain(SHARES.map(|(_, name)| name)).chain(["note"]).collect();
    let truth = row("the truth", "", data.at("truth_ms"));
    let said = data.list("generators").map(|of| {
        let (program, options) = of.text("name").split_once(' ').unwrap_or((of.text("name"), ""));
        let version = of.maybe_text("version").unwrap_or("");
        let words = [program, version, options].into_iter().filter(|word| !word.is_empty());
        let name = words.collect::<Vec<_>>().join(" ");
        match of.maybe_text("missing") {
            Some(why) => row(&name, &format!("not run: {why}"), of.at("said_ms")),
            None => row(&name, of.text("note"), of.part("said_ms")),
        }
    });
    Ok(table(&head, [truth].into_iter().chain(said)))
}

/// Makes a row: the percentiles in ms.
fn row(name: &str, note: &str, said_ms: Part<'_>) -> Vec<String> {
    let ms = |(place, _): (&str, &str)| {
        said_ms.maybe(place).map_or("-".to_owned(), |ms| format!("{ms:.1}"))
    };
    let mut cells = vec![name.to_owned()];
    cells.extend(SHARES.map(ms));
    cells.push(note.to_owned());
    cells
}

fn conditions(data: Part<'_>) -> String {
    let of = data.at("settings");
    let [date, machine] = data.day_and_machine();
    format!(
        "Latencies in ms of a server that stops for 100 ms once a second, asked {} times a \
         second over {} connections for {} s, where such a rate can be asked for. A request that \
         is to be sent x ms before the server goes on waits x ms, so a share of (100 ms - x) / \
         1000 ms waits longer. Measured on {date} on {machine}.",
        of.number("rate_per_second"),
        of.number("connections"),
        of.number("seconds"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{"schema": "tiebreak/load-peers/1", "date": "2026-01-02",
        "machine": {"cpu": "Some CPU", "cpus": 2, "kernel": "6.1"},
        "settings": {"rate_per_second": 500, "connections": 10, "seconds": 20},
        "truth_ms": {"p50": 0.0, "p95": 50.0, "p99": 90.0, "p99_9": 99.0},
        "generators": [
            {"name": "ours", "version": "1.2", "note": "", "said_ms":
                {"p50": 0.21, "p95": 50.4, "p99": 90.1, "p99_9": 99.2}},
            {"name": "other", "version": "3", "note": "no rate", "said_ms":
                {"p50": 0.1, "p95": null, "p99": 1.0, "p99_9": null}},
            {"name": "third", "version": null, "note": "", "missing": "third is not installed"}]}"#;

    #[test]
    fn what_was_not_said_and_who_was_not_run_are_shown_so() {
        let page = render(JSON).unwrap();
        for part in [
            "| the truth",
            "| ours 1.2",
            " 50.4 ",
            "| other 3",
            "no rate",
            "not run: third is not installed",
            "asked 500 times a second over 10 connections for 20 s",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(render(&JSON.replace("\"generators\"", "\"others\"")).is_err());
    }
}
