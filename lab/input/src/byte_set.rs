//! A set of bytes as text, such as `A-Za-z0-9_-`.
//!
//! A character of ASCII is itself, and `a-z` all from the first to the last. `\n`, `\r`, `\t` and
//! `\0` are as in C, `\xHH` is the byte of two digits, and `\` before another character is that
//! character. `-` is itself at the start, at the end and after a range. `^` at the start means all
//! other bytes.

use crate::error::{ClaimError, Read};
use std::ops::Range;

/// What a set may be, for errors.
const SUCH_AS: &str = "bytes such as A-Za-z0-9_";

/// A byte as it stands in the text.
struct Written {
    span: Range<usize>,
    byte: u8,
    /// Whether it is a hyphen without a backslash.
    is_hyphen: bool,
}

/// Reads a set: element `b` says whether the byte `b` is in it.
///
/// # Errors
/// The text is no set, or one of no byte or of all, in which there is nothing to find.
pub fn parse(text: &str) -> Read<[bool; 256]> {
    let (is_negated, start) = if text.starts_with('^') { (true, 1) } else { (false, 0) };
    let written = written(text, start)?;
    let mut members = [false; 256];
    let mut rest = &written[..];
    while let [first, after @ ..] = rest {
        let (last, after) = match after {
            [hyphen, last, after @ ..] if hyphen.is_hyphen => (last, after),
            _ => (first, after),
        };
        if last.byte < first.byte {
            let span = first.span.start..last.span.end;
            let expected = format!("'{}-{}'", &text[last.span.clone()], &text[first.span.clone()]);
            let said = format!("'{}' runs backwards", &text[span.clone()]);
            return Err(ClaimError::new(text, span, said, vec![expected]));
        }
        members[usize::from(first.byte)..=usize::from(last.byte)].fill(true);
        rest = after;
    }
    members.iter_mut().for_each(|is| *is ^= is_negated);
    let refuse =
        |said: &str| Err(ClaimError::new(text, 0..text.len(), said, vec![SUCH_AS.to_owned()]));
    match members.iter().filter(|is| **is).count() {
        0 => refuse("no byte is in the set"),
        256 => refuse("all 256 bytes are in the set"),
        _ => Ok(members),
    }
}

/// Reads the bytes of a text from a place on.
fn written(text: &str, start: usize) -> Read<Vec<Written>> {
    let mut found = Vec::new();
    let mut at = start;
    while let Some(character) = text[at..].chars().next() {
        let (byte, end) = match character {
            '\\' => escaped(text, at)?,
            _ => (ascii(text, at, character)?, at + 1),
        };
        found.push(Written { span: at..end, byte, is_hyphen: character == '-' });
        at = end;
    }
    Ok(found)
}

fn ascii(text: &str, at: usize, character: char) -> Read<u8> {
    u8::try_from(character).ok().filter(u8::is_ascii).ok_or_else(|| {
        let mut bytes = [0; 4];
        let bytes = character.encode_utf8(&mut bytes).bytes();
        let escapes: String = bytes.map(|byte| format!("\\x{byte:02x}")).collect();
        let span = at..at + character.len_utf8();
        let said = format!("'{}' is not one byte", character.escape_debug());
        ClaimError::new(text, span, said, vec![format!("its bytes, '{escapes}'")])
    })
}

/// Reads what a backslash begins: a byte, and the place after it.
fn escaped(text: &str, at: usize) -> Read<(u8, usize)> {
    let refuse = |end: usize, expected: &str| {
        let said = format!("'{}' is no byte", &text[at..end]);
        Err(ClaimError::new(text, at..end, said, vec![expected.to_owned()]))
    };
    let Some(character) = text[at + 1..].chars().next() else {
        return refuse(text.len(), "'\\\\' for a backslash");
    };
    let end = at + 1 + character.len_utf8();
    let byte = match character {
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        '0' => 0,
        'x' => {
            let digits = text.get(end..end + 2).map(|digits| u8::from_str_radix(digits, 16));
            return match digits {
                Some(Ok(byte)) if !text[end..].starts_with('+') => Ok((byte, end + 2)),
                _ => refuse(end, "two digits after '\\x', such as '\\x7f'"),
            };
        }
        _ if character.is_ascii_alphanumeric() => {
            return refuse(end, "'\\n', '\\r', '\\t', '\\0' or '\\x' and two digits");
        }
        _ => ascii(text, at + 1, character)?,
    };
    Ok((byte, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Vec<u8> {
        let members = parse(text).unwrap();
        (0..=255).filter(|byte| members[usize::from(*byte)]).collect()
    }

    #[test]
    fn sets_are_read() {
        assert_eq!(bytes("a-c_"), b"_abc");
        assert_eq!(bytes("-a"), b"-a");
        assert_eq!(bytes("a-"), b"-a");
        assert_eq!(bytes("a-c-e"), b"-abce");
        assert_eq!(bytes(r"\0\t\n\r\\\-\^\]"), b"\0\t\n\r-\\]^");
        assert_eq!(bytes(r"\x00-\x02\xff"), [0, 1, 2, 255]);
        assert_eq!(bytes(r"a\-c"), b"-ac");
        assert_eq!(bytes("a^"), b"^a");
        assert_eq!(bytes("^\\x02-\\xff"), [0, 1]);
        assert_eq!(bytes("^^").len(), 255);
    }

    #[test]
    fn what_is_no_set_is_pointed_at() {
        for (text, span, said) in [
            ("", 0..0, "no byte is in the set"),
            (r"^\0-\xff", 0..8, "no byte is in the set"),
            (r"\0-\xff", 0..7, "all 256 bytes are in the set"),
            ("^", 0..1, "all 256 bytes are in the set"),
            ("0-9z-a", 3..6, "'z-a' runs backwards: expected 'a-z'"),
            ("a\u{e9}", 1..3, "is not one byte: expected its bytes, '\\xc3\\xa9'"),
            ("a\\", 1..2, "is no byte: expected '\\\\' for a backslash"),
            ("\\q", 0..2, "is no byte: expected '\\n'"),
            ("a\\x4", 1..3, "is no byte: expected two digits after '\\x'"),
            ("\\x+4", 0..2, "is no byte"),
            ("\\xg0", 0..2, "is no byte"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.span, span, "{text}: {error}");
            assert!(error.to_string().contains(said), "{text}: {error}");
        }
    }
}
