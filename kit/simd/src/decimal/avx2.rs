//! Eight numbers at a time.

use super::batch::compiled;
use super::eights::{AT_ONCE, Eights, LONGER};
use super::ssse3::{pairs, put_two};
use core::arch::x86_64::*;

compiled!(
    #[target_feature(enable = "avx2,bmi1,lzcnt,popcnt")]
    Avx2
);

struct Avx2;

impl Eights for Avx2 {
    #[inline(always)]
    unsafe fn write(numbers: &[u32; AT_ONCE], into: *mut u8, stride: usize) {
        // SAFETY: the caller has AVX2, and what is written can be.
        unsafe {
            let numbers = _mm256_loadu_si256(numbers.as_ptr().cast());
            // 3 518 437 209 / 2^45 is 1 / 10^4. Products are of the words in even places.
            let factor = _mm256_set1_epi64x(3_518_437_209);
            let even = _mm256_srli_epi64::<45>(_mm256_mul_epu32(numbers, factor));
            let odd = _mm256_mul_epu32(_mm256_srli_epi64::<32>(numbers), factor);
            let odd = _mm256_slli_epi64::<32>(_mm256_srli_epi64::<45>(odd));
            let high = _mm256_or_si256(even, odd);
            let low =
                _mm256_sub_epi32(numbers, _mm256_mullo_epi32(high, _mm256_set1_epi32(10_000)));
            let halves = _mm256_or_si256(high, _mm256_slli_epi32::<16>(low));
            // 5243 / 2^19 is 1 / 100 for less than 10^4.
            let hundreds =
                _mm256_srli_epi16::<3>(_mm256_mulhi_epu16(halves, _mm256_set1_epi16(5243)));
            let rest = _mm256_mullo_epi16(hundreds, _mm256_set1_epi16(100));
            let rest = _mm256_sub_epi16(halves, rest);
            // Numbers 0, 1, 4 and 5, then 2, 3, 6 and 7.
            let first = digits(_mm256_unpacklo_epi16(hundreds, rest));
            let second = digits(_mm256_unpackhi_epi16(hundreds, rest));
            put_two(_mm256_castsi256_si128(first), into, stride);
            put_two(_mm256_castsi256_si128(second), into.add(2 * stride), stride);
            put_two(_mm256_extracti128_si256::<1>(first), into.add(4 * stride), stride);
            put_two(_mm256_extracti128_si256::<1>(second), into.add(6 * stride), stride);
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize {
        // SAFETY: the caller has AVX2, and what is written can be.
        unsafe { pairs(numbers, separator, into) }
    }

    #[inline(always)]
    unsafe fn count(numbers: &[u32; AT_ONCE]) -> [u32; AT_ONCE] {
        let mut counts = [0; AT_ONCE];
        // SAFETY: the caller has AVX2; both have 32 bytes.
        unsafe {
            let numbers = _mm256_loadu_si256(numbers.as_ptr().cast());
            let mut count = _mm256_set1_epi32(1);
            for longer in LONGER {
                let is_longer = _mm256_cmpgt_epi32(numbers, _mm256_set1_epi32(longer));
                count = _mm256_sub_epi32(count, is_longer);
            }
            _mm256_storeu_si256(counts.as_mut_ptr().cast(), count);
        }
        counts
    }
}

/// Returns the two digits of each number below 100 as text.
///
/// # Safety
/// The CPU has AVX2.
#[inline(always)]
unsafe fn digits(pairs: __m256i) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe {
        // 6554 / 2^16 is 1 / 10 for less than 100.
        let tens = _mm256_mulhi_epu16(pairs, _mm256_set1_epi16(6554));
        let ones = _mm256_sub_epi16(pairs, _mm256_mullo_epi16(tens, _mm256_set1_epi16(10)));
        let digits = _mm256_or_si256(tens, _mm256_slli_epi16::<8>(ones));
        _mm256_or_si256(digits, _mm256_set1_epi8(b'0' as i8))
    }
}
