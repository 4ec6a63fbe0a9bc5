//! Any text: reading it as a file of claims neither panics nor gives an error that points outside
//! it, and the claims of a file that is right are claims about its contestants.

#![no_main]

#[path = "../../lab/input/tests/input/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        common::check_file(text);
    }
});
