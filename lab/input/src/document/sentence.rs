//! Claims in a file, with the place of each part of a string's value, whatever its escapes.

use super::Item;
use crate::cursor::Words;
use crate::grammar::parse_spanned;
use std::ops::Range;
use tiebreak_core::claim::Claim;

/// Reads a sentence, with the bytes of its words in the file.
pub(crate) fn sentence(item: &Item<'_>, contestants: &[&str]) -> Option<(Claim, Words)> {
    let expected = "a sentence such as \"a is faster than b\"";
    let text = item.typed(item.value.as_str(), expected)?;
    let raw = item.log.raw(&item.span);
    let located = Located { raw, at: item.span.start, value: text };
    match parse_spanned(text, contestants) {
        Err(error) => item
            .log
            .error(located.span(&error.span), &error.message)
            .meant(error.suggestion.as_deref())
            .expected(&error.expected)
            .none(),
        Ok((claim, words)) => {
            let words = words.into_iter().map(|(part, span)| (part, located.span(&span)));
            Some((claim, words.collect()))
        }
    }
}

/// Returns whether two claims mean the same, in any words.
pub(crate) fn is_same(a: &Claim, b: &Claim) -> bool {
    Claim { text: b.text.clone(), ..a.clone() } == *b
}

/// A TOML string as in the file, `raw`, with its quotes, at byte `at`; and its value.
struct Located<'a> {
    raw: &'a str,
    at: usize,
    value: &'a str,
}

impl Located<'_> {
    /// Returns the bytes of the file for these bytes of the value; those of the whole string if
    /// that is unknown.
    fn span(&self, part: &Range<usize>) -> Range<usize> {
        let whole = self.at..self.at + self.raw.len();
        let Some(places) = places(self.raw, self.value) else {
            return whole;
        };
        match (places.get(part.start), places.get(part.end)) {
            (Some(start), Some(end)) if start <= end => self.at + start..self.at + end,
            _ => whole,
        }
    }
}

/// Returns, for each byte of the value, and for its end, its place in the raw string.
fn places(raw: &str, value: &str) -> Option<Vec<usize>> {
    let quote = raw.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let triple: String = [quote; 3].iter().collect();
    let is_multi_line = raw.len() >= 6 && raw.starts_with(&triple);
    let width = if is_multi_line { 3 } else { 1 };
    let inner_end = raw.len().checked_sub(width)?;
    let mut at = width;
    if is_multi_line {
        at += line_end(raw.get(at..)?);
    }
    let mut places = Vec::with_capacity(value.len() + 1);
    for c in value.chars() {
        if quote == '"' {
            at += continuation(raw.get(at..)?);
        }
        let rest = raw.get(at..inner_end)?;
        let length = match escape(rest).filter(|_| quote == '"') {
            Some(length) => length,
            None => rest.chars().next()?.len_utf8(),
        };
        places.extend(std::iter::repeat_n(at, c.len_utf8()));
        at += length;
    }
    places.push(at);
    (at <= inner_end).then_some(places)
}

/// Returns the length of a line end at this place; 0 if there is none.
fn line_end(rest: &str) -> usize {
    if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with('\n')) }
}

/// Returns the length of a backslash at the end of a line at this place, with the white space after
/// it; 0 if there is none.
fn continuation(rest: &str) -> usize {
    let mut length = 0;
    while let Some(after) = rest.get(length..).and_then(|rest| rest.strip_prefix('\\')) {
        let blank = after.len() - after.trim_start_matches([' ', '\t']).len();
        if line_end(&after[blank..]) == 0 {
            break;
        }
        length += 1 + after.len() - after.trim_start_matches([' ', '\t', '\r', '\n']).len();
    }
    length
}

/// Returns the length of an escape at this place.
fn escape(rest: &str) -> Option<usize> {
    let kind = rest.strip_prefix('\\')?.chars().next()?;
    Some(match kind {
        'x' => 4,
        'u' => 6,
        'U' => 10,
        _ => 2,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::{DeTable, DeValue};

    /// Checks the place of each character of the value of `x = RAW`.
    fn check(raw: &str, expected: &[(char, &str)]) {
        let text = format!("x = {raw}\n");
        let table = DeTable::parse(&text).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        let span = value.span();
        assert_eq!(&text[span.clone()], raw);
        let DeValue::String(value) = value.get_ref() else { panic!("{raw} is no string") };
        let located = Located { raw, at: span.start, value };
        let found: Vec<(char, &str)> = value
            .char_indices()
            .map(|(at, c)| (c, &text[located.span(&(at..at + c.len_utf8()))]))
            .collect();
        assert_eq!(found, expected, "{raw}");
        let end = located.span(&(value.len()..value.len()));
        assert!(end.is_empty() && end.end < span.end, "{raw} {end:?} {span:?}");
    }

    #[test]
    fn each_character_is_found_where_it_stands() {
        check("\"a b\"", &[('a', "a"), (' ', " "), ('b', "b")]);
        check("'a\\b'", &[('a', "a"), ('\\', "\\"), ('b', "b")]);
        check("\"\u{e9}\\\"x\"", &[('\u{e9}', "\u{e9}"), ('"', "\\\""), ('x', "x")]);
        check(
            "\"\\u0041\\U00000042\\x43d\\te\"",
            &[
                ('A', "\\u0041"),
                ('B', "\\U00000042"),
                ('C', "\\x43"),
                ('d', "d"),
                ('\t', "\\t"),
                ('e', "e"),
            ],
        );
        check("\"\"\"\na\nb\"\"\"", &[('a', "a"), ('\n', "\n"), ('b', "b")]);
        check("\"\"\"\r\na\r\nb\"\"\"", &[('a', "a"), ('\r', "\r"), ('\n', "\n"), ('b', "b")]);
        check("'''\na''b'''", &[('a', "a"), ('\'', "'"), ('\'', "'"), ('b', "b")]);
        check(
            "\"\"\"a \\\n   b\\\n\n c\"\"\"",
            &[('a', "a"), (' ', " \\\n   "), ('b', "b\\\n\n "), ('c', "c")],
        );
        check("\"\"", &[]);
        check("''''''", &[]);
        check("\"\"\"\"a\"\"\"\"", &[('"', "\""), ('a', "a"), ('"', "\"")]);
    }
}
