//! The galleries of studies: every row of the sources with what came of it, and the studies in
//! short.

use crate::programs::{self, Made};
use crate::study;
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tiebreak_report::check::counts_text;
use tiebreak_report::markdown::{Place, code, escaped, link, table};
use tiebreak_report::study::{highlight, published_and_here, summary};

/// What the sources describe, and where it lives.
pub const ROWS: &str = "studies/rows.toml";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rows {
    row: Vec<Row>,
}

/// A system that a source describes: a study, or a command with its page.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    system: String,
    source: String,
    study: Option<String>,
    command: Option<String>,
    page: Option<String>,
    figure: Option<Figure>,
}

/// A published figure and ours, of a study whose tables no claim gives.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Figure {
    /// What they are of.
    of: String,
    /// The table of the study that has them.
    table: String,
    /// The figure as published, or where the table has it.
    published: Cell,
    /// Where the table has ours.
    here: Cell,
    /// What stands behind both.
    #[serde(default)]
    unit: String,
}

/// A text, or a cell of a table: the first cells of its row with `/` between them, and its column.
#[derive(Deserialize)]
#[serde(untagged)]
enum Cell {
    Text(String),
    At([String; 2]),
}

impl Cell {
    fn text(&self, csv: &str) -> Result<String> {
        let (row, title) = match self {
            Cell::Text(text) => return Ok(text.clone()),
            Cell::At([row, title]) => (row, title),
        };
        let mut reader = csv::Reader::from_reader(csv.as_bytes());
        let column = reader.headers()?.iter().position(|other| other == title);
        let rows = reader.records().collect::<Result<Vec<_>, _>>()?;
        let found = rows.iter().find(|cells| {
            let cells: Vec<&str> = cells.iter().collect();
            (1..=cells.len()).any(|count| cells[..count].join("/") == *row)
        });
        let cell = column.and_then(|column| found?.get(column));
        let cell =
            cell.with_context(|| format!("{ROWS}: no cell is in '{row}' under '{title}'"))?;
        Ok(cell.to_owned())
    }
}

impl Figure {
    fn text(&self, data_of: impl Fn(&str) -> Result<String>, study: &str) -> Result<String> {
        let Figure { of, table, published, here, unit } = self;
        let csv = data_of(&Made::Table(study, table).data()?)?;
        let [published, here] = [published.text(&csv)?, here.text(&csv)?];
        Ok(format!("{of}: published {published}{unit}, here {here}{unit}"))
    }
}

/// Makes the gallery: each system, its source, where it lives, and what came out. `data_of` reads a
/// file, and fails if it is not there.
///
/// # Errors
/// The rows or the data of a study are not what they should be.
pub fn rows(data_of: impl Fn(&str) -> Result<String>) -> Result<String> {
    let rows: Rows = toml::from_str(&data_of(ROWS)?).with_context(|| format!("reading {ROWS}"))?;
    let mut shown = Vec::new();
    for row in rows.row {
        let (place, state) = match (&row.study, &row.command, &row.page) {
            (Some(name), None, None) => of_study(&data_of, name, row.figure.as_ref())?,
            (None, Some(command), Some(page)) if row.figure.is_none() => {
                of_command(&data_of, command, page)
            }
            _ => bail!("{ROWS}: '{}' needs a study, or a command and its page", row.system),
        };
        let [system, source] = [row.system, row.source].map(|text| escaped(&text, Place::File));
        shown.push([system, source, place, state]);
    }
    Ok(table(&["system", "from", "where", "state"], shown))
}

