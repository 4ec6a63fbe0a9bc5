//! Each form against a loop over the bytes, between pages that cannot be read.

mod common;

use common::byte_set::{check, check_classes};
use common::{Guarded, Random};
use proptest::prelude::*;
use tiebreak_simd::Form;
use tiebreak_simd::byte_set::{ByteSet, Finder};

fn finders(set: &ByteSet) -> Vec<Finder> {
    Form::here().map(|form| Finder::of_form(set, form).unwrap()).collect()
}

/// Sets with tables by halves and without, of few bytes and of many.
fn sets() -> [ByteSet; 8] {
    let letters = ByteSet::range(b'A', b'Z').with(ByteSet::range(b'a', b'z'));
    let diagonal = ByteSet::of(&(0..16).map(|at| 17 * at).collect::<Vec<u8>>());
    [
        ByteSet::EMPTY,
        ByteSet::EMPTY.others(),
        ByteSet::of(b"\0"),
        ByteSet::of(b"\r\n"),
        letters.with(ByteSet::range(b'0', b'9')).with(ByteSet::of(b"-_")),
        ByteSet::range(128, 255),
        diagonal,
        diagonal.others(),
    ]
}

#[test]
fn every_length_at_every_alignment_between_guards() {
    let mut guarded = Guarded::new();
    let mut random = Random(1);
    let page_bytes = guarded.page_bytes;
    for set in sets() {
        let finders = finders(&set);
        // Bytes of the set and others in turn, mostly a few, at times up to 127.
        let kinds = [set, set.others()].map(|set| set.bytes().collect::<Vec<u8>>());
        let kinds: Vec<Vec<u8>> = kinds.into_iter().filter(|kind| !kind.is_empty()).collect();
        let (mut left, mut kind) = (0, 0);
        for byte in guarded.bytes() {
            let state = random.next();
            if left == 0 {
                left = 1 + (state >> 16 & if state >> 30 == 0 { 127 } else { 7 });
                kind = (kind + 1) % kinds.len();
            }
            left -= 1;
            *byte = kinds[kind][(state >> 8) as usize % kinds[kind].len()];
        }
        for length in 0..=200 {
            for away in 0..64 {
                for from in [away, page_bytes - away - length] {
                    let bytes = &guarded.bytes()[from..from + length];
                    finders.iter().for_each(|finder| check(&set, finder, bytes));
                }
            }
        }
    }
}

#[test]
fn every_byte_in_every_place_of_a_block() {
    for set in sets() {
        for finder in finders(&set) {
            for byte in 0..=255 {
                let bytes = [byte; 64];
                let expected = if set.has(byte) { u64::MAX } else { 0 };
                assert_eq!(finder.mask(&bytes), expected, "{}: {set:?}: {byte}", finder.form());
            }
        }
    }
}

#[test]
fn classes_of_every_length_at_every_alignment_between_guards() {
    let mut guarded = Guarded::new();
    let page_bytes = guarded.page_bytes;
    let mut random = Random(5);
    for byte in guarded.bytes() {
        let state = random.next();
        *byte = if state >> 28 == 0 { (state >> 16) as u8 } else { b'a' + (state >> 16) as u8 % 8 };
    }
    let all = sets();
    for length in 0..=200 {
        for away in 0..64 {
            let bytes = &guarded.bytes()[page_bytes - away - length..page_bytes - away];
            match length % 3 {
                0 => check_classes(&[all[3], all[4], all[5]], bytes),
                1 => check_classes(&[all[6], all[0]], bytes),
                _ => check_classes(&[all[7]], bytes),
            }
        }
    }
}

#[test]
fn a_form_that_is_not_here_is_refused() {
    for form in Form::ALL {
        let found = Finder::of_form(&ByteSet::EMPTY, form);
        assert_eq!(found.map(|finder| finder.form()).ok(), form.is_here().then_some(form));
    }
}

/// Run by [`a_form_can_be_forced`], in a process with another environment.
#[test]
fn which_form_is_chosen() {
    match Finder::new(&ByteSet::EMPTY) {
        Ok(finder) => println!("takes {}", finder.form()),
        Err(refused) => println!("refuses: {refused}"),
    }
}

/// Not where the tests run in an emulator, which starts no other process.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_form_can_be_forced() {
    let said = |name: &str| {
        let words = ["--exact", "which_form_is_chosen", "--nocapture"];
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        let ran = command.args(words).env("TIEBREAK_SIMD", name).output().unwrap();
        String::from_utf8(ran.stdout).unwrap()
    };
    assert!(said("scalar").contains("takes scalar"), "{}", said("scalar"));
    assert!(said("").contains(&format!("takes {}", Form::widest())), "{}", said(""));
    assert!(said("avx3").contains("refuses: no form of a kernel"), "{}", said("avx3"));
    for missing in Form::ALL.into_iter().filter(|form| !form.is_here()) {
        let expected = format!("refuses: this CPU does not have {missing}");
        assert!(said(missing.name()).contains(&expected), "{}", said(missing.name()));
    }
}

#[test]
#[should_panic(expected = "2 masks need room, and there are 1")]
fn masks_need_room() {
    Finder::new(&ByteSet::EMPTY).unwrap().masks(&[0; 65], &mut [0]);
}

proptest! {
    #[test]
    fn any_set_in_any_bytes(
        members in prop::collection::vec(any::<u8>(), 0..256),
        bytes in prop::collection::vec(any::<u8>(), 0..800),
    ) {
        let set = ByteSet::of(&members);
        finders(&set).iter().for_each(|finder| check(&set, finder, &bytes));
        check_classes(&[set, set.others(), ByteSet::of(&bytes[..bytes.len() / 2])], &bytes);
    }
}
