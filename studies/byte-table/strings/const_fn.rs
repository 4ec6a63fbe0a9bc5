//! Rust: a `const fn` copies the strings into one array.
#![no_std]

const fn row<const BYTES: usize>(texts: &[&str]) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    let (mut at, mut text) = (0, 0);
    while text < texts.len() {
        let mut i = 0;
        while i < texts[text].len() {
            bytes[at] = texts[text].as_bytes()[i];
            (at, i) = (at + 1, i + 1);
        }
        (at, text) = (at + 1, text + 1);
    }
    assert!(at == BYTES, "the array has as many bytes as the strings, with an end for each");
    bytes
}

#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static strings: [u8; 35] = row(&["foo", "foobar", "strings at compile time"]);
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static more_strings: [u8; 35] = row(&["one", "two", "one block, five strings", "", "!"]);
