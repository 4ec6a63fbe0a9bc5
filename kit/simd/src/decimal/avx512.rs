//! Sixteen numbers at a time, whose leading zeros one instruction drops.
//!
//! Each number has a cell: all digits of its kind, and the separator. A register holds 16 cells of
//! 4 bytes, eight of 8, four of 16, or three of 21. A bit for each byte that is not 0, and a
//! subtraction for all cells at once, say which digits lead. The others are moved together and
//! stored, with no copy and no branch for a length. A sign takes the place of the first digit.
//!
//! Each step is done to all registers before the next one: a CPU looks for work that does not wait
//! in the next hundred instructions, which would otherwise be those of one register.

use super::Integer;
use core::arch::x86_64::*;

/// The numbers of a group.
const GROUP: usize = 16;

/// The bytes that are written for a group: of six registers the last at most behind all cells.
const ROOM: usize = GROUP * 21 + 64;

/// As [`Batch::write`](super::Batch::write).
///
/// # Safety
/// The CPU must have the instructions of the form.
#[target_feature(enable = "avx512f,avx512bw,avx512ifma,avx512vbmi,avx512vbmi2,bmi1,bmi2,popcnt")]
pub(super) unsafe fn write<N: Integer>(numbers: &[N], separator: u8, into: &mut [u8]) -> usize {
    let (mut left, mut written) = (numbers, 0);
    while let Some((group, rest)) = left.split_first_chunk::<GROUP>()
        && into.len() - written >= ROOM
    {
        // SAFETY: the caller has the instructions; there is room.
        written += unsafe { write_group(group, separator, into.as_mut_ptr().add(written)) };
        left = rest;
    }
    for group in left.chunks(GROUP) {
        let mut text = [0; ROOM];
        // SAFETY: as above.
        let bytes = unsafe { write_group(group, separator, text.as_mut_ptr()) };
        // Those that are not there were written as 0.
        let bytes = bytes - 2 * (GROUP - group.len());
        let (needed, room) = (written + bytes, into.len());
        assert!(room >= needed, "at least {needed} bytes need room, and there are {room}");
        into[written..needed].copy_from_slice(&text[..bytes]);
        written = needed;
    }
    written
}

/// Writes at most sixteen numbers, and zeros for those that are not there; returns how many bytes
/// they have.
///
/// # Safety
/// As [`write`]; [`ROOM`] bytes can be written.
#[inline(always)]
unsafe fn write_group<N: Integer>(group: &[N], separator: u8, into: *mut u8) -> usize {
    const THREES: Cells = Cells::new(4, 16);
    const SEVENS: Cells = Cells::new(8, 8);
    const FIFTEENS: Cells = Cells::new(16, 4);
    const TWENTIES: Cells = Cells::new(21, 3);
    const LAST: Cells = Cells::new(21, 2);
    // SAFETY: what the caller promises.
    unsafe {
        let (numbers, signs) = load(group);
        let largest = _mm512_max_epu64(numbers[0], numbers[1]);
        let fit = |places: u32| {
            let digits = if N::IS_SIGNED { places - 1 } else { places };
            let limit = _mm512_set1_epi64(10_i64.pow(digits));
            _mm512_cmpge_epu64_mask(largest, limit) == 0
        };
        let mut writer = Writer { signs, separator, into, written: 0 };
        if fit(3) {
            let numbers = _mm512_permutex2var_epi32(numbers[0], places(&EVEN), numbers[1]);
            let [digits] = four([numbers]);
            writer.put::<N>(THREES, 16, _mm512_shuffle_epi8(digits, places(&THREE)));
        } else if fit(7) {
            for digits in eight(numbers) {
                writer.put::<N>(SEVENS, 8, _mm512_shuffle_epi8(digits, places(&SEVEN)));
            }
        } else if fit(15) {
            let (high, low) = by_ten_8(numbers);
            let [high0, high1, low0, low1] = eight([high[0], high[1], low[0], low[1]]);
            for (high, low) in [(high0, low0), (high1, low1)] {
                for at in 0..2 {
                    let order = _mm512_add_epi8(places(&FIFTEEN), _mm512_set1_epi8(at * 4 * 8));
                    writer.put::<N>(FIFTEENS, 4, _mm512_permutex2var_epi8(low, order, high));
                }
            }
        } else {
            let (top, rest) = by_ten_14(numbers);
            let (middle, low) = by_ten_8(rest);
            let [top0, top1, middle0, middle1, low0, low1] =
                eight([top[0], top[1], middle[0], middle[1], low[0], low[1]]);
            for (top, middle, low) in [(top0, middle0, low0), (top1, middle1, low1)] {
                for at in 0..3 {
                    let from = _mm512_set1_epi8(at * 3 * 8);
                    let order = _mm512_add_epi8(places(&FOURTEEN), from);
                    let digits = _mm512_permutex2var_epi8(low, order, middle);
                    let order = _mm512_add_epi8(places(&SIX), from);
                    let digits = _mm512_mask_permutexvar_epi8(digits, SIX_PLACES, order, top);
                    let (cells, count) = if at < 2 { (TWENTIES, 3) } else { (LAST, 2) };
                    writer.put::<N>(cells, count, digits);
                }
            }
        }
        writer.written
    }
}

