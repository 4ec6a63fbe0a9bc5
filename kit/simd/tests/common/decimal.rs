//! What the standard library writes, and each form.

use std::fmt::Display;
use tiebreak_simd::Form;
use tiebreak_simd::decimal::{self, Batch, Integer};

/// Asserts that a number is written as the standard library writes it, by each function for one.
#[track_caller]
pub fn check_one<N: Integer + Display>(number: N) {
    let expected = number.to_string();
    let mut text = [b'?'; decimal::MOST];
    let bytes = decimal::write(number, &mut text[..expected.len()]);
    assert_eq!((&text[..bytes], bytes), (expected.as_bytes(), expected.len()));
    let mut text = [b'?'; decimal::ROOM];
    let bytes = decimal::write_into(number, &mut text);
    assert_eq!(&text[..bytes], expected.as_bytes());
}

/// Asserts that each form writes the numbers into as much room as they need, and into more.
#[track_caller]
pub fn check_all<N: Integer + Display>(numbers: &[N], separator: u8) {
    let mut expected = Vec::new();
    for number in numbers {
        expected.extend_from_slice(number.to_string().as_bytes());
        expected.push(separator);
    }
    for form in Form::here() {
        let batch = Batch::of_form(form).unwrap();
        for more in [0, 1, 40, Batch::room(numbers.len())] {
            let mut text = vec![b'?'; expected.len() + more];
            let bytes = batch.write(numbers, separator, &mut text);
            assert_eq!(bytes, expected.len(), "{form}");
            assert!(text[..bytes] == expected, "{form}: {}", String::from_utf8_lossy(&text));
        }
    }
}
