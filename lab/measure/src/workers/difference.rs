//! Finds the first line in which two texts differ.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

/// Texts are compared in pieces of this many bytes.
const PIECE_BYTES: usize = 1 << 20;
/// The most characters of a line that are shown.
const MOST_SHOWN: usize = 60;

/// A line in which two texts differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Difference {
    /// The line, counted from 1: the item, if each line is one.
    pub(super) item: u64,
    /// The line as it should be, shortened.
    pub(super) expected: String,
    /// The line as it is, shortened.
    pub(super) got: String,
}

/// Returns the first line that differs; `None` if the files are equal. A missing newline at the end
/// of the last line is not a difference.
///
/// # Errors
/// Fails if a file cannot be read.
pub(super) fn first(expected: &File, got: &File) -> io::Result<Option<Difference>> {
    let (mut left, mut right) = (vec![0; PIECE_BYTES], vec![0; PIECE_BYTES]);
    // Lines that ended before this piece, and where the unfinished line began.
    let (mut lines, mut line_at, mut at) = (0, 0, 0);
    loop {
        let left = piece(expected, at, &mut left)?;
        let right = piece(got, at, &mut right)?;
        let same = left.iter().zip(right).take_while(|(left, right)| left == right).count();
        for (index, _) in left[..same].iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
            lines += 1;
            line_at = at + index as u64 + 1;
        }
        let is_end = left.len() < PIECE_BYTES && right.len() < PIECE_BYTES;
        if same == left.len() && same == right.len() {
            if is_end {
                return Ok(None);
            }
            at += same as u64;
            continue;
        }
        let (left, right) = (&left[same..], &right[same..]);
        let is_rest = |rest: &[u8]| rest.is_empty() || rest == b"\n";
        if is_end && is_rest(left) && is_rest(right) && at + same as u64 > line_at {
            return Ok(None);
        }
        let (expected, got) = (line(expected, line_at)?, line(got, line_at)?);
        return Ok(Some(Difference { item: lines + 1, expected, got }));
    }
}

fn piece<'a>(file: &File, at: u64, buffer: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], at + length as u64)? {
            0 => break,
            more => length += more,
        }
    }
    Ok(&buffer[..length])
}

/// Returns the line that begins there, shortened, with unprintable characters escaped.
fn line(file: &File, at: u64) -> io::Result<String> {
    let mut buffer = [0; 4 * MOST_SHOWN + 4];
    let bytes = piece(file, at, &mut buffer)?;
    if bytes.is_empty() {
        return Ok("no more lines".to_owned());
    }
    let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let shown: String = String::from_utf8_lossy(line).escape_debug().collect();
    let mut characters = shown.chars();
    let short: String = characters.by_ref().take(MOST_SHOWN).collect();
    Ok(if characters.next().is_some() { format!("{short}...") } else { short })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::memory_file;
    use std::io::Write;

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
        let found = first(&holding(expected.as_bytes()), &holding(got.as_bytes())).unwrap();
        assert_eq!(found, difference);
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