/// Loads at most sixteen numbers; returns how far each is from 0, and which are less.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn load<N: Integer>(group: &[N]) -> ([__m512i; 2], u16) {
    let from = group.as_ptr();
    let mask = u16::MAX >> (GROUP - group.len());
    // SAFETY: the caller has AVX-512; what the mask leaves out is not read.
    unsafe {
        let numbers = if size_of::<N>() == 8 {
            let first = _mm512_maskz_loadu_epi64(mask as u8, from.cast());
            let second = _mm512_maskz_loadu_epi64((mask >> 8) as u8, from.wrapping_add(8).cast());
            [first, second]
        } else {
            let numbers = _mm512_maskz_loadu_epi32(mask, from.cast());
            let halves = [_mm512_castsi512_si256(numbers), _mm512_extracti64x4_epi64::<1>(numbers)];
            if N::IS_SIGNED {
                halves.map(|half| _mm512_cvtepi32_epi64(half))
            } else {
                halves.map(|half| _mm512_cvtepu32_epi64(half))
            }
        };
        if N::IS_SIGNED {
            let signs = numbers.map(|half| _mm512_cmplt_epi64_mask(half, _mm512_setzero_si512()));
            (numbers.map(|half| _mm512_abs_epi64(half)), u16::from_le_bytes(signs))
        } else {
            (numbers, 0)
        }
    }
}

/// Divides numbers by 10^14; returns what that is, and what it leaves.
///
/// # Safety
/// The CPU has AVX-512 IFMA.
#[inline(always)]
unsafe fn by_ten_14<const COUNT: usize>(
    numbers: [__m512i; COUNT],
) -> ([__m512i; COUNT], [__m512i; COUNT]) {
    // SAFETY: the caller has AVX-512 IFMA.
    unsafe {
        // 10^14 is 5^14 * 2^14. Rounded up, the factor is 2^84 / 5^14.
        let mut high = numbers;
        for high in &mut high {
            *high = _mm512_srli_epi64::<14>(*high);
        }
        let high = quotients::<32, COUNT>(high, 3_169_126_500_570_574);
        let mut rest = numbers;
        for at in 0..COUNT {
            let factor = _mm512_set1_epi64((1 << 52) - 100_000_000_000_000);
            rest[at] = _mm512_madd52lo_epu64(numbers[at], high[at], factor);
            // It has fewer than 52 bits: more of the sum is not right.
            rest[at] = _mm512_and_si512(rest[at], _mm512_set1_epi64((1 << 52) - 1));
        }
        (high, rest)
    }
}

