//! The standard library, and what each form says of bytes.

use std::str;
use tiebreak_simd::Form;
use tiebreak_simd::utf8::{Invalid, Validator};

/// Returns a validator of each form.
pub fn validators() -> Vec<Validator> {
    Form::here().map(|form| Validator::of_form(form).unwrap()).collect()
}

/// Returns what the standard library says of bytes.
pub fn expected(bytes: &[u8]) -> Result<(), Invalid> {
    str::from_utf8(bytes).map(|_| ()).map_err(|error| {
        let bytes = error.error_len().map(|bytes| bytes as u8);
        Invalid { at: error.valid_up_to(), bytes }
    })
}

/// Asserts that all say what the standard library says.
#[track_caller]
pub fn check(validators: &[Validator], bytes: &[u8]) {
    let expected = expected(bytes);
    for validator in validators {
        // What is called text and is none must not be shown.
        let found = validator.validate(bytes).map(|_| ());
        assert_eq!(found, expected, "{} of {bytes:x?}", validator.form());
        assert_eq!(validator.is_valid(bytes), expected.is_ok());
    }
}

/// Asserts that bytes in parts of these lengths are as right as in one.
#[track_caller]
pub fn check_parts(validators: &[Validator], bytes: &[u8], parts: &[usize]) {
    let expected = expected(bytes);
    for validator in validators {
        let mut stream = validator.stream();
        let mut came = 0;
        for part in parts.iter().chain(&[usize::MAX]) {
            let from = came;
            came += (bytes.len() - came).min(*part);
            // A mistake is said as soon as it has come, and a character may still be begun.
            let so_far = match self::expected(&bytes[..came]) {
                Err(Invalid { bytes: None, .. }) => Ok(()),
                so_far => so_far,
            };
            assert_eq!(stream.push(&bytes[from..came]), so_far, "{}", validator.form());
        }
        assert_eq!(stream.finish(), expected);
    }
}
