//! Many numbers, each with a separator behind it. AVX-512 has a way of its own.
//!
//! The digits of [`CHUNK`] numbers are made first, each in a record of its own, right before a
//! separator that stands there. So a number is written by one copy from where it begins: its length
//! says where, and no branch asks. A CPU forwards no two stores to one load, which then waits until
//! both are in the cache: with a chunk of records between them, they are.

use super::eights::{AT_ONCE, Eights, PAIRS_ROOM};
use super::single::{PAIRS, TEN_8, TEN_16};
use super::{Integer, MOST};
use crate::{Form, Refused};

/// Writes many numbers, in a form that this CPU has.
///
/// Cost: does not depend on the order of lengths, but for a branch for each eight numbers: are all
/// less than 10^8, than 2^32, or than 10^16; in AVX-512 for each sixteen: than 1000, than 10^7, or
/// than 10^15. Each call fills 2 KiB of stack, or takes the time of sixteen numbers: one number
/// alone is written by [`super::write`].
#[derive(Clone, Copy, Debug)]
pub struct Batch {
    form: Form,
}

impl Batch {
    /// Makes one of [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new() -> Result<Batch, Refused> {
        Batch::of_form(Form::chosen()?)
    }

    /// Makes one of this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(form: Form) -> Result<Batch, Refused> {
        if form.is_here() { Ok(Batch { form }) } else { Err(Refused::Missing(form)) }
    }

    /// Returns the form that was chosen.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the bytes that are enough for so many numbers: [`MOST`] and a separator for each.
    pub const fn room(count: usize) -> usize {
        count.saturating_mul(LONGEST)
    }

    /// Writes each number and the separator behind it; returns how many bytes that is. Bytes behind
    /// them may be written, too.
    ///
    /// # Panics
    /// If there is no room for them; [`Batch::room`] is always enough.
    pub fn write<N: Integer>(&self, numbers: &[N], separator: u8, into: &mut [u8]) -> usize {
        // SAFETY: this is only made of a form that this CPU has.
        unsafe { N::write(self.form, numbers, separator, into) }
    }
}

/// The numbers whose records are written before the first is read.
const CHUNK: usize = 64;

/// What a record has room for: 24 digits, then separators.
const RECORD: usize = 32;

/// Where its digits end, and the separator is.
const END: usize = 24;

/// The most bytes that are used of a record: a number and the separator.
const LONGEST: usize = MOST + 1;

/// How long each number of a chunk is, group by group.
type Lengths = [[u32; AT_ONCE]; CHUNK / AT_ONCE];

/// The records of a chunk.
#[repr(align(64))]
struct Records([u8; CHUNK * RECORD + RECORD]);

/// Writes all numbers, as [`Batch::write`] says.
///
/// # Safety
/// As [`Eights`].
#[inline(always)]
pub(super) unsafe fn write<N: Integer, E: Eights>(
    numbers: &[N],
    separator: u8,
    into: &mut [u8],
) -> usize {
    // Every byte of all records: the separators stay, digits are written over.
    let mut records = Records([separator; CHUNK * RECORD + RECORD]);
    let mut written = 0;
    for chunk in numbers.chunks(CHUNK) {
        if are_pairs(chunk) && into.len() - written >= CHUNK * LONGEST {
            // SAFETY: what the caller promises; there is room for a chunk of the longest numbers,
            // which is more than write_pairs asks for.
            written +=
                unsafe { write_pairs::<N, E>(chunk, separator, into.as_mut_ptr().add(written)) };
            continue;
        }
        // SAFETY: what the caller promises.
        let (lengths, are_short) = unsafe { fill::<N, E>(chunk, &mut records) };
        let lengths = &lengths.as_flattened()[..chunk.len()];
        if into.len() - written < chunk.len() * LONGEST + RECORD {
            let needed: usize = lengths.iter().map(|length| *length as usize + 1).sum();
            let (needed, room) = (written + needed, into.len());
            assert!(room >= needed, "at least {needed} bytes need room, and there are {room}");
            for (at, length) in lengths.iter().enumerate() {
                let count = *length as usize + 1;
                let from = at * RECORD + END + 1 - count;
                into[written..written + count].copy_from_slice(&records.0[from..from + count]);
                written += count;
            }
            continue;
        }
        // SAFETY: there is room for the longest numbers, and a record behind them.
        written += unsafe {
            let into = into.as_mut_ptr().add(written);
            if are_short {
                copy::<{ RECORD / 2 }>(&records, lengths, into)
            } else {
                copy::<RECORD>(&records, lengths, into)
            }
        };
    }
    written
}

