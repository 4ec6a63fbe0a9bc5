//! A comparison with every name of a list.

use tiebreak_simd::names::{self, Names};

/// Returns which name a text is.
pub fn expected(names: &[&str], text: &[u8]) -> Option<usize> {
    names.iter().position(|name| name.as_bytes().eq_ignore_ascii_case(text))
}

/// Asserts that a text is found where it stands in a list, alone and before other bytes.
#[track_caller]
pub fn check<const COUNT: usize, const SLOTS: usize>(list: &Names<COUNT, SLOTS>, text: &[u8]) {
    let names: Vec<&str> = (0..COUNT).map(|id| list.name(id)).collect();
    let expected = expected(&names, text);
    assert_eq!(list.find(text), expected, "{text:?}");
    for other in [0, b'a', b'-', 255] {
        let mut room = [other; names::MOST];
        let bytes = text.len().min(names::MOST);
        room[..bytes].copy_from_slice(&text[..bytes]);
        assert_eq!(list.find_padded(&room, text.len()), expected, "{text:?}");
    }
}
