//! Lines of standard input, with their numbers.

use std::io::BufRead;

/// A line with content: its number from 1, and its words.
pub struct Line {
    pub number: u64,
    pub words: Vec<String>,
}

/// Reads up to the next line with words; skips blank lines, and everything after a `#`. `None` at
/// the end.
///
/// # Errors
/// Fails if the line cannot be read or is not text; the error has its number.
pub fn next_line(input: &mut impl BufRead, number: &mut u64) -> Result<Option<Line>, String> {
    loop {
        let mut bytes = Vec::new();
        let read = input.read_until(b'\n', &mut bytes);
        *number += 1;
        match read {
            Ok(0) => return Ok(None),
            Ok(_) => {}
            Err(error) => return Err(format!("line {number} cannot be read: {error}")),
        }
        let text = String::from_utf8(bytes)
            .map_err(|_| format!("line {number} is not text; cases are words of ASCII"))?;
        let text = text.split('#').next().unwrap_or_default();
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        if !words.is_empty() {
            return Ok(Some(Line { number: *number, words }));
        }
    }
}