/// Returns whether there is a whole chunk of numbers, all from 0 to 99.
#[inline(always)]
fn are_pairs<N: Integer>(chunk: &[N]) -> bool {
    let is_pair = |number: &N| matches!(number.parts(), (false, ..100));
    // The first is asked alone: most chunks are none.
    chunk.len() == CHUNK && is_pair(&chunk[0]) && chunk.iter().all(is_pair)
}

/// Writes a chunk of numbers from 0 to 99; returns how many bytes they have.
///
/// # Safety
/// As [`Eights`]; there is room for three bytes of each and [`PAIRS_ROOM`].
#[inline(always)]
unsafe fn write_pairs<N: Integer, E: Eights>(chunk: &[N], separator: u8, into: *mut u8) -> usize {
    let mut written = 0;
    for group in chunk.as_chunks::<AT_ONCE>().0 {
        let mut pairs = [0; AT_ONCE];
        for at in 0..AT_ONCE {
            pairs[at] = group[at].parts().1 as u32;
        }
        // SAFETY: what the caller promises.
        written += unsafe { E::write_pairs(&pairs, separator, into.add(written)) };
    }
    written
}

const _: () = assert!(CHUNK * 3 + PAIRS_ROOM <= CHUNK * LONGEST);

/// Copies so many bytes of each record, of which its number and the separator are a part, each to
/// behind the last one; returns how many bytes they have.
///
/// # Safety
/// There is room for them and as many bytes as are copied.
#[inline(always)]
unsafe fn copy<const BYTES: usize>(records: &Records, lengths: &[u32], into: *mut u8) -> usize {
    let mut written = 0;
    for (at, length) in lengths.iter().enumerate() {
        let count = *length as usize + 1;
        debug_assert!(count <= LONGEST);
        // SAFETY: what the caller promises; the longest number begins in its own record, and what
        // is copied of the last ends before the records do.
        unsafe {
            let from = records.0.as_ptr().add(at * RECORD + END + 1 - count);
            core::ptr::copy_nonoverlapping(from, into.add(written), BYTES);
        }
        written += count;
    }
    written
}

/// Fills the records of at most a chunk of numbers; returns how long each is, with its
/// sign, and whether none has more than eight digits. There is at least one.
///
/// # Safety
/// As [`Eights`].
#[inline(always)]
unsafe fn fill<N: Integer, E: Eights>(chunk: &[N], records: &mut Records) -> (Lengths, bool) {
    let mut lengths = Lengths::default();
    let mut are_short = true;
    let (groups, rest) = chunk.as_chunks();
    let mut last = [chunk[0]; AT_ONCE];
    last[..rest.len()].copy_from_slice(rest);
    let count = chunk.len().div_ceil(AT_ONCE);
    for (at, lengths) in lengths[..count].iter_mut().enumerate() {
        let group = groups.get(at).unwrap_or(&last);
        let is_short;
        // SAFETY: what the caller promises; there is a record for each number of a whole chunk.
        (*lengths, is_short) =
            unsafe { fill_group::<N, E>(group, records.0.as_mut_ptr().add(at * AT_ONCE * RECORD)) };
        are_short &= is_short;
    }
    (lengths, are_short)
}

/// Fills the records of a group of numbers; returns what [`fill`] does.
///
/// # Safety
/// As [`Eights`]; there are so many records.
#[inline(always)]
unsafe fn fill_group<N: Integer, E: Eights>(
    numbers: &[N; AT_ONCE],
    records: *mut u8,
) -> ([u32; AT_ONCE], bool) {
    let (mut sizes, mut signs, mut largest) = ([0; AT_ONCE], [0; AT_ONCE], 0);
    for at in 0..AT_ONCE {
        let (is_negative, size) = numbers[at].parts();
        sizes[at] = size;
        signs[at] = u32::from(is_negative);
        largest = largest.max(size);
    }
    // SAFETY: what the caller promises.
    unsafe {
        let mut lengths = if largest < TEN_8 {
            fill_eight::<E>(&sizes.map(|size| size as u32), records)
        } else if largest <= u64::from(u32::MAX) {
            fill_ten::<E>(&sizes.map(|size| size as u32), records)
        } else {
            fill_twenty::<E>(&sizes, largest, records)
        };
        if N::IS_SIGNED {
            for at in 0..AT_ONCE {
                // The longest number with a sign has 19 digits, so it lies in the record; of one
                // without a sign it is before what is copied.
                debug_assert!(lengths[at] < MOST as u32);
                records.add(at * RECORD + END - 1 - lengths[at] as usize).write(b'-');
                lengths[at] += signs[at];
            }
        }
        (lengths, largest < TEN_8)
    }
}

