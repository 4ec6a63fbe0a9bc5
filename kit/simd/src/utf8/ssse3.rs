//! 16 bytes at a time on x86-64.

use super::lookup::{Bytes, compiled, instructions};
use crate::block::Block;
use core::arch::x86_64::*;

compiled!(
    #[target_feature(enable = "ssse3,popcnt")]
    __m128i
);

impl Bytes for __m128i {
    instructions!(
        and = _mm_and_si128,
        or = _mm_or_si128,
        xor = _mm_xor_si128,
        max = _mm_max_epu8,
        minus = _mm_sub_epi8,
        minus_to_zero = _mm_subs_epu8,
        lookup = _mm_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn splat(byte: u8) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> __m128i {
        // SAFETY: every x86-64 has SSE2; there are 16 bytes.
        unsafe { __m128i::load(bytes.as_ptr()) }
    }

    #[inline(always)]
    unsafe fn upper(self) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_and_si128(_mm_srli_epi16(self, 4), _mm_set1_epi8(15)) }
    }

    #[inline(always)]
    unsafe fn follows(self) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_cmpgt_epi8(_mm_set1_epi8(-64), self) }
    }

    #[inline(always)]
    unsafe fn moved<const BY: i32>(self) -> __m128i {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_bslli_si128::<BY>(self) }
    }

    #[inline(always)]
    unsafe fn has_upper_bit(self) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_epi8(self) != 0 }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self, _mm_setzero_si128())) == 0xffff }
    }
}
