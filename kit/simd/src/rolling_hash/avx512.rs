//! 16 words at a time.

use super::doubling::{Functions, functions};
use super::ssse3::FOURS;
use super::words::{Small, Words, instructions};
use core::arch::x86_64::*;

pub(super) static AVX512: Functions = functions!(
    #[target_feature(enable = "avx512f,avx512bw,avx512vbmi,bmi1,popcnt")]
    __m512i
);

impl Words for __m512i {
    const LANES: usize = 16;

    instructions!(
        _mm512_set1_epi32,
        _mm512_loadu_si512,
        _mm512_storeu_si512,
        _mm512_add_epi32,
        _mm512_sub_epi32
    );

    #[inline(always)]
    unsafe fn times(self, other: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_mullo_epi32(self, other) }
    }

    #[inline(always)]
    unsafe fn equal(self, other: __m512i) -> u32 {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_cmpeq_epi32_mask(self, other) }.count_ones()
    }

    #[inline(always)]
    unsafe fn shifted<const FROM: usize>(self, next: __m512i) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe {
            match FROM {
                4 => _mm512_alignr_epi32::<4>(next, self),
                8 => _mm512_alignr_epi32::<8>(next, self),
                _ => unreachable!("lengths are powers of two from four on"),
            }
        }
    }

    #[inline(always)]
    unsafe fn bytes<const IS_SIGNED: bool>(from: *const u8) -> __m512i {
        // SAFETY: the caller has AVX-512, and its 16 bytes can be read.
        unsafe {
            let bytes = _mm_loadu_si128(from.cast());
            if IS_SIGNED { _mm512_cvtepi8_epi32(bytes) } else { _mm512_cvtepu8_epi32(bytes) }
        }
    }

    #[inline(always)]
    unsafe fn fours<const IS_SIGNED: bool>(from: *const u8, small: Small<__m512i>) -> __m512i {
        // SAFETY: the caller has AVX-512 with BW and VBMI; what the mask leaves out is not read.
        unsafe {
            // Each quarter has the places from the fourth after that of the last on.
            let quarter = _mm512_broadcast_i32x4(_mm_loadu_si128(FOURS.as_ptr().cast()));
            let order = _mm512_add_epi8(
                quarter,
                _mm512_set_epi64(
                    EACH * 12,
                    EACH * 12,
                    EACH * 8,
                    EACH * 8,
                    EACH * 4,
                    EACH * 4,
                    0,
                    0,
                ),
            );
            let bytes = _mm512_maskz_loadu_epi8((1 << 19) - 1, from.cast());
            let fours = _mm512_permutexvar_epi8(order, bytes);
            // The first factor of the instruction is unsigned, the second signed.
            let halves = if IS_SIGNED {
                _mm512_maddubs_epi16(small.of_bytes, fours)
            } else {
                _mm512_maddubs_epi16(fours, small.of_bytes)
            };
            _mm512_madd_epi16(halves, small.of_halves)
        }
    }
}

/// A 1 in each byte.
const EACH: i64 = 0x0101_0101_0101_0101;
