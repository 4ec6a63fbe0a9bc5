//! UTF-8 in pieces, compared with what the standard library says of the whole.

use proptest::prelude::*;
use tiebreak_proto::websocket::{Error, Utf8};

/// A byte on each side of every boundary of the table of well-formed sequences (Unicode 3-7).
const BOUNDARIES: [u8; 26] = [
    0x00, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed,
    0xee, 0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf7, 0xf8, 0xff,
];

/// Checks pieces: an error comes with the first piece after which nothing can make a text of them.
fn check(bytes: &[u8], cuts: impl Iterator<Item = usize>) {
    let mut text = Utf8::new();
    let mut start = 0;
    for end in cuts.chain([bytes.len()]) {
        let said = text.check(&bytes[start..end]);
        let expected = std::str::from_utf8(&bytes[..end]);
        if expected.is_err_and(|error| error.error_len().is_some()) {
            assert_eq!(said, Err(Error::NotUtf8), "{bytes:x?} cut at {end}");
            return;
        }
        assert_eq!((said, text.is_whole()), (Ok(()), expected.is_ok()), "{bytes:x?} at {end}");
        start = end;
    }
}

/// Cuts bytes in every way.
fn check_all_cuts(bytes: &[u8]) {
    for cuts in 0..1_u32 << (bytes.len() - 1) {
        check(bytes, (1..bytes.len()).filter(|at| cuts >> (at - 1) & 1 == 1));
    }
}

#[test]
fn every_pair_of_bytes() {
    for pair in 0..=u16::MAX {
        check_all_cuts(&pair.to_be_bytes());
    }
}

/// All sequences of four bytes at the boundaries, and so all shorter ones.
#[test]
fn every_sequence_at_the_boundaries() {
    let count = BOUNDARIES.len();
    for sequence in 0..count.pow(4) {
        let digit = |place| BOUNDARIES[sequence / count.pow(place) % count];
        check_all_cuts(&[digit(3), digit(2), digit(1), digit(0)]);
    }
}

proptest! {
    #[test]
    fn texts_with_a_changed_byte(
        text: String,
        at: usize,
        byte: u8,
        mut cuts in prop::collection::vec(any::<usize>(), 0..6),
    ) {
        let mut bytes = text.into_bytes();
        let length = bytes.len();
        if let Some(changed) = bytes.get_mut(at % (length + 1)) {
            *changed = byte;
        }
        cuts.iter_mut().for_each(|cut| *cut %= length + 1);
        cuts.sort_unstable();
        check(&bytes, cuts.into_iter());
    }
}
