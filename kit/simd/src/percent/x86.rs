//! Five bytes in a register of 16, twice five in one of 32, and 21 in one of 64, on x86-64.

use super::steps::{FIVE, ORDERS, Steps};
use crate::block::first_bits;
use core::arch::x86_64::*;

/// Bytes of five lanes: the bytes themselves, those that become first digits, those that become
/// second ones, and the sign.
const fn lanes(bytes: i8, first: i8, second: i8, sign: i8) -> [i8; 16] {
    let (a, b, c) = (bytes, first, second);
    [a, a, a, a, a, b, b, b, b, b, c, c, c, c, c, sign]
}

/// Which byte a lane begins as.
const THRICE: [i8; 16] = [0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4, -1];
/// Which bits of it, or of the byte moved down by four, are its digit.
const LOWER: [i8; 16] = lanes(0, 0, 15, 0);
const UPPER: [i8; 16] = lanes(0, 15, 0, 0);
/// The lanes that are no digit: a lookup gives them 0.
const NO_DIGIT: [i8; 16] = lanes(-128, 0, 0, -128);
/// The bits that are kept as they are, and the sign.
const KEPT: [i8; 16] = lanes(-1, 0, 0, 0);
const SIGN: [i8; 16] = lanes(0, 0, 0, b'%' as i8);

impl Steps for __m128i {
    const STEP: usize = FIVE;

    #[inline(always)]
    unsafe fn store(self, into: *mut u8) {
        // SAFETY: every x86-64 has SSE2; the caller's bytes can be written.
        unsafe { _mm_storeu_si128(into.cast(), self) }
    }

    #[inline(always)]
    unsafe fn write(from: *const u8, _left: usize, escaped: usize, into: *mut u8) {
        // SAFETY: the caller has SSSE3, and its bytes can be read and written.
        unsafe {
            let thrice = _mm_shuffle_epi8(_mm_loadl_epi64(from.cast()), table(&THRICE));
            let upper = _mm_and_si128(_mm_srli_epi16::<4>(thrice), table(&UPPER));
            let lower = _mm_and_si128(thrice, table(&LOWER));
            let halves = _mm_or_si128(_mm_or_si128(upper, table(&NO_DIGIT)), lower);
            let digits = _mm_shuffle_epi8(digits(), halves);
            let kept = _mm_or_si128(_mm_and_si128(thrice, table(&KEPT)), table(&SIGN));
            let order = _mm_loadu_si128(ORDERS[escaped].as_ptr().cast());
            let written = _mm_shuffle_epi8(_mm_or_si128(digits, kept), order);
            _mm_storeu_si128(into.cast(), written);
        }
    }
}

impl Steps for __m256i {
    const STEP: usize = 2 * FIVE;

    #[inline(always)]
    unsafe fn store(self, into: *mut u8) {
        // SAFETY: the caller has AVX2, and its bytes can be written.
        unsafe { _mm256_storeu_si256(into.cast(), self) }
    }

    #[inline(always)]
    unsafe fn write(from: *const u8, _left: usize, escaped: usize, into: *mut u8) {
        // SAFETY: the caller has AVX2, and its bytes can be read and written.
        unsafe { ten(from, escaped, into) }
    }
}

impl Steps for __m512i {
    /// As many as are at most 63 when all are escaped.
    const STEP: usize = 21;

    #[inline(always)]
    unsafe fn store(self, into: *mut u8) {
        // SAFETY: the caller has AVX-512, and its bytes can be written.
        unsafe { _mm512_storeu_si512(into.cast(), self) }
    }

    #[inline(always)]
    unsafe fn store_part(self, _from: *const u8, count: usize, into: *mut u8) {
        // SAFETY: the caller has AVX-512; bytes that the mask leaves out are not written.
        unsafe { _mm512_mask_storeu_epi8(into.cast(), first_bits(count), self) }
    }

