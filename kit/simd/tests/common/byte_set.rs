//! A loop over the bytes, and what a set of bytes finds.

use tiebreak_simd::Form;
use tiebreak_simd::byte_set::{ByteSet, Classes, Finder};

/// Asserts that a finder says of these bytes what a loop over them says.
#[track_caller]
pub fn check(set: &ByteSet, finder: &Finder, bytes: &[u8]) {
    let has = |byte: &u8| set.has(*byte);
    let about = || format!("{}: {set:?} in {bytes:?}", finder.form());
    assert_eq!(finder.find(bytes), bytes.iter().position(has), "{}", about());
    let span = bytes.iter().position(|byte| !has(byte)).unwrap_or(bytes.len());
    assert_eq!(finder.span(bytes), span, "{}", about());
    assert_eq!(finder.count(bytes), bytes.iter().filter(|byte| has(byte)).count(), "{}", about());
    assert!(finder.split(bytes).eq(bytes.split(has)), "{}", about());
    let mut masks = vec![7; bytes.len().div_ceil(64) + 2];
    finder.masks(bytes, &mut masks);
    for (chunk, mask) in bytes.chunks(64).zip(&masks) {
        let bits = chunk.iter().enumerate().map(|(at, byte)| u64::from(has(byte)) << at);
        assert_eq!(*mask, bits.sum::<u64>(), "{}", about());
    }
    assert!(masks[bytes.len().div_ceil(64)..].iter().all(|mask| *mask == 7), "{}", about());
}

/// Asserts that classes and a cursor say what a loop says.
#[track_caller]
pub fn check_classes<const N: usize>(sets: &[ByteSet; N], bytes: &[u8]) {
    for form in Form::here() {
        let classes = Classes::of_form(sets, form).unwrap();
        assert_eq!(classes.form(), form);
        let mut masks = vec![[7; N]; bytes.len().div_ceil(64) + 1];
        classes.masks(bytes, &mut masks);
        for (chunk, masks) in bytes.chunks(64).zip(&masks) {
            let mask_of = |set: &ByteSet| {
                let bits = chunk.iter().enumerate();
                bits.map(|(at, byte)| u64::from(set.has(*byte)) << at).sum::<u64>()
            };
            assert_eq!(*masks, sets.each_ref().map(mask_of), "{form}: {bytes:?}");
        }
        assert_eq!(masks.last(), Some(&[7; N]), "{form}: {bytes:?}");
        // On by a few bytes with each set in turn, at times back, at times beyond the end.
        let mut cursor = classes.cursor(bytes);
        for step in 0..bytes.len() + 20 {
            let from = if step % 7 == 6 { step / 2 } else { step * 3 / 2 };
            let set = step % N;
            let rest = bytes.get(from..).unwrap_or(&[]);
            let at = rest.iter().position(|byte| sets[set].has(*byte)).map(|at| from + at);
            assert_eq!(cursor.find(set, from), at, "{form}: {set} from {from} in {bytes:?}");
        }
        assert_eq!(cursor.find(0, usize::MAX), None);
    }
}
