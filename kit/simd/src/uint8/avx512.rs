//! Sixteen lines in a register of 64 bytes on x86-64.
//!
//! The lines of a block are moved to the ends of cells of four bytes by one instruction. Its mask
//! says which bytes of a cell a line has: the last digit and the line feed always, the others by
//! its length, which is told by what is two, three or four bytes before the end of a line.

use super::lines::{Part, STEP_LINES, cut, finish, four, line};
use core::arch::x86_64::*;

const BLOCK_BYTES: usize = 64;
const BLOCK_LINES: usize = 16;
/// The parts of a text.
const PARTS: usize = 2;

/// The first byte of each cell.
const CELLS: u64 = 0x1111_1111_1111_1111;

/// As [`Lines::count`](super::Lines::count).
///
/// # Safety
/// The CPU must have the instructions of the form.
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
pub(super) unsafe fn count(text: &[u8]) -> usize {
    let blocks = text.as_chunks::<BLOCK_BYTES>();
    let mut count = 0;
    for block in blocks.0 {
        // SAFETY: the caller has the instructions; there are 64 bytes.
        count += unsafe { ends(_mm512_loadu_si512(block.as_ptr().cast())) }.count_ones() as usize;
    }
    count + super::lines::count_each(blocks.1, text.last())
}

/// As [`Lines::parse`](super::Lines::parse).
///
/// # Safety
/// The CPU must have the instructions of the form.
#[target_feature(enable = "avx512f,avx512bw,avx512vbmi2,bmi1,bmi2,lzcnt,popcnt")]
pub(super) unsafe fn parse(text: &[u8], into: &mut [u16]) -> usize {
    // SAFETY: the caller has the instructions.
    let mut parts: [Part; PARTS] = unsafe { cut(text, into.len(), count) };
    // A block takes sixteen lines: none that is the next part's, which may be other numbers.
    let mut limits = [into.len(); PARTS];
    for part in 1..PARTS {
        limits[part - 1] = parts[part].line.min(into.len());
    }
    // SAFETY: the caller has the instructions.
    unsafe { take_in_turns(&mut parts, limits, text, into) };
    for (part, limit) in parts.iter_mut().zip(limits) {
        let mut alone = [*part];
        // SAFETY: the caller has the instructions.
        unsafe { take_in_turns(&mut alone, [limit], text, into) };
        // SAFETY: the caller has the instructions.
        *part = unsafe { finish::<__m128i>(alone[0], text, into) };
    }
    parts[PARTS - 1].line
}

/// Takes the next four lines, or the next one if they are not four numbers.
///
/// # Safety
/// As [`parse`]; 16 bytes can be read, and four numbers written.
#[cold]
#[target_feature(enable = "avx512f,avx512bw,popcnt")]
unsafe fn few(part: Part, text: &[u8], into: &mut [u16]) -> Part {
    // SAFETY: what the caller promises.
    unsafe {
        match four::<__m128i>(text.as_ptr().add(part.at)) {
            (_, 0) => line(part, text, into),
            (numbers, bytes) => {
                let to = into.as_mut_ptr().add(part.line).cast::<[u16; STEP_LINES]>();
                to.write_unaligned(numbers);
                Part { at: part.at + bytes, line: part.line + STEP_LINES, ..part }
            }
        }
    }
}

/// Takes blocks of each part, as long as all have one.
///
/// # Safety
/// As [`parse`].
#[inline(always)]
unsafe fn take_in_turns<const N: usize>(
    parts: &mut [Part; N],
    limits: [usize; N],
    text: &[u8],
    into: &mut [u16],
) {
    let mut own = *parts;
    loop {
        let has_block = |(part, limit): (&Part, &usize)| {
            part.end - part.at >= BLOCK_BYTES && limit.saturating_sub(part.line) >= BLOCK_LINES
        };
        let has_blocks = own.iter().zip(&limits).all(has_block);
        if !has_blocks {
            break;
        }
        for part in &mut own {
            // SAFETY: the caller has the instructions; 64 bytes are there, and room for sixteen.
            let taken =
                unsafe { block(text.as_ptr().add(part.at), into.as_mut_ptr().add(part.line)) };
            match taken {
                Some(bytes) => (part.at, part.line) = (part.at + bytes, part.line + BLOCK_LINES),
                // SAFETY: as above.
                None => *part = unsafe { few(*part, text, into) },
            }
        }
    }
    *parts = own;
}

/// Returns which bytes are line feeds.
///
/// # Safety
/// The CPU has AVX-512 BW.
#[inline(always)]
unsafe fn ends(bytes: __m512i) -> u64 {
    // SAFETY: the caller has AVX-512.
    unsafe { _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(b'\n' as i8)) }
}

/// Writes the numbers of the next sixteen lines; returns how many bytes they have. None, if one of
/// them is no number: as numbers they are within 64 bytes.
///
/// # Safety
/// As [`parse`]; 64 bytes can be read, and sixteen numbers written.
#[inline(always)]
unsafe fn block(from: *const u8, into: *mut u16) -> Option<usize> {
    // SAFETY: what the caller promises.
    unsafe {
        let bytes = _mm512_loadu_si512(from.cast());
        let all = ends(bytes);
        // Up to the place that the last bit goes to: all, if there are fewer.
        let last = _pdep_u64(1 << (BLOCK_LINES - 1), all);
        let ends = all & (last ^ last.wrapping_sub(1));
        // A line begins here, as if one had ended before.
        let (two, three, four) = ((ends << 2) | 2, (ends << 3) | 4, (ends << 4) | 8);
        let (one_digit, two_digits) = (_pext_u64(two, ends), _pext_u64(three, ends));
        let are_sized = ends & !((two | three | four) & !((ends << 1) | 1)) == 0;
        let missing = _pdep_u64(one_digit, CELLS << 1) | _pdep_u64(one_digit | two_digits, CELLS);
        let cells = _mm512_maskz_expand_epi8(!missing, bytes);
        let are_digits = !missing & (7 * CELLS);
        let digits = _mm512_maskz_sub_epi8(are_digits, cells, _mm512_set1_epi8(b'0' as i8));
        // Each cell: 100 a + 10 b, and c; then their sum.
        let weights = _mm512_set1_epi32(0x0001_0a64);
        let sums = _mm512_madd_epi16(_mm512_maddubs_epi16(digits, weights), _mm512_set1_epi16(1));
        let wrong = _mm512_cmpgt_epu8_mask(digits, _mm512_set1_epi8(9));
        let too_large = _mm512_cmpgt_epu32_mask(sums, _mm512_set1_epi32(255));
        if last == 0 || !are_sized || wrong != 0 || too_large != 0 {
            return None;
        }
        _mm256_storeu_si256(into.cast(), _mm512_cvtepi32_epi16(sums));
        Some(BLOCK_BYTES - ends.leading_zeros() as usize)
    }
}
