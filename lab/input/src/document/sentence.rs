//! Claims in a file, with the place of each part of a string's value, whatever its escapes.

use super::Item;
use crate::cursor::Words;
use crate::error::MAX_CLAIM_BYTES;
use crate::grammar::parse_spanned;
use std::ops::Range;
use tiebreak_core::claim::Claim;
use toml::de::DeValue;

/// Reads a sentence, with the bytes of its words in the file.
pub fn sentence(item: &Item<'_>, contestants: &[&str]) -> Option<(Claim, Words)> {
    let expected = "a sentence such as \"a is faster than b\"";
    let text = item.typed(item.value.as_str(), expected)?;
    let located = Located::new(item.log.raw(&item.span), item.span.start, text);
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
pub fn is_same(a: &Claim, b: &Claim) -> bool {
    Claim { text: b.text.clone(), ..a.clone() } == *b
}

/// The place of a TOML string in the file, and that of each byte of its value.
struct Located {
    whole: Range<usize>,
    places: Vec<usize>,
}

impl Located {
    /// Locates a string that is written as `raw`, with its quotes, at byte `at`.
    fn new(raw: &str, at: usize, value: &str) -> Located {
        let places = places(raw, value).unwrap_or_default();
        Located { whole: at..at + raw.len(), places }
    }

    /// Returns the bytes of the file for these bytes of the value; those of the whole string if
    /// that is unknown.
    fn span(&self, part: &Range<usize>) -> Range<usize> {
        let at = self.whole.start;
        match (self.places.get(part.start), self.places.get(part.end)) {
            (Some(start), Some(end)) if start <= end => at + start..at + end,
            _ => self.whole.clone(),
        }
    }
}

/// Returns, for each byte of the value, and for its end, its place in the raw string.
///
/// Cost: linear without escapes; with them, as many parses as the string has characters, and `None`
/// for a text that is too long to be a claim.
fn places(raw: &str, value: &str) -> Option<Vec<usize>> {
    let is_multi_line = raw.len() >= 6 && ["\"\"\"", "'''"].iter().any(|one| raw.starts_with(one));
    let quotes = raw.get(..if is_multi_line { 3 } else { 1 })?;
    let inner = raw.get(quotes.len()..raw.len().checked_sub(quotes.len())?)?;
    if let Some("" | "\n" | "\r\n") = inner.strip_suffix(value) {
        return Some((raw.len() - quotes.len() - value.len()..).take(value.len() + 1).collect());
    }
    if value.len() > MAX_CLAIM_BYTES {
        return None;
    }
    // The string up to a place, closed there, has the value up to that place.
    let mut places = vec![quotes.len(); value.len() + 1];
    for at in (0..=inner.len()).filter(|at| inner.is_char_boundary(*at)) {
        let closed = format!("{quotes}{}{quotes}", &inner[..at]);
        let Ok(part) = DeValue::parse(&closed) else { continue };
        if let Some(place) = places.get_mut(part.get_ref().as_str()?.len()) {
            *place = quotes.len() + at;
        }
    }
    Some(places)
}

#[cfg(test)]
mod tests {
    use super::*;
    use toml::de::DeTable;

    /// Checks the place of each character of the value of `x = RAW`.
    fn check(raw: &str, expected: &[(char, &str)]) {
        let text = format!("x = {raw}\n");
        let table = DeTable::parse(&text).unwrap();
        let (_, value) = table.get_ref().iter().next().unwrap();
        let span = value.span();
        assert_eq!(&text[span.clone()], raw);
        let DeValue::String(value) = value.get_ref() else { panic!("{raw} is no string") };
        let located = Located::new(raw, span.start, value);
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

    /// Byte by byte this would parse 40 GB.
    #[test]
    fn a_text_that_is_too_long_is_marked_whole() {
        let raw = format!("\"\\t{}\"", "x".repeat(300_000));
        let located = Located::new(&raw, 4, &"x".repeat(300_001));
        assert_eq!(located.span(&(1000..300_001)), 4..4 + raw.len());
        check(&format!("'{}'", "x".repeat(2000)), &[('x', "x"); 2000]);
    }
}