/// Divides numbers below 10^15 by 10^8; returns what that is, and what it leaves.
///
/// # Safety
/// The CPU has AVX-512 IFMA.
#[inline(always)]
unsafe fn by_ten_8<const COUNT: usize>(
    numbers: [__m512i; COUNT],
) -> ([__m512i; COUNT], [__m512i; COUNT]) {
    // SAFETY: the caller has AVX-512 IFMA.
    unsafe {
        // Rounded up, the factor is 2^78 / 10^8.
        let high = quotients::<26, COUNT>(numbers, 3_022_314_549_036_573);
        let mut rest = numbers;
        for at in 0..COUNT {
            // As a plain product, LLVM would make it one by -10^8, in two parts.
            let ten_8 = _mm512_set1_epi64(100_000_000);
            let all = _mm512_madd52lo_epu64(_mm512_setzero_si512(), high[at], ten_8);
            rest[at] = _mm512_sub_epi64(rest[at], all);
        }
        (high, rest)
    }
}

/// Multiplies numbers of 52 bits by a factor, and divides by 2^52 and a power of two more.
///
/// # Safety
/// The CPU has AVX-512 IFMA.
#[inline(always)]
unsafe fn quotients<const SHIFT: u32, const COUNT: usize>(
    mut numbers: [__m512i; COUNT],
    factor: i64,
) -> [__m512i; COUNT] {
    for number in &mut numbers {
        // SAFETY: the caller has AVX-512 IFMA.
        unsafe {
            let factor = _mm512_set1_epi64(factor);
            let product = _mm512_madd52hi_epu64(_mm512_setzero_si512(), *number, factor);
            *number = _mm512_srli_epi64::<SHIFT>(product);
        }
    }
    numbers
}

/// Returns the eight digits of each number below 10^8, as numbers in bytes, the last lowest.
///
/// # Safety
/// The CPU has AVX-512 BW and IFMA.
#[inline(always)]
unsafe fn eight<const COUNT: usize>(mut numbers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    // SAFETY: the caller has AVX-512 BW and IFMA.
    unsafe {
        // Rounded up, the factor is 2^52 / 10^4.
        let high = quotients::<0, COUNT>(numbers, 450_359_962_738);
        for at in 0..COUNT {
            // What is taken from below is added above: one product does both.
            let factor = _mm512_set1_epi64((1 << 32) - 10_000);
            numbers[at] = _mm512_madd52lo_epu64(numbers[at], high[at], factor);
        }
        four(numbers)
    }
}

/// Returns the four digits of each number of 32 bits, which is below 10^4.
///
/// # Safety
/// The CPU has AVX-512 BW.
#[inline(always)]
unsafe fn four<const COUNT: usize>(mut numbers: [__m512i; COUNT]) -> [__m512i; COUNT] {
    // SAFETY: the caller has AVX-512 BW.
    unsafe {
        let mut quotients = numbers;
        for at in 0..COUNT {
            // 5243 / 2^19 is 1 / 100 for less than 10^4.
            let product = _mm512_mulhi_epu16(numbers[at], _mm512_set1_epi16(5243));
            quotients[at] = _mm512_srli_epi16::<3>(product);
        }
        for at in 0..COUNT {
            let moved = _mm512_mullo_epi32(quotients[at], _mm512_set1_epi32((1 << 16) - 100));
            numbers[at] = _mm512_add_epi32(numbers[at], moved);
        }
        for at in 0..COUNT {
            // 6554 / 2^16 is 1 / 10 for less than 100.
            quotients[at] = _mm512_mulhi_epu16(numbers[at], _mm512_set1_epi16(6554));
        }
        for at in 0..COUNT {
            let moved = _mm512_mullo_epi16(quotients[at], _mm512_set1_epi16((1 << 8) - 10));
            numbers[at] = _mm512_add_epi16(numbers[at], moved);
        }
        numbers
    }
}

/// How cells lie in a register.
#[derive(Clone, Copy)]
struct Cells {
    /// A bit for the first byte of each.
    firsts: u64,
    /// For the last byte of each, which is the separator.
    lasts: u64,
}