    /// Each byte has three slots, for itself or the sign and for its digits. Those that are used
    /// are moved together.
    #[inline(always)]
    unsafe fn write(from: *const u8, left: usize, escaped: usize, into: *mut u8) {
        /// The first slot of each byte, and the second.
        const FIRSTS: u64 = 0x1249_2492_4924_9249;
        const SECONDS: u64 = FIRSTS << 1;
        let count = left.min(Self::STEP);
        // SAFETY: the caller has AVX-512; bytes that masks leave out are not read or written.
        unsafe {
            let bytes = _mm512_maskz_loadu_epi8(first_bits(count), from.cast());
            let slots = _mm512_loadu_si512(SLOTS.as_ptr().cast());
            let thrice = _mm512_permutexvar_epi8(slots, bytes);
            let upper = _mm512_srli_epi16::<4>(thrice);
            let halves = _mm512_mask_mov_epi8(thrice, SECONDS, upper);
            let halves = _mm512_and_si512(halves, _mm512_set1_epi8(15));
            let text = _mm512_shuffle_epi8(_mm512_broadcast_i32x4(digits()), halves);
            let text = _mm512_mask_mov_epi8(text, FIRSTS, thrice);
            let signs = _pdep_u64(escaped as u64, FIRSTS);
            let text = _mm512_mask_mov_epi8(text, signs, _mm512_set1_epi8(b'%' as i8));
            let used = (FIRSTS & first_bits(3 * count)) | (6 * signs);
            let written = _mm512_maskz_compress_epi8(used, text);
            let bytes = used.count_ones() as usize;
            _mm512_mask_storeu_epi8(into.cast(), first_bits(bytes), written);
        }
    }
}

/// Which byte of 21 each slot has.
static SLOTS: [u8; 64] = {
    let mut slots = [0; 64];
    let mut slot = 0;
    while slot < 64 {
        slots[slot] = (slot / 3) as u8;
        slot += 1;
    }
    slots
};

/// As [`Steps::write`], of ten bytes.
///
/// # Safety
/// The CPU has AVX2; 16 bytes can be read, and as many behind what is written, written.
#[inline(always)]
unsafe fn ten(from: *const u8, escaped: usize, into: *mut u8) {
    // SAFETY: what the caller promises.
    unsafe {
        let bytes =
            _mm256_set_m128i(_mm_loadl_epi64(from.add(FIVE).cast()), _mm_loadl_epi64(from.cast()));
        let thrice = _mm256_shuffle_epi8(bytes, twice(&THRICE));
        let upper = _mm256_and_si256(_mm256_srli_epi16::<4>(thrice), twice(&UPPER));
        let lower = _mm256_and_si256(thrice, twice(&LOWER));
        let halves = _mm256_or_si256(_mm256_or_si256(upper, twice(&NO_DIGIT)), lower);
        let digits = _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(digits()), halves);
        let kept = _mm256_or_si256(_mm256_and_si256(thrice, twice(&KEPT)), twice(&SIGN));
        let (first, second) = (escaped & 31, escaped >> FIVE);
        let order = _mm256_set_m128i(
            _mm_loadu_si128(ORDERS[second].as_ptr().cast()),
            _mm_loadu_si128(ORDERS[first].as_ptr().cast()),
        );
        let written = _mm256_shuffle_epi8(_mm256_or_si256(digits, kept), order);
        _mm_storeu_si128(into.cast(), _mm256_castsi256_si128(written));
        let middle = FIVE + 2 * first.count_ones() as usize;
        _mm_storeu_si128(into.add(middle).cast(), _mm256_extracti128_si256::<1>(written));
    }
}

#[inline(always)]
unsafe fn table(bytes: &[i8; 16]) -> __m128i {
    // SAFETY: every x86-64 has SSE2; there are 16 bytes.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn twice(bytes: &[i8; 16]) -> __m256i {
    // SAFETY: the caller has AVX2.
    unsafe { _mm256_broadcastsi128_si256(table(bytes)) }
}

#[inline(always)]
unsafe fn digits() -> __m128i {
    // SAFETY: every x86-64 has SSE2; there are 16 bytes.
    unsafe { _mm_loadu_si128(b"0123456789ABCDEF".as_ptr().cast()) }
}
