//! A loop over the bytes, and what escapes them.

use std::fmt::Write;
use tiebreak_simd::Form;
use tiebreak_simd::byte_set::ByteSet;
use tiebreak_simd::percent::Escape;

/// Returns what is expected.
pub fn expected(set: &ByteSet, text: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::new();
    for byte in text {
        if set.has(*byte) {
            let mut digits = String::new();
            write!(digits, "%{byte:02X}").unwrap();
            escaped.extend_from_slice(digits.as_bytes());
        } else {
            escaped.push(*byte);
        }
    }
    escaped
}

/// Returns what escapes a set, in each form.
pub fn escapes(set: &ByteSet) -> Vec<Escape> {
    Form::here().map(|form| Escape::of_form(set, form).unwrap()).collect()
}

/// Asserts that each form writes what a loop writes, at the end of `room` as behind it: into
/// exactly as many bytes as that takes, and into more.
#[track_caller]
pub fn check(set: &ByteSet, escapes: &[Escape], text: &[u8], room: &mut [u8]) {
    let expected = expected(set, text);
    for escape in escapes {
        let about = || format!("{}: {set:?} in {text:?}", escape.form());
        assert_eq!(escape.len(text), expected.len(), "{}", about());
        assert_eq!(escape.find(text), text.iter().position(|byte| set.has(*byte)), "{}", about());
        for more in [0, 1, 40, 500] {
            let Some(from) = room.len().checked_sub(expected.len() + more) else { continue };
            room.fill(b'?');
            let written = escape.write(text, &mut room[from..]);
            let found = &room[from..from + written];
            assert_eq!(found, expected, "{}", about());
            assert!(room[..from].iter().all(|byte| *byte == b'?'), "{}", about());
        }
    }
}
