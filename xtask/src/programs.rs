//! The blocks of a study of programs: the verdicts on its claims, from the output of
//! `tiebreak check studies/NAME/claims.toml --json`, and the tables that its `measure` writes.

use crate::study;
use anyhow::{Context, Result, bail, ensure};
use tiebreak_core::result::CheckResult;
use tiebreak_report::ci::markdown;
use tiebreak_report::markdown::{Place, escaped, table};

/// What makes a block of a study of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Made<'a> {
    /// `tiebreak check studies/NAME/claims.toml` makes the verdicts.
    Claims(&'a str),
    /// `studies/NAME/measure # TABLE` makes a table.
    Table(&'a str, &'a str),
}

impl<'a> Made<'a> {
    /// Reads a command; `None` if it makes no such block.
    pub fn by(command: &'a str) -> Option<Made<'a>> {
        if let Some(file) = command.strip_prefix("tiebreak check studies/") {
            return file.strip_suffix("/claims.toml").map(Made::Claims);
        }
        let (name, table) = command.strip_prefix("studies/")?.split_once("/measure # ")?;
        Some(Made::Table(name, table))
    }

    /// Returns the path of its data.
    ///
    /// # Errors
    /// No folder of a study, or no table, can have this name.
    pub fn data(self) -> Result<String> {
        match self {
            Made::Claims(name) => study::path("docs/measured/claims-", name, ".json"),
            Made::Table(name, table) => {
                study::path("docs/measured/", &format!("{name}-{table}"), ".csv")
            }
        }
    }

    /// Renders the block of its data.
    ///
    /// # Errors
    /// The data is not what the command writes.
    pub fn render(self, text: &str) -> Result<String> {
        match self {
            Made::Claims(_) => Ok(markdown::block(&read(text)?)),
            Made::Table(..) => of_csv(text),
        }
    }
}

/// Reads what became of a file of claims.
///
/// # Errors
/// The text is not what `tiebreak check --json` writes.
pub fn read(text: &str) -> Result<CheckResult> {
    serde_json::from_str(text).context("not what 'tiebreak check --json FILE' writes")
}

/// Renders a table whose first line has the titles. Cells are plain: without quotes and commas.
fn of_csv(text: &str) -> Result<String> {
    let mut rows = Vec::new();
    for (line, row) in (1..).zip(text.lines()) {
        ensure!(!row.contains('"'), "line {line} has a quote: cells are plain, without commas");
        let cells: Vec<String> = row.split(',').map(|cell| escaped(cell, Place::File)).collect();
        let expected = rows.first().map_or(cells.len(), Vec::len);
        if cells.len() != expected {
            bail!("line {line} has {} cells, and the first one {expected}", cells.len());
        }
        rows.push(cells);
    }
    ensure!(rows.len() > 1, "a table has a line of titles and at least one more");
    let titles = rows.remove(0);
    Ok(table(&titles, rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_known_by_its_command() {
        for (command, expected) in [
            ("tiebreak check studies/a/claims.toml", Some("docs/measured/claims-a.json")),
            ("studies/a-b/measure # sweep", Some("docs/measured/a-b-sweep.csv")),
            ("tiebreak check", None),
            ("studies/a/measure", None),
        ] {
            let data = Made::by(command).map(|made| made.data().unwrap());
            assert_eq!(data.as_deref(), expected, "{command}");
        }
        assert!(Made::by("studies/../measure # a").unwrap().data().is_err());
    }

    #[test]
    fn a_table_has_as_many_cells_in_each_line() {
        let expected = "| size | ms |\n|---|---|\n| 1 kB | 2.5 |\n";
        assert_eq!(of_csv("size,ms\n1 kB,2.5\n").unwrap(), expected);
        for (text, expected) in [
            ("size,ms\n1\n", "line 2 has 1 cells, and the first one 2"),
            ("a\n\"b\"\n", "line 2 has a quote: cells are plain, without commas"),
            ("a\n", "a table has a line of titles and at least one more"),
        ] {
            assert_eq!(of_csv(text).unwrap_err().to_string(), expected);
        }
    }
}
