//! 16 bytes at a time.

use crate::block::Block;
use crate::byte_set::forms::Lookup;
use crate::byte_set::tables::{Nibbles as Halves, Tables};
use core::arch::x86_64::*;

/// Tables by halves of a byte.
#[derive(Clone, Copy)]
pub(super) struct Nibbles {
    upper: __m128i,
    lower: __m128i,
}

impl Lookup for Nibbles {
    type Block = __m128i;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Nibbles {
        let Halves { upper, lower } = &tables.nibbles;
        // SAFETY: the caller has SSSE3; both are 16 bytes.
        unsafe {
            Nibbles { upper: __m128i::load(upper.as_ptr()), lower: __m128i::load(lower.as_ptr()) }
        }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: __m128i) -> u64 {
        // SAFETY: the caller has SSSE3.
        unsafe {
            let half = _mm_set1_epi8(15);
            let row = _mm_and_si128(_mm_srli_epi16(bytes, 4), half);
            let row = _mm_shuffle_epi8(self.upper, row);
            let column = _mm_shuffle_epi8(self.lower, _mm_and_si128(bytes, half));
            any_bit(_mm_and_si128(row, column))
        }
    }
}

/// The columns of any set: bits for the upper halves 0 to 7, and for 8 to 15.
#[derive(Clone, Copy)]
pub(super) struct Columns([__m128i; 2]);

impl Lookup for Columns {
    type Block = __m128i;

    #[inline(always)]
    unsafe fn new(tables: &Tables) -> Columns {
        let [low, high] = &tables.columns;
        // SAFETY: the caller has SSSE3; both are 16 bytes.
        unsafe { Columns([__m128i::load(low.as_ptr()), __m128i::load(high.as_ptr())]) }
    }

    #[inline(always)]
    unsafe fn mask(self, bytes: __m128i) -> u64 {
        // SAFETY: the caller has SSSE3.
        unsafe {
            // A shuffle gives 0 where the byte is 128 or more, so of the two columns one is 0.
            let high = _mm_xor_si128(bytes, _mm_set1_epi8(-128));
            let column =
                _mm_or_si128(_mm_shuffle_epi8(self.0[0], bytes), _mm_shuffle_epi8(self.0[1], high));
            let row = _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(7));
            let bit = _mm_shuffle_epi8(_mm_set1_epi64x(EACH_BIT), row);
            any_bit(_mm_and_si128(column, bit))
        }
    }
}

/// Byte `i` is `1 << i`.
pub(super) const EACH_BIT: i64 = 0x8040_2010_0804_0201_u64 as i64;

/// Returns which bytes have any bit.
#[inline(always)]
unsafe fn any_bit(bytes: __m128i) -> u64 {
    // SAFETY: every x86-64 has SSE2.
    let none = unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_setzero_si128())) };
    u64::from(!none as u16)
}
