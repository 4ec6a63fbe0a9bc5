//! Eight words at a time.

use super::doubling::{Functions, functions};
use super::ssse3::FOURS;
use super::words::{Small, Words, instructions};
use core::arch::x86_64::*;

pub(super) static AVX2: Functions = functions!(
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    __m256i
);

impl Words for __m256i {
    const LANES: usize = 8;

    instructions!(
        _mm256_set1_epi32,
        _mm256_loadu_si256,
        _mm256_storeu_si256,
        _mm256_add_epi32,
        _mm256_sub_epi32
    );

    #[inline(always)]
    unsafe fn times(self, other: __m256i) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_mullo_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn equal(self, other: __m256i) -> u32 {
        // SAFETY: the caller has AVX2.
        let equal = unsafe { _mm256_castsi256_ps(_mm256_cmpeq_epi32(self, other)) };
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_movemask_ps(equal) }.count_ones()
    }

    #[inline(always)]
    unsafe fn shifted<const FROM: usize>(self, next: __m256i) -> __m256i {
        debug_assert!(FROM == 4, "eight words are halved");
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_permute2x128_si256::<0x21>(self, next) }
    }

    #[inline(always)]
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> __m256i {
        // SAFETY: the caller has AVX2, and its eight bytes can be read.
        unsafe {
            let bytes = _mm_loadl_epi64(from.cast());
            if IS_SIGNED { _mm256_cvtepi8_epi32(bytes) } else { _mm256_cvtepu8_epi32(bytes) }
        }
    }

    #[inline(always)]
    unsafe fn fours<const IS_SIGNED: bool>(from: *const u8, small: Small<__m256i>) -> __m256i {
        // SAFETY: the caller has AVX2, and its 12 bytes can be read.
        unsafe {
            // The upper half has the places from the fifth on.
            let (low, high) = (_mm_loadl_epi64(from.cast()), _mm_loadl_epi64(from.add(4).cast()));
            let order = _mm256_broadcastsi128_si256(_mm_loadu_si128(FOURS.as_ptr().cast()));
            let fours = _mm256_shuffle_epi8(_mm256_set_m128i(high, low), order);
            // The first factor of the instruction is unsigned, the second signed.
            let halves = if IS_SIGNED {
                _mm256_maddubs_epi16(small.of_bytes, fours)
            } else {
                _mm256_maddubs_epi16(fours, small.of_bytes)
            };
            _mm256_madd_epi16(halves, small.of_halves)
        }
    }
}
