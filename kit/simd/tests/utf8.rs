//! Each form against the standard library, between pages that cannot be read.

mod common;

use common::utf8::{check, check_parts, validators};
use common::{Guarded, Random};
use proptest::prelude::*;
use std::str;
use tiebreak_simd::utf8::{self, Invalid};

/// The most bytes that a form looks at together.
const LARGEST: usize = 4 * 64;

/// Fills bytes with characters of up to so many bytes, and the end with ASCII.
fn draw(bytes: &mut [u8], most: usize, random: &mut Random) {
    bytes.fill(b'.');
    let mut at = 0;
    while at + 4 <= bytes.len() {
        let word = random.next() >> 8;
        let code = match word as usize % most {
            0 => word >> 3 & 0x7f,
            1 => word >> 3 & 0x7ff,
            2 => word >> 3 & 0xffff,
            _ => (word >> 3) % 0x11_0000,
        };
        let drawn = char::from_u32(code).unwrap_or('\u{fffd}');
        at += drawn.encode_utf8(&mut bytes[at..]).len();
    }
}

/// A byte of each kind, and those between which a kind ends.
const KINDS: [u8; 24] = [
    0x00, 0x41, 0x7f, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0, 0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec,
    0xed, 0xee, 0xef, 0xf0, 0xf1, 0xf4, 0xf5, 0xff,
];

#[test]
fn every_length_to_340_at_every_alignment_between_guards() {
    let validators = validators();
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    let mut random = Random(1);
    for length in 0..=340 {
        for away in 0..64 {
            let most = 1 + (length + away) % 4;
            for from in [away, page_bytes - away - length] {
                let bytes = &mut guarded.bytes()[from..from + length];
                draw(bytes, most, &mut random);
                check(&validators, bytes);
                if length > 0 {
                    let at = random.next() as usize % length;
                    bytes[at] = KINDS[random.next() as usize % KINDS.len()];
                    check(&validators, bytes);
                }
            }
        }
    }
}

/// Calls with each place where a few bytes touch the end of a register, or of several.
fn round_borders(bytes: usize, mut at: impl FnMut(usize)) {
    for border in [0, 16, 32, 64, LARGEST + 64] {
        (0..=bytes).filter_map(|before| (border + 1_usize).checked_sub(before)).for_each(&mut at);
    }
}

#[test]
fn every_four_bytes_of_each_kind_round_the_borders() {
    let validators = validators();
    let mut text = [b'a'; 2 * LARGEST];
    for number in 0..KINDS.len().pow(4) {
        let four: [u8; 4] =
            std::array::from_fn(|at| KINDS[number / KINDS.len().pow(at as u32) % KINDS.len()]);
        // No place belongs to one of the four: it changes when the first three have been all.
        let turn = number + number / KINDS.len().pow(3);
        let at = [0, 13, 14, 15, 29, 30, 31, 61, 62, 63, 95, 127, 159][turn % 13];
        text[at..at + 4].copy_from_slice(&four);
        // What comes after them is nothing, one byte, more than a register, or several at once.
        for length in [at + 4, at + 5, 170, 340] {
            check(&validators, &text[..length]);
        }
        text[at..at + 4].fill(b'a');
    }
}

#[test]
fn every_character_round_the_borders() {
    let validators = validators();
    let mut text = [b'a'; 2 * LARGEST];
    let mut place = 0;
    for code in '\0'..=char::MAX {
        let bytes = code.len_utf8();
        round_borders(bytes, |at| {
            // A few of them for each character: all of them for its neighbours.
            place += 1;
            if place % 7 == 0 || code < '\u{800}' {
                code.encode_utf8(&mut text[at..]);
                let length = if place % 2 == 0 { at + bytes } else { text.len() };
                assert!(validators.iter().all(|validator| validator.is_valid(&text[..length])));
                text[at..at + bytes].fill(b'a');
            }
        });
    }
}

#[test]
#[ignore = "every four bytes, of any kind: minutes; part of make full"]
fn every_four_bytes_over_a_border() {
    let validators = validators();
    // Among registers that are looked at together, but in AVX-512, which has them from 64 on.
    let mut text = [b'a'; 170];
    for four in 0..=u32::MAX {
        for at in [62, 94] {
            text[at..at + 4].copy_from_slice(&four.to_le_bytes());
            let is_valid = str::from_utf8(&text[at..at + 4]).is_ok();
            for validator in &validators {
                assert_eq!(validator.is_valid(&text), is_valid, "{} {four:x}", validator.form());
            }
            text[at..at + 4].fill(b'a');
        }
    }
}

#[test]
fn the_function_says_the_same_and_errors_have_words() {
    let bytes = "gr\u{fc}n".repeat(100);
    assert_eq!(utf8::validate(bytes.as_bytes()), Ok(bytes.as_str()));
    let cut = &bytes.as_bytes()[..3];
    assert_eq!(utf8::validate(cut), Err(Invalid { at: 2, bytes: None }));
    assert_eq!(
        Invalid { at: 2, bytes: None }.to_string(),
        "the text ends within the character at byte 2"
    );
    assert_eq!(Invalid { at: 7, bytes: Some(1) }.to_string(), "no UTF-8 at byte 7");
}

/// Bytes of which most are text of characters of up to so many bytes.
fn texts() -> impl Strategy<Value = Vec<u8>> {
    (0..1200_usize, 1..=4_usize, any::<u32>(), 0..4_usize).prop_map(
        |(length, most, seed, wrong)| {
            let mut bytes = vec![0; length];
            let mut random = Random(seed);
            draw(&mut bytes, most, &mut random);
            for _ in 0..wrong.min(length) {
                bytes[random.next() as usize % length] =
                    KINDS[random.next() as usize % KINDS.len()];
            }
            bytes
        },
    )
}

proptest! {
    #[test]
    fn any_text_with_a_few_mistakes(bytes in texts()) {
        check(&validators(), &bytes);
    }

    #[test]
    fn a_text_in_parts_is_as_right_as_in_one(
        bytes in texts(),
        parts in prop::collection::vec(0..90_usize, 0..80),
    ) {
        check_parts(&validators(), &bytes, &parts);
    }
}
