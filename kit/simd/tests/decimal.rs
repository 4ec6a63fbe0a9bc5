//! Each way to write numbers against the standard library's.

mod common;

use common::decimal::{check_all, check_one};
use common::{Guarded, Random};
use proptest::prelude::*;
use std::panic;
use tiebreak_simd::Form;
use tiebreak_simd::decimal::{self, Batch};

/// Numbers round all powers of two and of ten, 0 among them.
fn neighbours() -> Vec<u64> {
    let twos = (0..64).map(|power| 1_u64 << power);
    let tens = (0..20).map(|power| 10_u64.pow(power));
    let around =
        |number: u64| (0..300).map(move |away| number.wrapping_add(away).wrapping_sub(150));
    twos.chain(tens).flat_map(around).collect()
}

#[test]
fn every_type_round_every_power() {
    for number in neighbours() {
        check_one(number);
        check_one(number as u32);
        check_one(number as i32);
        check_one(number as i64);
    }
    for number in [i64::MIN, i64::MAX] {
        check_one(number);
    }
}

#[test]
fn many_of_every_type_round_every_power() {
    let numbers = neighbours();
    check_all(&numbers, b'\n');
    check_all(&numbers.iter().map(|number| *number as u32).collect::<Vec<_>>(), b',');
    check_all(&numbers.iter().map(|number| *number as i32).collect::<Vec<_>>(), b' ');
    check_all(&numbers.iter().map(|number| *number as i64).collect::<Vec<_>>(), 0);
    let negative = |number: &u64| (*number as i64).wrapping_neg();
    check_all(&numbers.iter().map(|number| negative(number) as i32).collect::<Vec<_>>(), b'0');
    check_all(&numbers.iter().map(negative).collect::<Vec<_>>(), b'-');
}

#[test]
fn every_count_to_200_of_few_and_of_many_digits() {
    let mut random = Random(5);
    for count in 0..=200 {
        let any: Vec<u64> = (0..count)
            .map(|_| {
                let word = u64::from(random.next()) << 32 | u64::from(random.next());
                word >> (random.next() % 64)
            })
            .collect();
        check_all(&any, b',');
        check_all(&any.iter().map(|number| number % 20).collect::<Vec<_>>(), b',');
        check_all(&any.iter().map(|number| number % 100_000_000).collect::<Vec<_>>(), b',');
    }
}

#[test]
fn nothing_is_written_beyond_the_room() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    let numbers: Vec<u64> = (0..200).map(|power| 7 << (power % 61)).collect();
    let texts: Vec<String> = numbers.iter().map(u64::to_string).collect();
    for count in 0..=numbers.len() {
        let needed: usize = texts[..count].iter().map(|text| text.len() + 1).sum();
        for form in Form::here() {
            let into = &mut guarded.bytes()[page_bytes - needed..];
            let bytes = Batch::of_form(form).unwrap().write(&numbers[..count], b';', into);
            assert_eq!(bytes, needed);
        }
    }
    for (number, text) in numbers.iter().zip(&texts) {
        let into = &mut guarded.bytes()[page_bytes - text.len()..];
        assert_eq!(decimal::write(*number, into), text.len());
    }
}

#[test]
fn too_little_room_is_said() {
    let said = |write: fn(&mut [u8]) -> usize| {
        let caught = panic::catch_unwind(|| write(&mut [0; 4])).unwrap_err();
        caught.downcast_ref::<String>().cloned().unwrap_or_default()
    };
    let one = said(|into| decimal::write(12_345, into));
    assert_eq!(one, "5 bytes need room, and there are 4");
    let many = said(|into| Batch::new().unwrap().write(&[1, 2, 3], b',', into));
    assert_eq!(many, "at least 6 bytes need room, and there are 4");
}

#[test]
#[ignore = "every number of 32 bits: minutes; part of make full"]
fn every_number_of_32_bits() {
    let mut expected = String::new();
    let mut text = vec![0; Batch::room(1 << 16)];
    for upper in 0..=u16::MAX {
        let numbers: Vec<u32> =
            (0..=u16::MAX).map(|lower| u32::from(upper) << 16 | u32::from(lower)).collect();
        expected.clear();
        for number in &numbers {
            expected.push_str(&number.to_string());
            expected.push(',');
        }
        for form in Form::here() {
            let bytes = Batch::of_form(form).unwrap().write(&numbers, b',', &mut text);
            assert!(text[..bytes] == *expected.as_bytes(), "{form}: {upper:x}");
        }
        let mut at = 0;
        for number in numbers {
            at += decimal::write(number, &mut text[at..]);
            text[at] = b',';
            at += 1;
        }
        assert!(text[..at] == *expected.as_bytes(), "{upper:x}");
    }
}

proptest! {
    #[test]
    fn any_numbers(numbers in prop::collection::vec((any::<i64>(), 0..64_u32), 0..150)) {
        let numbers: Vec<i64> = numbers.iter().map(|(number, shift)| number >> shift).collect();
        numbers.iter().for_each(|number| check_one(*number));
        check_all(&numbers, b',');
        check_all(&numbers.iter().map(|number| *number as u64).collect::<Vec<_>>(), b',');
        check_all(&numbers.iter().map(|number| *number as u32).collect::<Vec<_>>(), b',');
    }
}