/// Fills the records of numbers below 10^8; returns how many digits each has.
///
/// # Safety
/// As [`fill_group`].
#[inline(always)]
unsafe fn fill_eight<E: Eights>(numbers: &[u32; AT_ONCE], records: *mut u8) -> [u32; AT_ONCE] {
    // SAFETY: what the caller promises.
    unsafe {
        E::write(numbers, records.add(END - 8), RECORD);
        E::count(numbers)
    }
}

/// Does the same for numbers below 2^32: before the last eight digits are at most two.
///
/// # Safety
/// As [`fill_group`].
#[inline(always)]
unsafe fn fill_ten<E: Eights>(numbers: &[u32; AT_ONCE], records: *mut u8) -> [u32; AT_ONCE] {
    const EIGHT: u32 = TEN_8 as u32;
    let (mut high, mut low) = ([0; AT_ONCE], [0; AT_ONCE]);
    for at in 0..AT_ONCE {
        high[at] = numbers[at] / EIGHT;
        low[at] = numbers[at] - EIGHT * high[at];
    }
    // SAFETY: what the caller promises.
    unsafe {
        let mut lengths = fill_eight::<E>(&low, records);
        for at in 0..AT_ONCE {
            let pair = PAIRS[high[at] as usize];
            records.add(at * RECORD + END - 10).cast::<[u8; 2]>().write(pair);
            let longer = 9 + u32::from(high[at] >= 10);
            lengths[at] = if high[at] > 0 { longer } else { lengths[at] };
        }
        lengths
    }
}

/// Does the same for any numbers, of which one is the largest.
///
/// # Safety
/// As [`fill_group`].
#[inline(always)]
unsafe fn fill_twenty<E: Eights>(
    numbers: &[u64; AT_ONCE],
    largest: u64,
    records: *mut u8,
) -> [u32; AT_ONCE] {
    let (mut high, mut part, mut lengths) = (*numbers, [0; AT_ONCE], [0; AT_ONCE]);
    for at in 0..AT_ONCE {
        lengths[at] = digits_of(numbers[at]);
        high[at] = by_ten_8(numbers[at]);
        part[at] = (numbers[at] - TEN_8 * high[at]) as u32;
    }
    // SAFETY: what the caller promises.
    unsafe {
        E::write(&part, records.add(END - 8), RECORD);
        if largest >= TEN_16 {
            for at in 0..AT_ONCE {
                let highest = by_ten_8(high[at]);
                part[at] = highest as u32;
                high[at] -= TEN_8 * highest;
            }
            E::write(&part, records.add(END - 24), RECORD);
        }
        E::write(&high.map(|high| high as u32), records.add(END - 16), RECORD);
    }
    lengths
}

/// Divides by 10^8. A product of 128 bits is no vector, in which it would be made of four.
#[inline(always)]
const fn by_ten_8(number: u64) -> u64 {
    // Rounded up, the factor is 2^90 / 10^8.
    ((number as u128 * 0xabcc_7711_8461_cefd) >> 90) as u64
}

/// The powers of ten, each at its number of zeros.
static POWERS: [u64; 20] = {
    let mut powers = [1; 20];
    let mut at = 1;
    while at < 20 {
        powers[at] = 10 * powers[at - 1];
        at += 1;
    }
    powers
};

/// For each number of leading zeros in 64 bits, the digits of the least number with so many.
static DIGITS: [u8; 64] = {
    let mut digits = [1; 64];
    let mut zeros = 0;
    while zeros < 64 {
        let mut left = 1_u64 << (63 - zeros);
        while left >= 10 {
            digits[zeros] += 1;
            left /= 10;
        }
        zeros += 1;
    }
    digits
};

/// Returns how many digits a number has: those of the power of two below it, and one more from the
/// next power of ten on.
#[inline(always)]
fn digits_of(number: u64) -> u32 {
    let digits = DIGITS[(number | 1).leading_zeros() as usize];
    u32::from(digits) + u32::from(number >= POWERS[usize::from(digits)])
}

/// Makes the function of a form: all is compiled anew with these features.
macro_rules! compiled {
    ($(#[$feature:meta])? $eights:ty) => {
        /// As [`Batch::write`](super::Batch::write).
        ///
        /// # Safety
        /// The CPU must have the instructions of the form.
        $(#[$feature])?
        pub(super) unsafe fn write<N: super::Integer>(
            numbers: &[N],
            separator: u8,
            into: &mut [u8],
        ) -> usize {
            // SAFETY: the caller has the instructions.
            unsafe { super::batch::write::<N, $eights>(numbers, separator, into) }
        }
    };
}
pub(super) use compiled;
