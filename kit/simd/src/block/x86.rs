//! Blocks of 16, 32 and 64 bytes on x86-64.

use super::part::up_to_15;
use super::{Block, first_bits};
use core::arch::x86_64::*;

impl Block for __m128i {
    const BYTES: usize = 16;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m128i {
        // SAFETY: the caller's 16 bytes can be read; every x86-64 has SSE2.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, count: usize) -> __m128i {
        // SAFETY: the caller's bytes can be read.
        unsafe { up_to_15(from, count) }
    }
}

impl Block for __m256i {
    const BYTES: usize = 32;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m256i {
        // SAFETY: the caller has AVX2, and its 32 bytes can be read.
        unsafe { _mm256_loadu_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, count: usize) -> __m256i {
        // SAFETY: the caller has AVX2, and its bytes can be read.
        unsafe {
            match count {
                16 => _mm256_zextsi128_si256(__m128i::load(from)),
                ..16 => _mm256_zextsi128_si256(up_to_15(from, count)),
                _ => _mm256_set_m128i(up_to_15(from.add(16), count - 16), __m128i::load(from)),
            }
        }
    }
}

impl Block for __m512i {
    const BYTES: usize = 64;
    const IS_MASKED: bool = true;

    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m512i {
        // SAFETY: the caller has AVX-512, and its 64 bytes can be read.
        unsafe { _mm512_loadu_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn load_part(from: *const u8, count: usize) -> __m512i {
        // SAFETY: the caller has AVX-512; bytes that the mask leaves out are not read.
        unsafe { _mm512_maskz_loadu_epi8(first_bits(count), from.cast()) }
    }
}
