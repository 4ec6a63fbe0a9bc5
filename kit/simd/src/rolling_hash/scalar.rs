//! One word at a time, on any CPU.

use super::doubling::{Functions, functions};
use super::words::Words;

pub(super) static SCALAR: Functions = functions!(u32);

/// Returns the number that a byte is.
#[inline(always)]
pub(super) const fn number(byte: u8, is_signed: bool) -> u32 {
    if is_signed { byte as i8 as u32 } else { byte as u32 }
}

impl Words for u32 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn splat(word: u32) -> u32 {
        word
    }

    #[inline(always)]
    unsafe fn load(from: *const u32) -> u32 {
        // SAFETY: the caller's word can be read.
        unsafe { from.read() }
    }

    #[inline(always)]
    unsafe fn store(self, into: *mut u32) {
        // SAFETY: the caller's word can be written.
        unsafe { into.write(self) }
    }

    #[inline(always)]
    unsafe fn times(self, other: u32) -> u32 {
        self.wrapping_mul(other)
    }

    #[inline(always)]
    unsafe fn plus(self, other: u32) -> u32 {
        self.wrapping_add(other)
    }

    #[inline(always)]
    unsafe fn minus(self, other: u32) -> u32 {
        self.wrapping_sub(other)
    }

    #[inline(always)]
    unsafe fn equal(self, other: u32) -> u32 {
        u32::from(self == other)
    }

    #[inline(always)]
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> u32 {
        // SAFETY: the caller's byte can be read.
        number(unsafe { *from }, IS_SIGNED)
    }
}
