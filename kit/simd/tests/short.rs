//! Every kernel on short texts: few enough for Miri, which sees each access outside of a slice, and
//! whatever else is undefined.

mod common;

use common::{Random, byte_set, decimal, names, percent, rolling_hash, uint8, utf8};
use tiebreak_simd::Form;
use tiebreak_simd::byte_set::{ByteSet, Finder};
use tiebreak_simd::names::HTTP;

/// Lengths round the ends of registers.
const LENGTHS: [usize; 16] = [0, 1, 3, 4, 7, 8, 15, 16, 17, 19, 32, 33, 35, 64, 67, 170];

#[test]
fn sets_of_bytes() {
    let text: Vec<u8> = (0..170_u8).map(|byte| byte.wrapping_mul(37)).collect();
    for set in [ByteSet::range(b'a', b'z'), ByteSet::of(&[0, 17, 34, 51, 68, 85, 102, 119, 136])] {
        for length in LENGTHS {
            for form in Form::here() {
                byte_set::check(&set, &Finder::of_form(&set, form).unwrap(), &text[..length]);
            }
            byte_set::check_classes(&[set, set.others()], &text[..length]);
        }
    }
}

#[test]
fn numbers() {
    let numbers: Vec<i64> = (0..80).map(|at| (i64::MIN + 7) >> (at % 64)).collect();
    for count in [0, 1, 8, 9, 80] {
        decimal::check_all(&numbers[..count], b',');
    }
    numbers.iter().for_each(|number| decimal::check_one(*number));
    let pairs: Vec<u32> = (0..80).collect();
    decimal::check_all(&pairs, b',');
    let long: Vec<u64> = (0..9).map(|at| u64::MAX >> (7 * at)).collect();
    decimal::check_all(&long, b',');
}

#[test]
fn names_of_headers() {
    for text in [&b"TE"[..], b"via", b"Date", b"ACCEPT-ranges", b"x-frame-option", b"[gE", b""] {
        names::check(&HTTP, text);
    }
    names::check(&HTTP, HTTP.name(26).as_bytes());
}

#[test]
fn escaped_text() {
    let text: Vec<u8> = (0..170_u8).map(|byte| byte.wrapping_mul(37)).collect();
    for set in [ByteSet::range(b'a', b'z'), ByteSet::EMPTY.others(), ByteSet::EMPTY] {
        let escapes = percent::escapes(&set);
        for length in LENGTHS {
            percent::check(&set, &escapes, &text[..length], &mut [0; 560]);
        }
    }
}

#[test]
fn hashes_of_windows() {
    let text: Vec<u8> = (0..170_u8).map(|byte| byte.wrapping_mul(101)).collect();
    for (window, base) in [(1, 31), (3, 31), (8, 31), (13, 300), (16, 127), (32, 31), (130, 7)] {
        for length in [window - 1, window, window + 1, 170] {
            rolling_hash::check(window, base, length % 2 == 0, &text[..length]);
        }
    }
}

#[test]
fn small_numbers() {
    for text in [&b""[..], b"0", b"07", b"255", b"256", b"1x", b"0000"] {
        uint8::check_one(text);
    }
    let text = b"7\n255\n\n18\n300\n0\nno\n".repeat(13);
    for length in LENGTHS {
        uint8::check(&text[..length]);
    }
    // Four numbers in a row, in parts of a text.
    let text = b"7\n255\n18\n0\n42\n".repeat(30);
    for length in [17, 255, 256, 300, text.len()] {
        uint8::check(&text[..length]);
    }
}

#[test]
fn texts() {
    let validators = utf8::validators();
    let mut random = Random(3);
    for text in ["plain ascii, ", "gr\u{fc}n, ", "\u{6f22}\u{5b57}\u{ff0c}", "\u{1f600}\u{e9}"] {
        let text = text.repeat(30);
        for length in LENGTHS {
            let mut bytes = text.as_bytes()[..length].to_vec();
            let said = tiebreak_simd::utf8::validate(&bytes).map(|_| ());
            assert_eq!(said, utf8::expected(&bytes));
            utf8::check(&validators, &bytes);
            utf8::check_parts(&validators, &bytes, &[1, 2, 0, 30]);
            if length > 0 {
                bytes[random.next() as usize % length] = 0xf0;
                utf8::check(&validators, &bytes);
            }
        }
    }
}
