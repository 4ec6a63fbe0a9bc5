//! The standard library, and what reads small numbers.

use tiebreak_simd::Form;
use tiebreak_simd::uint8::{self, Lines};

/// Returns the number that a text is.
pub fn expected(text: &[u8]) -> Option<u8> {
    let is_short = (1..=3).contains(&text.len()) && text.iter().all(u8::is_ascii_digit);
    is_short.then(|| std::str::from_utf8(text).unwrap().parse().ok()).flatten()
}

/// Asserts that a text is read as it is, alone and before other bytes.
#[track_caller]
pub fn check_one(text: &[u8]) {
    assert_eq!(uint8::parse(text), expected(text), "{text:?}");
    for other in [0, b'7', 255] {
        let mut room = [other; uint8::ROOM];
        let bytes = text.len().min(uint8::ROOM);
        room[..bytes].copy_from_slice(&text[..bytes]);
        assert_eq!(uint8::parse_padded(&room, text.len()), expected(text), "{text:?}");
    }
}

/// Returns the number of each line.
pub fn numbers(text: &[u8]) -> Vec<u16> {
    let mut lines: Vec<&[u8]> = text.split(|byte| *byte == b'\n').collect();
    // What is behind the last line feed is a line, unless it is nothing.
    lines.pop_if(|line| line.is_empty());
    lines.into_iter().map(|line| expected(line).map_or(uint8::NONE, u16::from)).collect()
}

/// Asserts that each form reads all lines of a text.
#[track_caller]
pub fn check(text: &[u8]) {
    let expected = numbers(text);
    for form in Form::here() {
        let lines = Lines::of_form(form).unwrap();
        assert_eq!(lines.count(text), expected.len(), "{form}: {text:?}");
        for more in [0, 1, 70] {
            let mut found = vec![7777; expected.len() + more];
            assert_eq!(lines.parse(text, &mut found), expected.len(), "{form}: {text:?}");
            assert_eq!(found[..expected.len()], expected, "{form}: {text:?}");
            assert!(found[expected.len()..].iter().all(|number| *number == 7777), "{form}");
        }
    }
}
