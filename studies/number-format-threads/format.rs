// format! of Rust's standard library: a String a line, then copied.

#[macro_use]
mod lines;
use lines::{Lines, Record};

fn copied(out: &mut [u8], text: &str) -> usize {
    out[..text.len()].copy_from_slice(text.as_bytes());
    text.len()
}

tiebreak_abi::kernel! {
    fn integer(out: &mut [u8], record: &Record) -> usize {
        copied(out, &format!("{}\n", record.whole))
    }
}

tiebreak_abi::kernel! {
    fn line(out: &mut [u8], record: &Record) -> usize {
        let text = format!("{} {} {:.6}\n", record.whole, record.word(), record.real);
        copied(out, &text)
    }
}

lines!(true);
