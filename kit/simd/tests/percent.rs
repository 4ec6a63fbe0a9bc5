//! Each form against a loop over the bytes, between pages that cannot be touched.

mod common;

use common::percent::{check, escapes};
use common::{Guarded, Random};
use proptest::prelude::*;
use tiebreak_simd::byte_set::ByteSet;
use tiebreak_simd::percent::{Escape, UNRESERVED};

fn sets() -> [ByteSet; 4] {
    [ByteSet::of(b"%"), UNRESERVED.others(), ByteSet::EMPTY, ByteSet::EMPTY.others()]
}

#[test]
fn every_length_at_every_alignment_between_guards() {
    let (mut text, mut room) = (Guarded::new(), Guarded::new());
    let page_bytes = text.page_bytes;
    let mut random = Random(1);
    // Parts in which few bytes are escaped, and such in which many are.
    for (at, byte) in text.bytes().iter_mut().enumerate() {
        let state = random.next();
        let is_escaped = state >> 16 & if at / 50 % 2 == 0 { 31 } else { 1 } == 0;
        *byte = if is_escaped { b'%' } else { b'a' + (state >> 24) as u8 % 26 };
    }
    for set in sets() {
        let escapes = escapes(&set);
        for length in 0..=200 {
            let alignments = if length % 8 == 7 { 0..64 } else { 0..1 };
            for away in alignments {
                for from in [away, page_bytes - away - length] {
                    let text = &text.bytes()[from..from + length];
                    let bytes = room.bytes();
                    let end = bytes.len() - away;
                    check(&set, &escapes, text, &mut bytes[end.saturating_sub(1200)..end]);
                }
            }
        }
    }
}

#[test]
fn every_byte_and_every_five_of_them() {
    let mut room = vec![0; 4096];
    let escapes_all = escapes(&ByteSet::EMPTY.others());
    let all: Vec<u8> = (0..=255).collect();
    check(&ByteSet::EMPTY.others(), &escapes_all, &all, &mut room);
    let set = ByteSet::of(b"%");
    let escapes = escapes(&set);
    for bits in 0..1_u32 << 10 {
        for from in [0, 11, 27, 59] {
            let mut text = [b'x'; 110];
            for at in 0..10 {
                text[from + at] = if bits >> at & 1 == 1 { b'%' } else { b'a' + at as u8 };
            }
            check(&set, &escapes, &text, &mut room);
        }
    }
}

#[test]
fn what_has_no_room_is_refused() {
    for escape in escapes(&ByteSet::of(b"%")) {
        for length in [1, 5, 40, 200] {
            let text = vec![b'%'; length];
            let mut room = vec![0; 3 * length - 1];
            let refused = std::panic::catch_unwind(move || escape.write(&text, &mut room));
            let said = refused.unwrap_err().downcast::<String>().unwrap();
            assert!(said.contains("more bytes need room"), "{said}");
        }
    }
}

#[test]
fn memory_without_a_value_is_filled() {
    let escape = Escape::new(&UNRESERVED.others()).unwrap();
    let text = "caf\u{e9} & bar/".repeat(9);
    let mut escaped: Vec<u8> = Vec::with_capacity(Escape::room(text.len()));
    let bytes = escape.write_uninit(text.as_bytes(), escaped.spare_capacity_mut());
    // SAFETY: so many bytes were written.
    unsafe { escaped.set_len(bytes) };
    assert_eq!(escaped, "caf%C3%A9%20%26%20bar%2F".repeat(9).as_bytes());
}

proptest! {
    #[test]
    fn any_set_in_any_bytes(
        members in prop::collection::vec(any::<u8>(), 0..256),
        text in prop::collection::vec(any::<u8>(), 0..500),
    ) {
        let set = ByteSet::of(&members);
        check(&set, &escapes(&set), &text, &mut vec![0; 3 * text.len() + 500]);
    }
}
