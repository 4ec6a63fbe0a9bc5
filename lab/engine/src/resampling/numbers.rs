//! Sets of numbers from files: one a line, or a column of a CSV file.

use crate::error::{LabError, data, require};
use crate::lines::quoted;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Larger files are refused: what is resampled must fit into memory several times.
const BYTES_MAX: u64 = 1 << 30;

/// A set of numbers and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// The source, as the user named it.
    pub name: String,
    /// The numbers, all finite, at least one.
    pub values: Vec<f64>,
}

/// The source that `FILE`, `FILE:COLUMN` or `FILE:COLUMN:OTHER=VALUE` names.
struct Source<'a> {
    file: &'a str,
    column: Option<&'a str>,
    filter: Option<(&'a str, &'a str)>,
}

/// Reads the numbers that `place` names.
///
/// It is a file of numbers, one a line, in which blank lines and lines that begin with `#` are
/// skipped; or `FILE:COLUMN`, a column of a CSV file (RFC 4180; `;` and tab also separate if there
/// is no comma in the first line) by the name in its first line or by its number; or
/// `FILE:COLUMN:OTHER=VALUE`, of which only the lines count in which the column OTHER is VALUE. `-`
/// in place of FILE is `input`.
///
/// # Errors
/// Fails if the file or the column does not exist, a number is missing or invalid, or there are no
/// numbers; the error has the file, the line and the word.
pub fn read(place: &str, input: &mut dyn Read) -> Result<Numbers, LabError> {
    let source = source(place);
    let text = match (source.file, Path::new(source.file)) {
        ("-", _) => text(place, input)?,
        (_, path) => {
            let file = File::open(path).map_err(|error| LabError::unreadable(path, error));
            text(place, &mut file?)?
        }
    };
    let values = match source.column {
        None => lines(place, &text)?,
        Some(column) => table(source.file, column, source.filter, &text)?,
    };
    if values.is_empty() {
        return wrong(place, "there are no numbers in it");
    }
    Ok(Numbers { name: place.to_owned(), values })
}

/// Reads two sets; see [`read`].
///
/// # Errors
/// As [`read`]; also if both come from `input`.
pub fn read_both(x: &str, y: &str, input: &mut dyn Read) -> Result<[Numbers; 2], LabError> {
    let is_any_file = [x, y].iter().any(|place| source(place).file != "-");
    require(is_any_file, "only one of X and Y can come from standard input")?;
    Ok([read(x, input)?, read(y, input)?])
}

/// Splits a source. A file may have colons in its name, so an existing file is taken whole.
fn source(place: &str) -> Source<'_> {
    let whole = Source { file: place, column: None, filter: None };
    if Path::new(place).is_file() {
        return whole;
    }
    let mut colons = place.match_indices(':').map(|(at, _)| place.split_at(at));
    let found = colons.find(|(file, _)| *file == "-" || Path::new(file).is_file());
    let Some((file, rest)) = found else {
        return whole;
    };
    let rest = &rest[1..];
    match rest.rsplit_once(':').and_then(|(column, filter)| Some((column, filter.split_once('=')?)))
    {
        Some((column, filter)) => Source { file, column: Some(column), filter: Some(filter) },
        None => Source { file, column: Some(rest), filter: None },
    }
}

fn text(place: &str, from: &mut dyn Read) -> Result<String, LabError> {
    let mut bytes = Vec::new();
    let read = from.take(BYTES_MAX + 1).read_to_end(&mut bytes);
    read.map_err(|error| LabError::unreadable(Path::new(place), error))?;
    if bytes.len() as u64 > BYTES_MAX {
        return wrong(place, "it is larger than 1 GiB");
    }
    String::from_utf8(bytes).or_else(|_| wrong(place, "it is not text in UTF-8"))
}

fn wrong<T>(place: impl Display, what: impl Display) -> Result<T, LabError> {
    data(format!("{place}: {what}"))
}

fn number(file: &str, line: usize, word: &str) -> Result<f64, LabError> {
    match word.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        _ => wrong(format!("{file}, line {line}"), format!("{} is not a number", quoted(word))),
    }
}

fn lines(file: &str, text: &str) -> Result<Vec<f64>, LabError> {
    let numbered = text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let meant = numbered.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    meant.map(|(line, word)| number(file, line, word)).collect()
}

fn table(
    file: &str,
    column: &str,
    filter: Option<(&str, &str)>,
    text: &str,
) -> Result<Vec<f64>, LabError> {
    let records = records(text);
    let Some((_, head)) = records.first() else {
        return Ok(Vec::new());
    };
    let index = index_of(file, head, column)?;
    let filter = filter
        .map(|(column, value)| index_of(file, head, column).map(|index| (index, value)))
        .transpose()?;
    // A first line of numbers is not a line of names.
    let is_named = head.get(index).is_none_or(|cell| cell.trim().parse::<f64>().is_err());
    let mut values = Vec::new();
    for (line, cells) in &records[usize::from(is_named)..] {
        let cells: Vec<&str> = cells.iter().map(|cell| cell.trim()).collect();
        if cells.iter().all(|cell| cell.is_empty())
            || filter.is_some_and(|(other, value)| cells.get(other) != Some(&value))
        {
            continue;
        }
        match cells.get(index) {
            None | Some(&"") => {
                let place = format!("{file}, line {line}");
                return wrong(place, format!("there is nothing in the column {}", quoted(column)));
            }
            Some(word) => values.push(number(file, *line, word)?),
        }
    }
    Ok(values)
}

