//! 64 bytes at a time.

use super::lookup::{Bytes, compiled, instructions};
use core::arch::x86_64::*;

compiled!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,popcnt")]
    __m512i
);

impl Bytes for __m512i {
    instructions!(
        and = _mm512_and_si512,
        or = _mm512_or_si512,
        xor = _mm512_xor_si512,
        max = _mm512_max_epu8,
        minus = _mm512_sub_epi8,
        minus_to_zero = _mm512_subs_epu8,
        lookup = _mm512_shuffle_epi8
    );

    #[inline(always)]
    unsafe fn splat(byte: u8) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi8(byte as i8) }
    }

    #[inline(always)]
    unsafe fn table(bytes: &[u8; 16]) -> __m512i {
        // SAFETY: the caller has AVX-512; there are 16 bytes.
        unsafe { _mm512_broadcast_i32x4(_mm_loadu_si128(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    unsafe fn upper(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_and_si512(_mm512_srli_epi16(self, 4), _mm512_set1_epi8(15)) }
    }

    #[inline(always)]
    unsafe fn follows(self) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_andnot_si512(_mm512_add_epi8(self, self), self) }
    }

    #[inline(always)]
    unsafe fn moved<const BY: i32>(self) -> __m512i {
        // SAFETY: the caller has AVX-512 with BW.
        unsafe {
            // Each quarter is moved on with the one before it, the first with zeros.
            let before = _mm512_maskz_shuffle_i64x2::<0b10_01_00_00>(0b1111_1100, self, self);
            match BY {
                1 => _mm512_alignr_epi8::<15>(self, before),
                2 => _mm512_alignr_epi8::<14>(self, before),
                _ => _mm512_alignr_epi8::<13>(self, before),
            }
        }
    }

    #[inline(always)]
    unsafe fn has_upper_bit(self) -> bool {
        // SAFETY: the caller has AVX-512 with BW.
        unsafe { _mm512_movepi8_mask(self) != 0 }
    }

    #[inline(always)]
    unsafe fn is_zero(self) -> bool {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_test_epi64_mask(self, self) == 0 }
    }
}
