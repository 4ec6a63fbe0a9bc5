//! Eight digits of several numbers at once.

use super::single::{ZEROS, below_100, digits, put};

/// The numbers whose digits are made at once.
pub(super) const AT_ONCE: usize = 8;

/// A form's way to the digits.
///
/// # Safety
/// All functions need the instructions of the form.
pub(super) trait Eights {
    /// Writes the eight digits of each number, which is below 10^8, as text: each so many bytes
    /// after the one before.
    ///
    /// # Safety
    /// They can be written.
    unsafe fn write(numbers: &[u32; AT_ONCE], into: *mut u8, stride: usize);

    /// Writes numbers below 100, each with the separator behind it; returns how many bytes they
    /// have.
    ///
    /// # Safety
    /// [`PAIRS_ROOM`] bytes can be written.
    unsafe fn write_pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize;

    /// Returns how many digits each number has, which is below 10^8; 0 has one.
    unsafe fn count(numbers: &[u32; AT_ONCE]) -> [u32; AT_ONCE];
}

/// What is written of eight numbers below 100: 16 bytes, and 16 that begin at most 12 behind them.
pub(super) const PAIRS_ROOM: usize = 28;

/// The least numbers with two digits, three and so on, up to eight, less one.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const LONGER: [i32; 7] = [9, 99, 999, 9_999, 99_999, 999_999, 9_999_999];

/// One number after the other, in words.
pub(super) struct Scalar;

impl Eights for Scalar {
    #[inline(always)]
    unsafe fn write(numbers: &[u32; AT_ONCE], into: *mut u8, stride: usize) {
        for (at, number) in numbers.iter().enumerate() {
            // SAFETY: what the caller promises.
            unsafe { put(into.add(at * stride), digits(*number) | ZEROS) }
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize {
        let mut written = 0;
        for number in numbers {
            // SAFETY: what the caller promises; each has at most three bytes.
            unsafe {
                written += below_100(*number, into.add(written));
                into.add(written).write(separator);
            }
            written += 1;
        }
        written
    }

    #[inline(always)]
    unsafe fn count(numbers: &[u32; AT_ONCE]) -> [u32; AT_ONCE] {
        numbers.map(|number| number.checked_ilog10().unwrap_or_default() + 1)
    }
}

/// For each set of four numbers that have one digit (bit `i` for the `i`th), which bytes are left
/// of their pairs of digits and the separators behind these: a shuffle of both. A pair is at twice
/// its number's place, the separators are from the ninth byte on.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) static PACKED: [[u8; 16]; 16] = {
    let mut packed = [[8; 16]; 16];
    let mut set = 0;
    while set < 16 {
        let (mut number, mut to) = (0, 0);
        while number < 4 {
            if set >> number & 1 == 0 {
                packed[set][to] = 2 * number;
                to += 1;
            }
            packed[set][to] = 2 * number + 1;
            to += 2;
            number += 1;
        }
        set += 1;
    }
    packed
};