fn index_of(file: &str, head: &[String], column: &str) -> Result<usize, LabError> {
    if let Some(index) = head.iter().position(|name| name.trim() == column) {
        return Ok(index);
    }
    match column.parse::<usize>() {
        Ok(number) if (1..=head.len()).contains(&number) => Ok(number - 1),
        _ => {
            let names = head.iter().map(|name| name.trim()).collect::<Vec<_>>().join(", ");
            wrong(file, format!("there is no column {}; these are: {names}", quoted(column)))
        }
    }
}

/// Splits a CSV file into records, each with the line on which it begins.
fn records(text: &str) -> Vec<(usize, Vec<String>)> {
    let first = text.lines().next().unwrap_or_default();
    let separator = [',', ';', '\t'].into_iter().find(|c| first.contains(*c)).unwrap_or(',');
    let mut characters = text.strip_prefix('\u{feff}').unwrap_or(text).chars().peekable();
    let mut records: Vec<(usize, Vec<String>)> = Vec::new();
    let (mut line, mut is_at_start, mut in_quotes) = (1, true, false);
    while let Some(c) = characters.next() {
        if is_at_start {
            records.push((line, vec![String::new()]));
        }
        line += usize::from(c == '\n');
        is_at_start = c == '\n' && !in_quotes;
        let Some((_, cells)) = records.last_mut() else { break };
        let cell = cells.len() - 1;
        match c {
            '"' if in_quotes && characters.next_if_eq(&'"').is_some() => cells[cell].push('"'),
            '"' => in_quotes = !in_quotes,
            '\n' | '\r' if !in_quotes => {}
            c if c == separator && !in_quotes => cells.push(String::new()),
            c => cells[cell].push(c),
        }
    }
    records
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a text as the file `-`.
    fn check(column: &str, text: &str, expected: Result<&[f64], &str>) {
        let place = format!("-{column}");
        match (read(&place, &mut text.as_bytes()), expected) {
            (Ok(found), Ok(values)) => assert_eq!(found.values, values, "{text:?}"),
            (Err(found), Err(message)) => assert_eq!(found.to_string(), message),
            (found, _) => panic!("{text:?}: {found:?}"),
        }
    }

    #[test]
    fn numbers_stand_one_a_line() {
        check("", "1\n 2.5 \r\n\n# a comment\n-3e2\n+.5", Ok(&[1.0, 2.5, -300.0, 0.5]));
        check("", "1\n2 3\n", Err("-, line 2: '2 3' is not a number"));
        check("", "\n\n1,5\n", Err("-, line 3: '1,5' is not a number"));
        check("", "1\nnan\n", Err("-, line 2: 'nan' is not a number"));
        check("", "1\n-inf\n", Err("-, line 2: '-inf' is not a number"));
        check("", "1e999", Err("-, line 1: '1e999' is not a number"));
        check("", "a\u{1b}b", Err("-, line 1: 'a\\u{1b}b' is not a number"));
        check("", "# nothing\n\n", Err("-: there are no numbers in it"));
        let long = "x".repeat(100);
        let short = format!("-, line 1: '{}...' is not a number", "x".repeat(40));
        check("", &long, Err(&short));
    }

    #[test]
    fn columns_of_tables() {
        let text = "who,\"how, long\",n\r\nA,1,7\r\n\"B \"\"b\"\"\nb\",2,8\r\n\r\nA,3,\r\n";
        check(":how, long", text, Ok(&[1.0, 2.0, 3.0]));
        check(":2", text, Ok(&[1.0, 2.0, 3.0]));
        check(":how, long:who=A", text, Ok(&[1.0, 3.0]));
        check(":n", text, Err("-, line 6: there is nothing in the column 'n'"));
        check(":who", text, Err("-, line 2: 'A' is not a number"));
        check(":m", text, Err("-: there is no column 'm'; these are: who, how, long, n"));
        check(":n:who=C", text, Err("-:n:who=C: there are no numbers in it"));
        check(":2", "1;2\n3;4\n", Ok(&[2.0, 4.0]));
        check(":b", "a\tb\n3\t4\n", Ok(&[4.0]));
        check(":a", "", Err("-:a: there are no numbers in it"));
    }

    #[test]
    fn files_that_are_not_there_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a:b");
        let name = path.display().to_string();
        fn fail(place: &str) -> String {
            read(place, &mut std::io::empty()).unwrap_err().to_string()
        }
        assert!(fail(&name).starts_with(&format!("cannot read {name}")));
        std::fs::write(&path, "x,y\n1,2\n").unwrap();
        assert!(fail(&name).ends_with("line 1: 'x,y' is not a number"));
        assert_eq!(read(&format!("{name}:y"), &mut std::io::empty()).unwrap().values, [2.0]);
        std::fs::write(&path, [0xff, 0xfe]).unwrap();
        assert!(fail(&name).ends_with("it is not text in UTF-8"));
    }
}
