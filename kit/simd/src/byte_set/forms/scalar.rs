//! One byte at a time, on any CPU.

use super::{Lookup, compiled};
use crate::block::Block;
use crate::byte_set::tables::Tables;

compiled!(scalar_bits, Scalar);

/// The bits of the set, in words.
#[derive(Clone, Copy)]
struct Scalar([u64; 4]);

impl Block for u8 {
    const BYTES: usize = 1;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> u8 {
        // SAFETY: the caller's byte can be read.
        unsafe { *from }
    }

    #[inline(always)]
    unsafe fn load_part(_: *const u8, _: usize) -> u8 {
        unreachable!("a block is one byte")
    }
}

impl Lookup for Scalar {
    type Block = u8;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Scalar {
        let (words, _) = tables.set.bits.as_chunks();
        Scalar(core::array::from_fn(|at| u64::from_le_bytes(words[at])))
    }

    #[inline(always)]
    unsafe fn mask(self, byte: u8) -> u64 {
        self.0[usize::from(byte / 64)] >> (byte % 64) & 1
    }
}
