//! Compares whole answers line by line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Seek};
use tiebreak_core::verdict::Fault;

/// The most characters of a line that are shown.
const MOST_SHOWN: usize = 60;

/// A line in which two texts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Difference {
    /// The line, counted from 1: the item, if each line is one.
    pub(crate) item: u64,
    /// The line as it should be, as it is shown.
    pub(crate) expected: String,
    /// The line as it is, as it is shown.
    pub(crate) got: String,
}

impl Difference {
    /// Returns the fault of a contestant with this answer.
    pub(crate) fn fault(self, workload: &str) -> Fault {
        let Difference { item, expected, got } = self;
        Fault::WrongAnswer { workload: workload.to_owned(), item: Some(item), expected, got }
    }
}

/// Returns the first line that differs, made presentable by `shown`; `None` if the texts are equal.
/// A missing newline at the end of the last line is not a difference.
///
/// # Errors
/// Fails if a text cannot be read.
pub(crate) fn first_difference(
    mut expected: impl BufRead,
    mut got: impl BufRead,
    shown: fn(&str) -> String,
) -> io::Result<Option<Difference>> {
    let mut lines = [Vec::new(), Vec::new()];
    let mut item = 0;
    loop {
        item += skip_equal_lines(&mut expected, &mut got)? + 1;
        let [right, found] = &mut lines;
        right.clear();
        found.clear();
        expected.read_until(b'\n', right)?;
        got.read_until(b'\n', found)?;
        if right.is_empty() && found.is_empty() {
            return Ok(None);
        }
        let both_go_on = !right.is_empty() && !found.is_empty();
        if !both_go_on || trimmed(right) != trimmed(found) {
            let [expected, got] = lines.map(|line| match line.as_slice() {
                [] => "no more lines".to_owned(),
                line => shown(&String::from_utf8_lossy(trimmed(line))),
            });
            return Ok(Some(Difference { item, expected, got }));
        }
    }
}

/// Skips whole lines that are equal and in both buffers, and returns how many: most answers are
/// right, and then it is the fastest way to the end.
fn skip_equal_lines(expected: &mut impl BufRead, got: &mut impl BufRead) -> io::Result<u64> {
    let (right, found) = (expected.fill_buf()?, got.fill_buf()?);
    let common = right.len().min(found.len());
    let end = right[..common].iter().rposition(|byte| *byte == b'\n').map_or(0, |last| last + 1);
    if right[..end] != found[..end] {
        return Ok(0);
    }
    let lines = right[..end].iter().filter(|byte| **byte == b'\n').count();
    expected.consume(end);
    got.consume(end);
    Ok(lines as u64)
}

/// Removes the last line break: study files and contestants may or may not end the last line.
pub(crate) fn trimmed(text: &[u8]) -> &[u8] {
    text.strip_suffix(b"\n").unwrap_or(text)
}

/// Returns a reader of a whole file, whatever its current position.
pub(crate) fn from_start(mut file: &File) -> io::Result<BufReader<&File>> {
    file.rewind()?;
    Ok(BufReader::with_capacity(64 << 10, file))
}

/// Shortens a line, with unprintable characters escaped.
pub(crate) fn escaped(line: &str) -> String {
    let mut characters = line.chars().flat_map(char::escape_debug);
    let short: String = characters.by_ref().take(MOST_SHOWN).collect();
    if characters.next().is_some() { format!("{short}...") } else { short }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::files::memory_file;
    use std::io::Write;

    const PIECE_BYTES: usize = 1 << 20;

    fn holding(text: &[u8]) -> File {
        let mut file = memory_file().unwrap();
        file.write_all(text).unwrap();
        file
    }

    fn check(expected: &str, got: &str, difference: Option<(u64, &str, &str)>) {
        let difference = difference.map(|(item, expected, got)| Difference {
            item,
            expected: expected.to_owned(),
            got: got.to_owned(),
        });
        let (expected, got) = (holding(expected.as_bytes()), holding(got.as_bytes()));
        let [expected, got] = [&expected, &got].map(|file| from_start(file).unwrap());
        assert_eq!(first_difference(expected, got, escaped).unwrap(), difference);
    }

    #[test]
    fn the_first_line_that_differs_is_found() {
        check("", "", None);
        check("a\nb\n", "a\nb\n", None);
        check("a\nb\n", "a\nb", None);
        check("a\nb", "a\nb\n", None);
        check("a\nb\n", "a\nc\n", Some((2, "b", "c")));
        check("ab\n", "ac\n", Some((1, "ab", "ac")));
        check("a\nb\n", "a\n", Some((2, "b", "no more lines")));
        check("a\n", "a\nb\n", Some((2, "no more lines", "b")));
        check("a\n", "a\n\n", Some((2, "no more lines", "")));
        check("a", "ab", Some((1, "a", "ab")));
        check("", "x\u{1b}[31m", Some((1, "no more lines", "x\\u{1b}[31m")));
        let long = "y".repeat(1000);
        let shown = format!("{}...", "y".repeat(MOST_SHOWN));
        check("z", &long, Some((1, "z", &shown)));
    }

    #[test]
    fn long_texts_are_compared_in_pieces() {
        let line = "0123456789abcde\n";
        let text = line.repeat(3 * PIECE_BYTES / line.len());
        check(&text, &text, None);
        let mut other = text.clone();
        let at = 2 * PIECE_BYTES + 5;
        other.replace_range(at..=at, "X");
        let item = (2 * PIECE_BYTES / line.len()) as u64 + 1;
        check(&text, &other, Some((item, "0123456789abcde", "01234X6789abcde")));
        let longer = format!("{text}more\n");
        let lines = (text.len() / line.len()) as u64;
        check(&text, &longer, Some((lines + 1, "no more lines", "more")));
    }
}
