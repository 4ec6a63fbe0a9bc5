//! Four numbers at a time on x86-64.

use super::batch::compiled;
use super::eights::{AT_ONCE, Eights, LONGER, PACKED};
use core::arch::x86_64::*;

compiled!(
    #[target_feature(enable = "ssse3,popcnt")]
    Ssse3
);

struct Ssse3;

impl Eights for Ssse3 {
    #[inline(always)]
    unsafe fn write(numbers: &[u32; AT_ONCE], into: *mut u8, stride: usize) {
        for at in (0..AT_ONCE).step_by(4) {
            // SAFETY: every x86-64 has SSE2, and what is written can be.
            unsafe {
                let numbers = _mm_loadu_si128(numbers.as_ptr().add(at).cast());
                // 3 518 437 209 / 2^45 is 1 / 10^4.
                let high = products::<45>(numbers, 3_518_437_209);
                let low = _mm_sub_epi32(numbers, products::<0>(high, 10_000));
                let halves = _mm_or_si128(high, _mm_slli_epi32(low, 16));
                // 5243 / 2^19 is 1 / 100 for less than 10^4.
                let hundreds = _mm_srli_epi16(_mm_mulhi_epu16(halves, _mm_set1_epi16(5243)), 3);
                let rest = _mm_mullo_epi16(hundreds, _mm_set1_epi16(100));
                let rest = _mm_sub_epi16(halves, rest);
                let into = into.add(at * stride);
                put_two(digits(_mm_unpacklo_epi16(hundreds, rest)), into, stride);
                put_two(digits(_mm_unpackhi_epi16(hundreds, rest)), into.add(2 * stride), stride);
            }
        }
    }

    #[inline(always)]
    unsafe fn write_pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize {
        // SAFETY: the caller has SSSE3, and what is written can be.
        unsafe { pairs(numbers, separator, into) }
    }

    #[inline(always)]
    unsafe fn count(numbers: &[u32; AT_ONCE]) -> [u32; AT_ONCE] {
        let mut counts = [0; AT_ONCE];
        for at in (0..AT_ONCE).step_by(4) {
            // SAFETY: every x86-64 has SSE2; both have 16 bytes from there on.
            unsafe {
                let numbers = _mm_loadu_si128(numbers.as_ptr().add(at).cast());
                let mut count = _mm_set1_epi32(1);
                for longer in LONGER {
                    count = _mm_sub_epi32(count, _mm_cmpgt_epi32(numbers, _mm_set1_epi32(longer)));
                }
                _mm_storeu_si128(counts.as_mut_ptr().add(at).cast(), count);
            }
        }
        counts
    }
}

/// Multiplies words by a factor, and divides by a power of two.
///
/// # Safety
/// Needs nothing: every x86-64 has SSE2.
#[inline(always)]
unsafe fn products<const SHIFT: i32>(words: __m128i, factor: u32) -> __m128i {
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        let factor = _mm_set1_epi64x(i64::from(factor));
        // Products are of the words in even places.
        let even = _mm_srli_epi64::<SHIFT>(_mm_mul_epu32(words, factor));
        let odd = _mm_mul_epu32(_mm_srli_epi64::<32>(words), factor);
        _mm_or_si128(even, _mm_slli_epi64::<32>(_mm_srli_epi64::<SHIFT>(odd)))
    }
}

/// Returns the two digits of each number below 100 as text.
///
/// # Safety
/// Needs nothing: every x86-64 has SSE2.
#[inline(always)]
unsafe fn digits(pairs: __m128i) -> __m128i {
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        // 6554 / 2^16 is 1 / 10 for less than 100.
        let tens = _mm_mulhi_epu16(pairs, _mm_set1_epi16(6554));
        let ones = _mm_sub_epi16(pairs, _mm_mullo_epi16(tens, _mm_set1_epi16(10)));
        let digits = _mm_or_si128(tens, _mm_slli_epi16(ones, 8));
        _mm_or_si128(digits, _mm_set1_epi8(b'0' as i8))
    }
}

/// Writes the eight bytes of each half.
///
/// # Safety
/// They can be written.
#[inline(always)]
pub(super) unsafe fn put_two(text: __m128i, into: *mut u8, stride: usize) {
    // SAFETY: every x86-64 has SSE2; what the caller promises.
    unsafe {
        _mm_storel_epi64(into.cast(), text);
        _mm_storel_epi64(into.add(stride).cast(), _mm_unpackhi_epi64(text, text));
    }
}

/// As [`Eights::write_pairs`].
///
/// # Safety
/// The CPU has SSSE3 and POPCNT.
#[inline(always)]
pub(super) unsafe fn pairs(numbers: &[u32; AT_ONCE], separator: u8, into: *mut u8) -> usize {
    // SAFETY: the caller has SSSE3, and what is written can be.
    unsafe {
        let first = _mm_loadu_si128(numbers.as_ptr().cast());
        let second = _mm_loadu_si128(numbers.as_ptr().add(4).cast());
        let numbers = _mm_packs_epi32(first, second);
        let is_one = _mm_cmpgt_epi16(_mm_set1_epi16(10), numbers);
        let are_one = _mm_movemask_epi8(_mm_packs_epi16(is_one, is_one)) as usize & 0xff;
        let (text, separators) = (digits(numbers), _mm_set1_epi8(separator as i8));
        let order = |set: usize| PACKED[set].as_ptr().cast();
        let first = _mm_unpacklo_epi64(text, separators);
        let first = _mm_shuffle_epi8(first, _mm_loadu_si128(order(are_one & 15)));
        let second = _mm_unpackhi_epi64(text, separators);
        let second = _mm_shuffle_epi8(second, _mm_loadu_si128(order(are_one >> 4)));
        _mm_storeu_si128(into.cast(), first);
        let middle = 12 - (are_one & 15).count_ones() as usize;
        _mm_storeu_si128(into.add(middle).cast(), second);
        24 - are_one.count_ones() as usize
    }
}
