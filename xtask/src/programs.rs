//! The blocks of a study of programs: the verdicts on its claims, from the output of
//! `tiebreak check studies/NAME/claims.toml --json`, and the tables that its `measure` writes.

use crate::study;
use anyhow::{Context, Result, ensure};
use tiebreak_core::result::CheckResult;
use tiebreak_report::ci::markdown;
use tiebreak_report::markdown::aligned;
use tiebreak_report::table::Align;

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

    /// Returns the name of the study.
    pub fn name(self) -> &'a str {
        match self {
            Made::Claims(name) | Made::Table(name, _) => name,
        }
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
            Made::Claims(_) => claims(text),
            Made::Table(..) => of_csv(text),
        }
    }
}

/// Renders the verdicts on a file of claims.
///
/// # Errors
/// The text is not what `tiebreak check --json` writes.
pub fn claims(text: &str) -> Result<String> {
    Ok(markdown::block(&read(text)?))
}

/// Reads what became of a file of claims.
///
/// # Errors
/// The text is not what `tiebreak check --json` writes.
pub fn read(text: &str) -> Result<CheckResult> {
    serde_json::from_str(text).context("not what 'tiebreak check --json FILE' writes")
}

/// Renders a table whose first line has the titles. Cells are Markdown; columns in which all begin
/// as a number are flush right.
///
/// # Errors
/// The text is no CSV, or has no line but that of the titles.
pub fn of_csv(text: &str) -> Result<String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let cells = |row: &csv::StringRecord| -> Vec<String> {
        row.iter().map(|cell| cell.replace('|', "\\|")).collect()
    };
    let titles = cells(reader.headers().context("reading the line of titles")?);
    let rows: Result<Vec<Vec<String>>, _> =
        reader.records().map(|row| row.map(|row| cells(&row))).collect();
    let rows = rows?;
    ensure!(!rows.is_empty(), "a table has a line of titles and at least one more");
    let is_number = |cell: &str| {
        matches!(cell, "" | "-")
            || cell.trim_start_matches(['-', '+']).starts_with(|c: char| c.is_ascii_digit())
    };
    let align = |column: usize| {
        let is_decimal = rows.iter().all(|row| is_number(&row[column]));
        if is_decimal { Align::Decimal } else { Align::Left }
    };
    let aligns: Vec<Align> = (0..titles.len()).map(align).collect();
    Ok(aligned(&titles, &aligns, &rows))
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
        let expected = "| of | size |\n|---|--:|\n| a, b | 1 kB |\n| c | - |\n";
        assert_eq!(of_csv("of,size\n\"a, b\",1 kB\nc,-\n").unwrap(), expected);
        for (text, expected) in [
            ("of,size\na\n", "CSV error: record 1 (line: 2, byte: 8): found record with 1 fields"),
            ("of\n", "a table has a line of titles and at least one more"),
        ] {
            let error = of_csv(text).unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
