//! Four lines in a register of 16 bytes on x86-64.

use super::lines::{STEP_BYTES, Step, compiled};
use core::arch::x86_64::*;

compiled!(ssse3, __m128i, #[target_feature(enable = "ssse3,popcnt")]);
compiled!(avx2, __m128i, #[target_feature(enable = "avx2,bmi1,lzcnt,popcnt")]);

impl Step for __m128i {
    #[inline(always)]
    unsafe fn load(from: *const u8) -> __m128i {
        // SAFETY: every x86-64 has SSE2; the caller's bytes can be read.
        unsafe { _mm_loadu_si128(from.cast()) }
    }

    #[inline(always)]
    unsafe fn ends(self) -> u32 {
        // SAFETY: every x86-64 has SSE2.
        unsafe { _mm_movemask_epi8(_mm_cmpeq_epi8(self, _mm_set1_epi8(b'\n' as i8))) as u32 }
    }

    #[inline(always)]
    unsafe fn numbers(self, order: &[u8; STEP_BYTES]) -> (u64, bool) {
        // SAFETY: the caller has SSSE3; there are 16 bytes of an order.
        unsafe {
            let digits = _mm_sub_epi8(self, _mm_set1_epi8(b'0' as i8));
            let cells = _mm_shuffle_epi8(digits, _mm_loadu_si128(order.as_ptr().cast()));
            // Each cell: 100 a + 10 b, and c; then their sum.
            let weights = _mm_set1_epi32(0x0001_0a64);
            let sums = _mm_madd_epi16(_mm_maddubs_epi16(cells, weights), _mm_set1_epi16(1));
            let too_large = _mm_cmpgt_epi32(sums, _mm_set1_epi32(255));
            let no_digit = _mm_subs_epu8(cells, _mm_set1_epi8(9));
            let wrong = _mm_or_si128(too_large, no_digit);
            let is_right = _mm_cmpeq_epi8(wrong, _mm_setzero_si128());
            let numbers = _mm_cvtsi128_si64(_mm_packs_epi32(sums, sums));
            (numbers as u64, _mm_movemask_epi8(is_right) == 0xffff)
        }
    }
}
