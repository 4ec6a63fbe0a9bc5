//! The crate itoa: it writes integers only, so a line has its integer from the crate and its
//! number with a point from Rust's standard library.

#[macro_use]
#[path = "../../lines.rs"]
mod lines;

use lines::{Lines, Record};
use std::io::Write;

/// The integer and what follows it.
#[inline(always)]
fn put(out: &mut [u8], whole: i32, then: u8) -> usize {
    let mut buffer = itoa::Buffer::new();
    let text = buffer.format(whole).as_bytes();
    out[..text.len()].copy_from_slice(text);
    out[text.len()] = then;
    text.len() + 1
}

tiebreak_abi::kernel! {
    fn integer(out: &mut [u8], record: &Record) -> usize {
        put(out, record.whole, b'\n')
    }
}

tiebreak_abi::kernel! {
    fn line(out: &mut [u8], record: &Record) -> usize {
        let used = put(out, record.whole, b' ');
        let mut rest = &mut out[used..];
        let room = rest.len();
        if writeln!(rest, "{} {:.6}", record.word(), record.real).is_err() {
            return 0;
        }
        used + room - rest.len()
    }
}

lines!(false);
