//! A hash that is made anew for each window, and that of each form.

use tiebreak_simd::Form;
use tiebreak_simd::rolling_hash::RollingHash;

/// Returns the hash of a window, by its definition.
pub fn expected(window: &[u8], base: u32, is_signed: bool) -> u32 {
    window.iter().fold(0_u32, |hash, byte| {
        let number = if is_signed { i64::from(*byte as i8) } else { i64::from(*byte) };
        hash.wrapping_mul(base).wrapping_add(number as u32)
    })
}

/// Asserts that all forms give all hashes of a text, write no other, and count those that are
/// equal to the first and to the last.
#[track_caller]
pub fn check(window: usize, base: u32, is_signed: bool, text: &[u8]) {
    let hashes: Vec<u32> =
        text.windows(window).map(|bytes| expected(bytes, base, is_signed)).collect();
    for form in Form::here() {
        let about = || format!("{form}: {window} of {} bytes, base {base}", text.len());
        let mut hash = RollingHash::of_form(window, base, form).unwrap();
        if is_signed {
            hash = hash.of_signed_bytes();
        }
        let mut found = vec![7; hashes.len() + 20];
        assert_eq!(hash.hashes(text, &mut found), hashes.len(), "{}", about());
        assert!(found[..hashes.len()] == hashes, "{}", about());
        assert_eq!(found[hashes.len()..], [7; 20], "{}", about());
        for target in [hashes.first(), hashes.last(), Some(&7)].into_iter().flatten() {
            let count = hashes.iter().filter(|hash| *hash == target).count();
            assert_eq!(hash.count(text, *target), count, "{}", about());
        }
    }
}
