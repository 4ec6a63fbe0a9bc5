//! 16 bytes at a time on AArch64.

use super::{Lookup, compiled};
use crate::block::bits_of;
use crate::byte_set::tables::Tables;
use core::arch::aarch64::*;

compiled!(neon_bitmap, Bitmap, #[target_feature(enable = "neon")]);

/// The 32 bytes that have a bit for each of 256: one lookup finds the byte, another the bit.
#[derive(Clone, Copy)]
struct Bitmap(uint8x16x2_t);

/// Byte `i` is `1 << (i % 8)`.
const EACH_BIT: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

impl Lookup for Bitmap {
    type Block = uint8x16_t;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Bitmap {
        // SAFETY: every AArch64 has NEON; there are 32 bytes.
        unsafe { Bitmap(vld1q_u8_x2(tables.set.bits.as_ptr())) }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: uint8x16_t) -> u64 {
        // SAFETY: every AArch64 has NEON; the table has 16 bytes.
        unsafe {
            let each = vld1q_u8(EACH_BIT.as_ptr());
            let row = vqtbl2q_u8(self.0, vshrq_n_u8::<3>(bytes));
            let bit = vqtbl1q_u8(each, vandq_u8(bytes, vdupq_n_u8(7)));
            bits_of(vtstq_u8(row, bit))
        }
    }
}
