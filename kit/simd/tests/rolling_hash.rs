//! Each form against a hash that is made anew for each window, between pages that cannot be read.

mod common;

use common::rolling_hash::check;
use common::{Guarded, Random};
use proptest::prelude::*;
use tiebreak_simd::Form;
use tiebreak_simd::rolling_hash::RollingHash;

/// Fills bytes with some that say little of their neighbours, the extremes among them.
fn draw(bytes: &mut [u8], seed: u32) {
    let mut random = Random(seed);
    for byte in bytes {
        let state = random.next();
        *byte = match state >> 29 {
            0 => 0,
            1 => 255,
            2 => 128,
            3 => 127,
            _ => (state >> 16) as u8,
        };
    }
}

#[test]
fn every_window_to_100_of_every_length_to_200_between_guards() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    draw(guarded.bytes(), 1);
    for window in 1..=100 {
        for length in 0..=200 {
            let away = (window + length) % 64;
            for from in [away, page_bytes - length] {
                let bytes = &guarded.bytes()[from..from + length];
                check(window, 31, length % 2 == 0, bytes);
            }
        }
    }
}

#[test]
fn every_alignment_between_guards() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    draw(guarded.bytes(), 2);
    for length in 0..=200 {
        for away in 0..64 {
            for from in [away, page_bytes - away - length] {
                check(8, 31, true, &guarded.bytes()[from..from + length]);
            }
        }
    }
}

#[test]
fn windows_round_every_border_in_texts_that_are_hashed_in_parts() {
    let mut text = vec![0; 10_000];
    draw(&mut text, 3);
    let windows = [1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 127, 128, 129, 130, 256];
    for window in windows.into_iter().chain([500, 700, 2047, 2048, 9999, 10_000]) {
        check(window, 31, window % 2 == 0, &text);
        check(window, 1_000_003, window % 2 == 1, &text);
    }
    // Lengths of which as many windows are left as are hashed at once, and about as many.
    for window in [8, 600] {
        for windows in (2020..2052).chain(4000..4100) {
            check(window, 31, false, &text[..windows + window - 1]);
        }
    }
}

#[test]
fn every_small_base_and_those_that_are_not() {
    // The extremes of both kinds of bytes, where products of pairs could overflow.
    for fill in [0, 127, 128, 255] {
        let text = [fill; 100];
        for base in (0..=300).chain([65_535, 65_536, u32::MAX]) {
            check(8, base, true, &text);
            check(9, base, false, &text);
        }
    }
}

#[test]
fn what_the_source_hashed() {
    // A million bytes that repeat after 256, of which no window of eight has the hash 0.
    let text: Vec<u8> = (0..1 << 20).map(|at| at as u8).collect();
    for form in Form::here() {
        let hash = RollingHash::of_form(8, 31, form).unwrap().of_signed_bytes();
        assert_eq!(hash.count(&text, 0), 0);
        assert_eq!(hash.count(&text, hash.of(&text[5..13])), 4096);
    }
}

#[test]
fn a_form_that_is_not_here_is_refused() {
    for form in Form::ALL {
        let found = RollingHash::of_form(8, 31, form);
        assert_eq!(found.map(|hash| hash.form()).ok(), form.is_here().then_some(form));
    }
}

#[test]
#[should_panic(expected = "a window has at least one byte")]
fn a_window_has_a_byte() {
    RollingHash::new(0, 31).unwrap();
}

#[test]
#[should_panic(expected = "3 hashes need room, and there are 2")]
fn hashes_need_room() {
    RollingHash::new(8, 31).unwrap().hashes(&[0; 10], &mut [0; 2]);
}

proptest! {
    #[test]
    fn any_window_of_any_text_in_any_base(
        window in 1_usize..1200,
        base in any::<u32>(),
        is_signed in any::<bool>(),
        text in prop::collection::vec(any::<u8>(), 0..3000),
    ) {
        check(window, base, is_signed, &text);
    }
}
