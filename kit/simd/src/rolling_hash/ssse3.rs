//! Four words at a time on x86-64.

use super::doubling::{Functions, functions};
use super::words::{Small, Words, instructions};
use core::arch::x86_64::*;

pub(super) static SSSE3: Functions = functions!(
    #[target_feature(enable = "ssse3,popcnt")]
    __m128i
);

/// Where the four bytes of each word come from: one place after the other.
pub(super) const FOURS: [u8; 16] = [0, 1, 2, 3, 1, 2, 3, 4, 2, 3, 4, 5, 3, 4, 5, 6];

impl Words for __m128i {
    const LANES: usize = 4;

    instructions!(_mm_set1_epi32, _mm_loadu_si128, _mm_storeu_si128, _mm_add_epi32, _mm_sub_epi32);

    #[inline(always)]
    unsafe fn times(self, other: __m128i) -> __m128i {
        // Words in even places, then those in odd ones: SSE4.1 has the first instruction for all.
        // SAFETY: every x86-64 has SSE2.
        unsafe {
            let even = _mm_mul_epu32(self, other);
            let odd = _mm_mul_epu32(_mm_srli_epi64(self, 32), _mm_srli_epi64(other, 32));
            let (even, odd) = (_mm_shuffle_epi32(even, 0b1000), _mm_shuffle_epi32(odd, 0b1000));
            _mm_unpacklo_epi32(even, odd)
        }
    }

    #[inline(always)]
    unsafe fn equal(self, other: __m128i) -> u32 {
        // SAFETY: every x86-64 has SSE2.
        let mask = unsafe { _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(self, other))) };
        mask.count_ones()
    }

    #[inline(always)]
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> __m128i {
        // SAFETY: the caller's four bytes can be read; every x86-64 has SSE2.
        unsafe {
            let bytes = _mm_cvtsi32_si128(from.cast::<i32>().read_unaligned());
            let twice = _mm_unpacklo_epi8(bytes, bytes);
            let four_times = _mm_unpacklo_epi16(twice, twice);
            if IS_SIGNED { _mm_srai_epi32(four_times, 24) } else { _mm_srli_epi32(four_times, 24) }
        }
    }

    #[inline(always)]
    unsafe fn fours<const IS_SIGNED: bool>(from: *const u8, small: Small<__m128i>) -> __m128i {
        // SAFETY: the caller has SSSE3, and its bytes can be read.
        unsafe {
            let order = _mm_loadu_si128(FOURS.as_ptr().cast());
            let fours = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), order);
            // The first factor of the instruction is unsigned, the second signed.
            let halves = if IS_SIGNED {
                _mm_maddubs_epi16(small.of_bytes, fours)
            } else {
                _mm_maddubs_epi16(fours, small.of_bytes)
            };
            _mm_madd_epi16(halves, small.of_halves)
        }
    }
}
