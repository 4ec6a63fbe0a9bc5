//! 32 bytes at a time.

use super::lookup::{Bytes, compiled, instructions};
use core::arch::x86_64::*;

compiled!(
    #[target_feature(enable = "avx2,bmi1,popcnt")]
    __m256i
);

impl Bytes for __m256i {
    instructions!(
        and = _mm256_and_si256,
        or = _mm256_or_si256,
        xor = _mm256_xor_si256,
        max = _mm256_max_epu8,
        minus = _mm256_sub_epi8,
        minus_to_zero = _mm256_subs_epu8,
        lookup = _mm256_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn splat(byte: u8) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> __m256i {
        // SAFETY: the caller has AVX2; there are 16 bytes.
        unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn upper(self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_and_si256(_mm256_srli_epi16(self, 4), _mm256_set1_epi8(15)) }
    }

    #[inline(always)]
    unsafe fn follows(self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_cmpgt_epi8(_mm256_set1_epi8(-64), self) }
    }

    #[inline(always)]
    unsafe fn moved<const BY: i32>(self) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe {
            // The upper half is moved on with the lower one before it, that with zeros.
            let before = _mm256_permute2x128_si256::<0x08>(self, self);
            match BY {
                1 => _mm256_alignr_epi8::<15>(self, before),
                2 => _mm256_alignr_epi8::<14>(self, before),
                _ => _mm256_alignr_epi8::<13>(self, before),
            }
        }
    }

    #[inline(always)]
    unsafe fn has_upper_bit(self) -> bool {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_movemask_epi8(self) != 0 }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_testz_si256(self, self) != 0 }
    }
}
