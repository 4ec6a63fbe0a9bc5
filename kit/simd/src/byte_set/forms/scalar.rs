//! One byte at a time, on any CPU.

use super::{Functions, Lookup, functions};
use crate::byte_set::tables::Tables;

pub(crate) static SCALAR: Functions = functions!(Scalar);

/// The bits of the set, in words.
#[derive(Clone, Copy)]
struct Scalar([u64; 4]);

impl Lookup for Scalar {
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Scalar {
        let (words, _) = tables.set.bits.as_chunks();
        Scalar(core::array::from_fn(|at| u64::from_le_bytes(words[at])))
    }

    #[inline(always)]
    unsafe fn block(self, from: *const u8) -> u64 {
        // SAFETY: the caller's byte can be read.
        let byte = unsafe { *from };
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1
    }

    #[inline(always)]
    unsafe fn part(self, _: *const u8, _: usize) -> u64 {
        unreachable!("a block is one byte")
    }
}
