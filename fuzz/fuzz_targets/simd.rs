//! Any bytes by each kernel, in each form that this CPU has: what it says is what a loop says.

#![no_main]

#[path = "../../kit/simd/tests/common/byte_set.rs"]
mod byte_set;
#[path = "../../kit/simd/tests/common/decimal.rs"]
mod decimal;
#[path = "../../kit/simd/tests/common/names.rs"]
mod names;
#[path = "../../kit/simd/tests/common/percent.rs"]
mod percent;
#[path = "../../kit/simd/tests/common/rolling_hash.rs"]
mod rolling_hash;
#[path = "../../kit/simd/tests/common/uint8.rs"]
mod uint8;
#[path = "../../kit/simd/tests/common/utf8.rs"]
mod utf8;

use tiebreak_simd::Form;
use tiebreak_simd::byte_set::{ByteSet, Finder};
use tiebreak_simd::names::HTTP;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    // A few bytes say what is asked of the rest.
    let Some(([kernel, a, b, c], bytes)) = data.split_first_chunk() else { return };
    let [a, b, c] = [*a, *b, *c];
    match kernel % 7 {
        0 => {
            let set = ByteSet::range(a.min(b), a.max(b)).with(ByteSet::of(&[c]));
            for form in Form::here() {
                let finder = Finder::of_form(&set, form).expect("the form is here");
                byte_set::check(&set, &finder, bytes);
            }
            byte_set::check_classes(&[set, set.others(), ByteSet::of(&[c])], bytes);
        }
        1 => rolling_hash::check(1 + usize::from(a), u32::from(b), c % 2 == 1, bytes),
        2 => {
            let words = bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word));
            let numbers: Vec<u64> = words.map(|word| word >> (a % 64)).collect();
            decimal::check_all(&numbers, b);
            decimal::check_all(&numbers.iter().map(|number| *number as i32).collect::<Vec<_>>(), c);
        }
        3 => {
            let validators = utf8::validators();
            utf8::check(&validators, bytes);
            utf8::check_parts(&validators, bytes, &[a, b, c].map(usize::from));
        }
        4 => {
            let set = ByteSet::range(a.min(b), a.max(b)).with(ByteSet::of(&[c]));
            let mut room = vec![0; 3 * bytes.len() + 500];
            percent::check(&set, &percent::escapes(&set), bytes, &mut room);
        }
        5 => {
            uint8::check_one(bytes);
            uint8::check(bytes);
        }
        _ => names::check(&HTTP, bytes),
    }
});
