//! Any bytes as heads of requests and of responses, and as a body in chunks: what is decoded is
//! encoded to the same, and is the same if the bytes come in three pieces.

#![no_main]

#[path = "../../kit/proto/tests/common/mod.rs"]
mod common;

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    if let Some(([a, b], bytes)) = common::cuts(data) {
        common::http::check(bytes, a, b);
    }
});
