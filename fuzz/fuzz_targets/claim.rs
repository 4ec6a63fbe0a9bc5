//! Any text: parsing it neither panics nor gives an error that points outside it, and what it reads
//! as a claim is read again from what it prints.

#![no_main]

#[path = "../../lab/input/tests/input/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        common::check(text);
    }
});
