//! The words of a sentence, each with its bytes.

use crate::error::{ClaimError, Problem};
use std::borrow::Cow;
use std::ops::Range;

/// A word of the sentence.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token<'a> {
    /// The word as typed, with quotes.
    pub(crate) raw: &'a str,
    /// Its value.
    pub(crate) value: Cow<'a, str>,
    /// Its place, in bytes.
    pub(crate) span: Range<usize>,
    /// Whether it was between quotes, and so can only be a name.
    pub(crate) is_quoted: bool,
}

/// Splits a sentence into words and drops a final full stop, unless the last word is a name that
/// ends with one.
pub(crate) fn tokens<'a>(text: &'a str, names: &[&str]) -> Result<Vec<Token<'a>>, ClaimError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(start) = next_word(text, at) {
        let quote = text[start..].chars().next().filter(|c| matches!(c, '\'' | '"'));
        let token = match quote {
            Some(quote) => quoted(text, start, quote)?,
            None => bare(text, start),
        };
        if let Some(offset) = token.raw.find(char::is_control) {
            return Err(control_character(text, start + offset));
        }
        at = token.span.end;
        if quote.is_some() && text[at..].trim_end() == "." {
            at = text.len();
        }
        tokens.push(token);
    }
    drop_full_stops(&mut tokens, names);
    Ok(tokens)
}

/// Returns the error for a control character. Claims are printed on terminals and in reports, which
/// no name may control.
fn control_character(text: &str, at: usize) -> ClaimError {
    let length = text[at..].chars().next().map_or(0, char::len_utf8);
    let expected = vec!["a space or a letter".to_owned()];
    ClaimError::new(text, at..at + length, Problem::ControlCharacter, expected)
}

/// Returns where the first word at or after a byte starts.
fn next_word(text: &str, from: usize) -> Option<usize> {
    text[from..].find(|c: char| !c.is_whitespace()).map(|skipped| from + skipped)
}

/// Returns the end of the run of characters from `start` on that are not white space.
fn word_end(text: &str, start: usize) -> usize {
    text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length)
}

fn bare(text: &str, start: usize) -> Token<'_> {
    let span = start..word_end(text, start);
    let raw = &text[span.clone()];
    Token { raw, value: Cow::Borrowed(raw), span, is_quoted: false }
}

fn quoted(text: &str, start: usize, quote: char) -> Result<Token<'_>, ClaimError> {
    let inner = start + quote.len_utf8();
    let Some(end) = closing_quote(&text[inner..], quote).map(|length| inner + length) else {
        let rest = start..text.trim_end().len();
        let expected = vec![format!("another {quote} after the name")];
        return Err(ClaimError::new(text, rest, Problem::OpenQuote, expected));
    };
    let after = end + quote.len_utf8();
    let glued = after..word_end(text, after);
    if !glued.is_empty() && text[after..].trim_end() != "." {
        let expected = vec!["a space".to_owned()];
        return Err(ClaimError::new(text, glued, Problem::GluedQuote, expected));
    }
    let doubled = [quote; 2].iter().collect::<String>();
    let value = Cow::Owned(text[inner..end].replace(&doubled, quote.encode_utf8(&mut [0; 4])));
    Ok(Token { raw: &text[start..after], value, span: start..after, is_quoted: true })
}

/// Returns the place of the first quote that is not doubled.
fn closing_quote(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        if c == quote && chars.next_if(|(_, next)| *next == quote).is_none() {
            return Some(at);
        }
    }
    None
}

/// Drops all final full stops, so that the remaining words parse to the same again.
fn drop_full_stops(tokens: &mut Vec<Token<'_>>, names: &[&str]) {
    while let Some(last) = tokens.last_mut().filter(|last| !last.is_quoted) {
        match last.raw.strip_suffix('.') {
            Some("") => drop(tokens.pop()),
            Some(word) if !names.contains(&last.raw) => {
                last.raw = word;
                last.value = Cow::Borrowed(word);
                last.span.end -= 1;
            }
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[(&str, usize)]) {
        let tokens = tokens(text, &["v1."]).unwrap();
        let found: Vec<_> = tokens.iter().map(|t| (t.value.as_ref(), t.span.start)).collect();
        assert_eq!(found, expected, "{text}");
        for token in tokens {
            assert_eq!(&text[token.span], token.raw);
        }
    }

    #[test]
    fn sentences_split_into_words() {
        check("", &[]);
        check(" \t\n", &[]);
        check("A is", &[("A", 0), ("is", 2)]);
        check("  A\t is\n", &[("A", 2), ("is", 5)]);
        check("'my prog' is", &[("my prog", 0), ("is", 10)]);
        check("\"my prog\" is", &[("my prog", 0), ("is", 10)]);
        check("'it''s' it's", &[("it's", 0), ("it's", 8)]);
        check("'' ''''", &[("", 0), ("'", 3)]);
        check("\u{e9}\u{a0}\u{e9}", &[("\u{e9}", 0), ("\u{e9}", 4)]);
    }

    #[test]
    fn a_final_full_stop_goes_unless_a_name_ends_with_it() {
        check("than B.", &[("than", 0), ("B", 5)]);
        check("than B .", &[("than", 0), ("B", 5)]);
        check("than 'B'.", &[("than", 0), ("B", 5)]);
        check("than 'B'. ", &[("than", 0), ("B", 5)]);
        check("than 'B.'", &[("than", 0), ("B.", 5)]);
        check("than v1.", &[("than", 0), ("v1.", 5)]);
        check("than v1..", &[("than", 0), ("v1.", 5)]);
        check("than B.. .", &[("than", 0), ("B", 5)]);
        check("B. is", &[("B.", 0), ("is", 3)]);
    }
}
