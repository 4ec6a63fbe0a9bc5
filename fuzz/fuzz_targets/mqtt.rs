//! Any bytes as a packet, in all versions: what is decoded is encoded to the same, and is the same
//! if the bytes come in three pieces.

#![no_main]

#[path = "../../kit/proto/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(([a, b], bytes)) = common::cuts(data) {
        common::mqtt::check(bytes, a, b);
    }
});
