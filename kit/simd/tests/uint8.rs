//! Each form against the standard library, between pages that cannot be touched.

mod common;

use common::uint8::{check, check_one};
use common::{Guarded, Random};
use proptest::prelude::*;
use tiebreak_simd::uint8::{self, Lines};

#[test]
fn every_text_of_three_bytes_and_fewer() {
    check_one(b"");
    for a in 0..=255 {
        check_one(&[a]);
        for b in 0..=255 {
            check_one(&[a, b]);
        }
    }
    // All are 16 million: here those of bytes round the digits.
    let near = || (0x2a..=0x3b).chain([0, 0xb0, 255]);
    for a in near() {
        for b in near() {
            for c in near() {
                check_one(&[a, b, c]);
                check_one(&[a, b, c, b'1']);
            }
        }
    }
}

#[test]
#[ignore = "16 million texts: make full"]
fn every_text_of_three_bytes() {
    for word in 0..1_u32 << 24 {
        let [text @ .., _] = word.to_le_bytes();
        assert_eq!(uint8::parse(&text), common::uint8::expected(&text), "{text:?}");
    }
}

#[test]
fn good_lines_before_what_is_none() {
    for good in 0..40 {
        for bad in [&b"a"[..], b"", b"1234", b"256"] {
            for more in [0, 1, 70] {
                let lines = [&b"1\n".repeat(good)[..], bad, &b"a".repeat(more), b"\n"].concat();
                check(&lines);
                check(&[&lines[..], &b"7\n".repeat(40)].concat());
            }
        }
    }
}

#[test]
fn every_four_lengths_of_lines() {
    for lengths in 0..5_usize.pow(4) {
        let mut text = Vec::new();
        for line in 0..4 {
            let length = lengths / 5_usize.pow(line) % 5;
            text.extend(b"1029".iter().take(length));
            text.push(b'\n');
        }
        text.extend(b"5\n66\n123\n4567\n");
        check(&text);
    }
}

#[test]
fn every_length_of_text_between_guards() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    let mut random = Random(1);
    let mut text = Vec::new();
    while text.len() < page_bytes {
        let state = random.next();
        let number = state >> 8 & if state >> 27 == 0 { 1023 } else { 255 };
        text.extend(number.to_string().bytes());
        if state >> 26 == 7 {
            text.push(b'x');
        }
        text.push(b'\n');
    }
    guarded.bytes().copy_from_slice(&text[..page_bytes]);
    for length in (0..=300).chain((300..page_bytes).step_by(97)) {
        check(&guarded.bytes()[..length]);
        check(&guarded.bytes()[page_bytes - length..]);
    }
}

#[test]
#[should_panic(expected = "more than 99 lines need room")]
fn numbers_need_room() {
    Lines::new().unwrap().parse(&b"1\n".repeat(100), &mut [0; 99]);
}

proptest! {
    #[test]
    fn any_text(text in prop::collection::vec(any::<u8>(), 0..400)) {
        check_one(&text);
        check(&text);
    }

    #[test]
    fn any_lines_of_few_bytes(text in "[0-9x\n]{0,900}") {
        check(text.as_bytes());
    }
}