/// Returns where a study is and what came out of it.
fn of_study(
    data_of: impl Fn(&str) -> Result<String>,
    name: &str,
    figure: Option<&Figure>,
) -> Result<(String, String)> {
    let page = format!("{name}/README.md");
    if data_of(&format!("studies/{page}")).is_err() {
        return Ok((code(name), "not built yet".to_owned()));
    }
    let mut came_out = Vec::new();
    if let Ok(text) = data_of(&study::data(name)?) {
        let result = study::read(&text, name)?;
        let summary = summary(&result);
        came_out.push(summary.strip_prefix(&format!("{name}: ")).unwrap_or(&summary).to_owned());
        came_out.extend(published_and_here(&result));
    }
    if let Ok(text) = data_of(&Made::Claims(name).data()?) {
        let result = programs::read(&text)?;
        came_out.push(format!("of programs {}", counts_text(result.claims().map(|(.., c)| c))));
    }
    if let Some(figure) = figure {
        came_out.push(figure.text(&data_of, name)?);
    }
    if came_out.is_empty() {
        came_out.push("built, not measured yet".to_owned());
    }
    Ok((link(name, &page), escaped(&came_out.join("; "), Place::File)))
}

/// Returns where the page of a command is, and whether it is there.
fn of_command(
    data_of: impl Fn(&str) -> Result<String>,
    command: &str,
    page: &str,
) -> (String, String) {
    match data_of(page) {
        Ok(_) => (link(&code(command), &format!("../{page}")), "stands".to_owned()),
        Err(_) => (code(command), "not built yet".to_owned()),
    }
}

/// Makes the table of all studies: the title of each, and the first of its claims that holds.
///
/// # Errors
/// The data of a study is missing, or is not what `tiebreak study run` writes.
pub fn in_short(data_of: impl Fn(&str) -> Result<String>, names: &[String]) -> Result<String> {
    let mut rows = Vec::new();
    for name in names {
        let result = study::read(&data_of(&study::data(name)?)?, name)?;
        let text = highlight(&result);
        let text = text.unwrap_or_else(|| "No claim about two contestants was proven.".to_owned());
        rows.push([link(&result.title, &format!("studies/{name}/README.md")), text]);
    }
    Ok(table(&["study", "one of its verdicts"], rows))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    #[test]
    fn every_study_has_its_row() {
        let studies = Path::new(env!("CARGO_MANIFEST_DIR")).join("../studies");
        let rows = fs::read_to_string(studies.join("rows.toml")).unwrap();
        let rows: Rows = toml::from_str(&rows).unwrap();
        for entry in fs::read_dir(studies).unwrap() {
            let entry = entry.unwrap();
            let name = entry.file_name().to_string_lossy().into_owned();
            let has_row = rows.row.iter().any(|row| row.study.as_ref() == Some(&name));
            assert!(has_row || !entry.path().is_dir(), "{ROWS} has no row for {name}");
        }
    }

    #[test]
    fn a_row_says_what_came_out_or_that_nothing_is_there() {
        let row = |rest: &str| format!("[[row]]\nsystem = \"S\"\nsource = \"A|B\"\n{rest}");
        let made = |rest: &str| {
            let text = row(rest);
            rows(|path| match path {
                ROWS => Ok(text.clone()),
                "studies/built/README.md" | "docs/a.md" => Ok(String::new()),
                "docs/measured/built-t.csv" => Ok("x,y,z\na,b,5\na,c,7\n".to_owned()),
                _ => bail!("nothing there"),
            })
        };
        for (rest, expected) in [
            ("study = \"gone\"", "| S | A\\|B | `gone` | not built yet |"),
            ("study = \"built\"", "[built](built/README.md) | built, not measured yet |"),
            (
                "study = \"built\"\n[row.figure]\nof = \"half\"\ntable = \"t\"\npublished = \"2\"\n\
                 here = [\"a/c\", \"z\"]\nunit = \" ms\"",
                "| half: published 2 ms, here 7 ms |",
            ),
            ("command = \"c\"\npage = \"docs/a.md\"", "[`c`](../docs/a.md) | stands |"),
            ("command = \"c\"\npage = \"docs/b.md\"", "| `c` | not built yet |"),
        ] {
            let text = made(rest).unwrap();
            assert!(text.contains(expected), "{text}");
        }
        let error = made("command = \"c\"").unwrap_err().to_string();
        assert!(error.ends_with("'S' needs a study, or a command and its page"), "{error}");
    }
}
