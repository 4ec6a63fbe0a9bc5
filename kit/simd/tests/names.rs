//! Lists of names against a comparison with each.

mod common;

use common::names::check;
use common::{Guarded, Random};
use proptest::prelude::*;
use tiebreak_simd::names::{self, HTTP, Names};

/// Names of all lengths, with letters, digits and what has the bit of a letter's case.
static LENGTHS: Names<64, { names::slots(64) }> = {
    const ALL: &str = "az-AZ09_@`[{]}^~~^}]{[`@_90ZA-zaz-AZ09_@`[{]}^~~^}]{[`@_90ZA-zaB";
    let mut lengths = [ALL; 64];
    let mut at = 0;
    while at < 64 {
        lengths[at] = ALL.split_at(at + 1).0;
        at += 1;
    }
    Names::new(lengths)
};

/// As many as the smallest number of slots takes, made by the compiler.
static LETTERS: Names<19, { names::slots(19) }> = Names::new([
    "a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n", "o", "p", "q", "r", "s",
]);

#[test]
fn letters() {
    for byte in 0..=255 {
        check(&LETTERS, &[byte]);
    }
}

#[test]
fn each_name_in_mixtures_of_cases() {
    let mut random = Random(1);
    for id in 0..95 {
        let name = HTTP.name(id);
        assert_eq!(HTTP.find(name.as_bytes()), Some(id));
        assert_eq!(HTTP.find(name.to_ascii_uppercase().as_bytes()), Some(id));
        for _ in 0..300 {
            let mut text = name.to_ascii_lowercase().into_bytes();
            let cases = random.next();
            for (at, byte) in text.iter_mut().enumerate() {
                if cases >> (at % 32) & 1 == 1 {
                    byte.make_ascii_uppercase();
                }
            }
            assert_eq!(HTTP.find(&text), Some(id));
            check(&HTTP, &text);
        }
    }
}

#[test]
fn each_name_with_each_byte_changed() {
    for id in 0..64 {
        let name = LENGTHS.name(id).as_bytes();
        for at in 0..name.len() {
            for byte in 0..=255 {
                let mut text = name.to_vec();
                text[at] = byte;
                check(&LENGTHS, &text);
            }
        }
    }
}

#[test]
fn each_name_cut_off_and_with_a_byte_more() {
    for id in 0..95 {
        let name = HTTP.name(id).as_bytes();
        for length in 0..name.len() {
            check(&HTTP, &name[..length]);
            check(&HTTP, &name[length..]);
        }
        for byte in 0..=255 {
            check(&HTTP, &[name, &[byte]].concat());
            check(&HTTP, &[&[byte], name].concat());
        }
    }
    for length in 0..=200 {
        check(&HTTP, &b"a".repeat(length));
    }
}

#[test]
fn nothing_before_or_behind_a_name_is_read() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    for id in 0..64 {
        let name = LENGTHS.name(id).as_bytes();
        for from in [0, page_bytes - name.len()] {
            let place = from..from + name.len();
            guarded.bytes()[place.clone()].copy_from_slice(name);
            assert_eq!(LENGTHS.find(&guarded.bytes()[place]), Some(id));
        }
    }
}

#[test]
fn lists_of_none_and_of_the_most() {
    static NONE: Names<0, { names::slots(0) }> = Names::new([]);
    check(&NONE, b"");
    check(&NONE, b"a");
    let all: Vec<String> = (0..names::MOST_NAMES).map(|at| format!("name-{at}-x")).collect();
    let all: Vec<&'static str> = all.into_iter().map(|name| &*name.leak()).collect();
    let list: Names<255, { names::slots(255) }> = Names::new(all.try_into().unwrap());
    for id in 0..names::MOST_NAMES {
        assert_eq!(list.find(list.name(id).as_bytes()), Some(id));
    }
    check(&list, b"name-255-x");
}

/// Asserts that a list is refused.
#[track_caller]
fn refused<const COUNT: usize, const SLOTS: usize>(list: [&'static str; COUNT], why: &str) {
    let said = std::panic::catch_unwind(|| Names::<COUNT, SLOTS>::new(list)).err().unwrap();
    let said = said.downcast::<&str>().unwrap();
    assert!(said.contains(why), "{said}");
}

#[test]
fn what_is_no_list_is_refused() {
    static LONG: [u8; 65] = [b'a'; 65];
    refused::<2, 16>(["a", ""], "a name is empty");
    refused::<1, 16>([std::str::from_utf8(&LONG).unwrap()], "more than 64 bytes");
    refused::<3, 16>(["get", "put", "GET"], "two names are the same");
    refused::<2, 16>(["cpu10_user", "cpu11_user"], "no seven places");
    refused::<256, 8192>([""; 256], "more than 255 names");
    refused::<2, 15>(["get", "put"], "no power of two");
    refused::<3, 2>(["get", "put", "head"], "too few slots");
}

proptest! {
    #[test]
    fn any_text(text in prop::collection::vec(any::<u8>(), 0..70)) {
        check(&HTTP, &text);
        check(&LENGTHS, &text);
    }
}