impl Cells {
    const fn new(bytes: u32, count: u32) -> Cells {
        let (mut firsts, mut at) = (0, 0);
        while at < count {
            firsts |= 1 << (at * bytes);
            at += 1;
        }
        Cells { firsts, lasts: firsts << (bytes - 1) }
    }
}

/// Where the text goes.
struct Writer {
    /// A bit for each number that is negative, those written shifted out.
    signs: u16,
    separator: u8,
    into: *mut u8,
    written: usize,
}

impl Writer {
    /// Writes so many cells: digits, as numbers in bytes, and 0 where the separator is to be.
    ///
    /// # Safety
    /// The CPU has AVX-512 VBMI2, BMI2 and POPCNT; 64 bytes more can be written.
    #[inline(always)]
    unsafe fn put<N: Integer>(&mut self, cells: Cells, count: u32, digits: __m512i) {
        let Cells { firsts, lasts } = cells;
        let signs_at = if N::IS_SIGNED { firsts } else { 0 };
        // SAFETY: what the caller promises.
        unsafe {
            let bytes = lasts | (lasts - firsts);
            // The last digit does not lead, even if it is 0.
            let ends = lasts | lasts >> 1;
            let others = (_mm512_test_epi8_mask(digits, digits) & bytes) | ends;
            // One less: what is 0 before the first 1 of a cell turns into 1.
            let leading = (others - firsts) & !others;
            let signs = _pdep_u64(self.signs.into(), signs_at);
            let shown = (bytes & !leading & !signs_at) | signs;
            self.signs = self.signs.checked_shr(count).unwrap_or_default();
            let fixed = _mm512_set1_epi8(b'0' as i8);
            let fixed = _mm512_mask_set1_epi8(fixed, lasts, self.separator as i8);
            let fixed = _mm512_mask_set1_epi8(fixed, signs_at, b'-' as i8);
            let text = _mm512_or_si512(digits, fixed);
            // Into a register first: the form that writes to memory is slow on some CPUs.
            let text = _mm512_maskz_compress_epi8(shown, text);
            _mm512_storeu_si512(self.into.add(self.written).cast(), text);
            self.written += shown.count_ones() as usize;
        }
    }
}

/// Loads the places that a shuffle takes its parts from.
///
/// # Safety
/// The CPU has AVX-512.
#[inline(always)]
unsafe fn places<T>(places: &T) -> __m512i {
    const { assert!(size_of::<T>() == 64) };
    // SAFETY: the caller has AVX-512; there are 64 bytes.
    unsafe { _mm512_loadu_si512(core::ptr::from_ref(places).cast()) }
}

/// The lower words of each eight bytes.
static EVEN: [u32; 16] = [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30];

/// The places of all cells: those of the first, each time so many further on.
const fn cells<const BYTES: usize>(first: [u8; BYTES], step: usize) -> [u8; 64] {
    let mut places = [0; 64];
    let mut at = 0;
    while at < 64 {
        places[at] = first[at % BYTES] + (at / BYTES * step) as u8;
        at += 1;
    }
    places
}

// Digits have the last lowest, and cells the first. Of a second register places are from 64 on.

static THREE: [u8; 64] = cells([2, 1, 0, 3], 4);

static SEVEN: [u8; 64] = cells([6, 5, 4, 3, 2, 1, 0, 7], 8);

static FIFTEEN: [u8; 64] = cells([70, 69, 68, 67, 66, 65, 64, 7, 6, 5, 4, 3, 2, 1, 0, 71], 8);

/// What is 0 is of [`SIX`].
static FOURTEEN: [u8; 64] =
    cells([0, 0, 0, 0, 0, 0, 69, 68, 67, 66, 65, 64, 7, 6, 5, 4, 3, 2, 1, 0, 0], 8);

static SIX: [u8; 64] = cells([5, 4, 3, 2, 1, 0, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7], 8);

/// Where [`SIX`] has what it says.
const SIX_PLACES: u64 = {
    let cell = 0b11_1111 | 1 << 20;
    cell | cell << 21 | cell << 42
};
