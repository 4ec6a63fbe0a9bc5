//! 64 bytes at a time.

use super::ssse3::EACH_BIT;
use crate::byte_set::forms::Lookup;
use crate::byte_set::tables::Tables;
use core::arch::x86_64::*;

/// The 32 bytes that have a bit for each of 256: one shuffle finds the byte, another the bit.
#[derive(Clone, Copy)]
pub(super) struct Bitmap(__m512i);

impl Lookup for Bitmap {
    type Block = __m512i;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Bitmap {
        // SAFETY: the caller has AVX-512; there are 32 bytes.
        unsafe {
            let bits = _mm256_loadu_si256(tables.set.bits.as_ptr().cast());
            Bitmap(_mm512_broadcast_i64x4(bits))
        }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: __m512i) -> u64 {
        // SAFETY: the caller has AVX-512 BW and VBMI.
        unsafe {
            // Both shuffles take six bits of their index, and their tables repeat after five and
            // three: what else is there, of the byte itself or shifted in from its neighbour, does
            // not matter.
            let row = _mm512_permutexvar_epi8(_mm512_srli_epi16(bytes, 3), self.0);
            let bit = _mm512_permutexvar_epi8(bytes, _mm512_set1_epi64(EACH_BIT));
            _mm512_test_epi8_mask(row, bit)
        }
    }
}
