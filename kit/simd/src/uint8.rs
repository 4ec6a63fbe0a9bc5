//! Numbers from 0 to 255, read from text: one to three digits and nothing else.
//!
//! ```
//! use tiebreak_simd::uint8::{self, Lines};
//!
//! assert_eq!(uint8::parse(b"042"), Some(42));
//! assert_eq!(uint8::parse(b"256"), None);
//!
//! let mut numbers = [0; 3];
//! let lines = Lines::new()?.parse(b"7\nno\n255\n", &mut numbers);
//! assert_eq!((lines, numbers), (3, [7, uint8::NONE, 255]));
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

mod lines;
mod one;

#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

pub use lines::Lines;

/// What stands for a line that is no such number.
pub const NONE: u16 = 256;

/// The bytes that [`parse_padded`] reads.
pub const ROOM: usize = 4;

/// Reads a number: one to three digits, at most 255.
///
/// Cost: as [`parse_padded`], and a branch for each length to put the bytes together.
#[inline]
pub fn parse(text: &[u8]) -> Option<u8> {
    let word = match *text {
        [a] => [a, 0, 0, 0],
        [a, b] => [a, b, 0, 0],
        [a, b, c] => [a, b, c, 0],
        _ => return None,
    };
    one::parse(u32::from_le_bytes(word), text.len())
}

/// Reads a number that is the first `length` of these bytes; the others may be anything.
///
/// Cost: one product and two loads, from the text and from a table of 4 KiB; no branch.
#[inline]
pub fn parse_padded(text: &[u8; ROOM], length: usize) -> Option<u8> {
    if length > ROOM {
        return None;
    }
    one::parse(one::first(u32::from_le_bytes(*text), length), length)
}
