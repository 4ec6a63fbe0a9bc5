//! Any text: reading it as a study's file neither panics nor gives an error that points outside it,
//! and all that a study names is there.

#![no_main]

#[path = "../../lab/input/tests/input/common/mod.rs"]
mod common;

use std::path::Path;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../lab/input/tests/study");
        common::check_study(text, &folder);
    }
});
