//! 32 bytes at a time.

use super::ssse3::EACH_BIT;
use crate::block::Block;
use crate::byte_set::forms::Lookup;
use crate::byte_set::tables::{Nibbles as Halves, Tables};
use core::arch::x86_64::*;

/// Tables by halves of a byte.
#[derive(Clone, Copy)]
pub(super) struct Nibbles {
    upper: __m256i,
    lower: __m256i,
}

impl Lookup for Nibbles {
    type Block = __m256i;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Nibbles {
        let Halves { upper, lower } = &tables.nibbles;
        // SAFETY: the caller has AVX2; both are 16 bytes.
        unsafe { Nibbles { upper: twice(upper), lower: twice(lower) } }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: __m256i) -> u64 {
        // SAFETY: the caller has AVX2.
        unsafe {
            let half = _mm256_set1_epi8(15);
            let row = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), half);
            let row = _mm256_shuffle_epi8(self.upper, row);
            let column = _mm256_shuffle_epi8(self.lower, _mm256_and_si256(bytes, half));
            any_bit(_mm256_and_si256(row, column))
        }
    }
}

/// The columns of any set: bits for the upper halves 0 to 7, and for 8 to 15.
#[derive(Clone, Copy)]
pub(super) struct Columns([__m256i; 2]);

impl Lookup for Columns {
    type Block = __m256i;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Columns {
        let [low, high] = &tables.columns;
        // SAFETY: the caller has AVX2; both are 16 bytes.
        unsafe { Columns([twice(low), twice(high)]) }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: __m256i) -> u64 {
        // SAFETY: the caller has AVX2.
        unsafe {
            // A shuffle gives 0 where the byte is 128 or more, so of the two columns one is 0.
            let high = _mm256_xor_si256(bytes, _mm256_set1_epi8(-128));
            let column = _mm256_or_si256(
                _mm256_shuffle_epi8(self.0[0], bytes),
                _mm256_shuffle_epi8(self.0[1], high),
            );
            let row = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(7));
            let bit = _mm256_shuffle_epi8(_mm256_set1_epi64x(EACH_BIT), row);
            any_bit(_mm256_and_si256(column, bit))
        }
    }
}

/// Loads the same 16 bytes into both halves.
#[inline(always)]
unsafe fn twice(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: the caller has AVX2; there are 16 bytes.
    unsafe { _mm256_broadcastsi128_si256(__m128i::load(bytes.as_ptr())) }
}

/// Returns which bytes have any bit.
#[inline(always)]
unsafe fn any_bit(bytes: __m256i) -> u64 {
    // SAFETY: the caller has AVX2.
    let none = unsafe { _mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())) };
    u64::from(!none as u32)
}
