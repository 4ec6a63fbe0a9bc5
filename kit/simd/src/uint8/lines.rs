//! A number a line, four lines at a time; by AVX-512 sixteen, in `avx512.rs`.
//!
//! Four lines of at most three digits are within 16 bytes. Where they end is one of 81 sets of
//! bits, and a perfect hash of the set finds the order that brings the digits to four cells of four
//! bytes, from the last digit on. Two instructions that multiply and add make numbers of them.
//!
//! Where four lines begin is known only when the ones before have been looked at. So a text is cut
//! into parts, which go on in turns.

use super::NONE;
use crate::{Form, Refused};

/// Reads a number of each line, in a form that this CPU has.
///
/// Cost: a step for each four (AVX-512: sixteen) lines that have one to three digits; a loop over
/// its bytes for any other line; and first a look at most bytes, to count the lines of parts.
#[derive(Clone, Copy, Debug)]
pub struct Lines {
    form: Form,
}

impl Lines {
    /// Makes one of [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new() -> Result<Lines, Refused> {
        Lines::of_form(Form::chosen()?)
    }

    /// Makes one of this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(form: Form) -> Result<Lines, Refused> {
        if form.is_here() { Ok(Lines { form }) } else { Err(Refused::Missing(form)) }
    }

    /// Returns the form that was chosen.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns how many lines a text has. The last one may end without a line feed.
    pub fn count(&self, text: &[u8]) -> usize {
        // SAFETY: this is only made of a form that this CPU has.
        unsafe { with_form!(self.form, count(text)) }
    }

    /// Writes the number of each line, or [`NONE`] where a line is not one to three digits of at
    /// most 255; returns how many lines there are.
    ///
    /// # Panics
    /// If there is no room for all of them.
    pub fn parse(&self, text: &[u8], into: &mut [u16]) -> usize {
        // SAFETY: this is only made of a form that this CPU has.
        unsafe { with_form!(self.form, parse(text, into)) }
    }
}

/// Calls the function of a form.
macro_rules! with_form {
    ($form:expr, $call:ident($($argument:expr),*)) => {
        match $form {
            #[cfg(target_arch = "x86_64")]
            Form::Ssse3 => super::x86::ssse3::$call($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Form::Avx2 => super::x86::avx2::$call($($argument),*),
            #[cfg(target_arch = "x86_64")]
            Form::Avx512 => super::avx512::$call($($argument),*),
            #[cfg(target_arch = "aarch64")]
            Form::Neon => super::neon::neon::$call($($argument),*),
            _ => scalar::$call($($argument),*),
        }
    };
}
use with_form;

/// The bytes of a step.
pub(super) const STEP_BYTES: usize = 16;

/// The lines of a step.
pub(super) const STEP_LINES: usize = 4;

/// The parts of a text, and the least bytes of one that is cut.
const PARTS: usize = 4;
const CUT_BYTES_MIN: usize = 256;

/// The 16 bytes that a step looks at.
///
/// # Safety
/// All functions need the instructions of the form.
pub(super) trait Step: Copy {
    /// Loads 16 bytes.
    unsafe fn load(from: *const u8) -> Self;

    /// Returns which of them are line feeds: bit `i` for byte `i`.
    unsafe fn ends(self) -> u32;

    /// Brings the digits to four cells, as the order says. Returns the four numbers, of 16 bits
    /// each, the first in the lowest, and whether all were digits and no number was above 255.
    unsafe fn numbers(self, order: &[u8; STEP_BYTES]) -> (u64, bool);
}

/// Puts the 81 sets into 256 slots, each into one of its own: of random numbers the first that
/// does, after 6859.
const MULTIPLIER: u32 = 0x2fba_c2e1;
const SLOT_BITS: u32 = 8;

/// The sets of places where four lines end, by slot, and for each the order of its digits: 255, of
/// which a lookup makes 0, where a number has fewer than three, and for the fourth byte of a cell.
struct Orders {
    ends: [u16; 1 << SLOT_BITS],
    orders: [[u8; STEP_BYTES]; 1 << SLOT_BITS],
}

static ORDERS: Orders = orders();

const fn slot_of(ends: u32) -> usize {
    (ends.wrapping_mul(MULTIPLIER) >> (u32::BITS - SLOT_BITS)) as usize
}

const fn orders() -> Orders {
    let mut all = Orders { ends: [0; 1 << SLOT_BITS], orders: [[255; STEP_BYTES]; 1 << SLOT_BITS] };
    let mut set = 0;
    while set < 81 {
        let (mut ends, mut order) = (0, [255; STEP_BYTES]);
        let (mut lengths, mut line, mut at) = (set, 0, 0);
        while line < STEP_LINES {
            let length = 1 + lengths % 3;
            let mut digit = 0;
            while digit < length {
                order[4 * line + 3 - length + digit] = (at + digit) as u8;
                digit += 1;
            }
            at += length;
            ends |= 1 << at;
            at += 1;
            lengths /= 3;
            line += 1;
        }
        let slot = slot_of(ends as u32);
        assert!(all.ends[slot] == 0, "two sets have a slot");
        (all.ends[slot], all.orders[slot]) = (ends, order);
        set += 1;
    }
    all
}

/// A part of a text: where its next line begins, where its last one ends, and how many lines were
/// before.
#[derive(Clone, Copy, Default)]
pub(super) struct Part {
    pub at: usize,
    pub end: usize,
    pub line: usize,
}

/// Returns how many lines a text has.
///
/// # Safety
/// As [`Step`].
#[inline(always)]
pub(super) unsafe fn count<S: Step>(text: &[u8]) -> usize {
    let blocks = text.as_chunks::<STEP_BYTES>();
    let mut count = 0;
    for block in blocks.0 {
        // SAFETY: what the caller promises; there are 16 bytes.
        count += unsafe { S::load(block.as_ptr()).ends() }.count_ones() as usize;
    }
    count + count_each(blocks.1, text.last())
}

/// Returns how many line feeds there are, and one more for a last byte that is none.
pub(super) fn count_each(text: &[u8], last: Option<&u8>) -> usize {
    let is_cut = last.is_some_and(|byte| *byte != b'\n');
    text.iter().filter(|byte| **byte == b'\n').count() + usize::from(is_cut)
}

/// Writes the number of each line; returns how many there are.
///
/// # Safety
/// As [`Step`].
#[inline(always)]
pub(super) unsafe fn parse<S: Step>(
    text: &[u8],
    into: &mut [u16],
    count: unsafe fn(&[u8]) -> usize,
) -> usize {
    // SAFETY: what the caller promises.
    let mut parts: [Part; PARTS] = unsafe { cut(text, into.len(), count) };
    // SAFETY: what the caller promises; so many steps are there in each part.
    unsafe {
        if text.len() >= CUT_BYTES_MIN {
            loop {
                let mut steps = usize::MAX;
                for part in &parts {
                    steps = steps.min(steps_of(part, text, into));
                }
                if steps == 0 {
                    break;
                }
                take_in_turns::<S, PARTS>(&mut parts, steps, text, into);
            }
        }
        for part in &mut parts {
            *part = finish::<S>(*part, text, into);
        }
    }
    parts[PARTS - 1].line
}

/// Takes all that is left of a part.
///
/// # Safety
/// As [`Step`].
#[inline(always)]
pub(super) unsafe fn finish<S: Step>(part: Part, text: &[u8], into: &mut [u16]) -> Part {
    let mut alone = [part];
    loop {
        let steps = steps_of(&alone[0], text, into);
        if steps == 0 {
            break;
        }
        // SAFETY: what the caller promises; so many steps are there.
        unsafe { take_in_turns::<S, 1>(&mut alone, steps, text, into) };
    }
    let mut part = alone[0];
    while part.at < part.end {
        part = line(part, text, into);
    }
    part
}

/// Cuts a text at line feeds, if it is long enough; else the last part is all of it, and the others
/// are empty.
///
/// # Safety
/// The CPU must have the instructions by which lines are counted.
pub(super) unsafe fn cut<const PARTS: usize>(
    text: &[u8],
    room: usize,
    count: unsafe fn(&[u8]) -> usize,
) -> [Part; PARTS] {
    let mut parts = [Part { at: text.len(), end: text.len(), line: room }; PARTS];
    let mut begun = Part { at: 0, end: text.len(), line: 0 };
    if text.len() >= CUT_BYTES_MIN {
        for (number, part) in parts[..PARTS - 1].iter_mut().enumerate() {
            let middle = text.len() * (number + 1) / PARTS;
            let feed = text[middle..].iter().position(|byte| *byte == b'\n');
            begun.end = feed.map_or(text.len(), |feed| middle + feed + 1).max(begun.at);
            *part = begun;
            // SAFETY: what the caller promises.
            begun.line += unsafe { count(&text[begun.at..begun.end]) };
            begun.at = begun.end;
        }
        begun.end = text.len();
    }
    parts[PARTS - 1] = begun;
    parts
}

/// Returns how many times four lines may be looked at, at least. The last ones may be the next
/// part's, too: it then writes the same numbers.
#[inline(always)]
fn steps_of(part: &Part, text: &[u8], into: &[u16]) -> usize {
    if part.at >= part.end {
        return 0;
    }
    let bytes = (part.end - part.at).div_ceil(STEP_BYTES);
    let bytes = bytes.min((text.len() - part.at) / STEP_BYTES);
    bytes.min((into.len() - part.line.min(into.len())) / STEP_LINES)
}

/// Takes so many times four lines of each part, or until lines are not four numbers: then the next
/// one by itself.
///
/// # Safety
/// As [`Step`], for parts that have so many steps.
#[inline(always)]
unsafe fn take_in_turns<S: Step, const N: usize>(
    parts: &mut [Part; N],
    steps: usize,
    text: &[u8],
    into: &mut [u16],
) {
    let (from, to) = (text.as_ptr(), into.as_mut_ptr());
    let mut at = [0; N];
    for part in 0..N {
        at[part] = parts[part].at;
    }
    for step in 0..steps {
        for part in 0..N {
            // SAFETY: what the caller promises: no step takes more than 16 bytes.
            let (numbers, used) = unsafe { four::<S>(from.add(at[part])) };
            if used == 0 {
                // Those before it have taken one step more.
                for other in 0..N {
                    parts[other].at = at[other];
                    parts[other].line += STEP_LINES * (step + usize::from(other < part));
                }
                parts[part] = line(parts[part], text, into);
                return;
            }
            // SAFETY: what the caller promises: there is room for four numbers a step.
            unsafe {
                let to = to.add(parts[part].line + STEP_LINES * step);
                to.cast::<[u16; STEP_LINES]>().write(numbers);
            }
            at[part] += used;
        }
    }
    for part in 0..N {
        parts[part].at = at[part];
        parts[part].line += STEP_LINES * steps;
    }
}

/// Returns the numbers of the next four lines and how many bytes these are; 0 if they are not four
/// numbers.
///
/// # Safety
/// As [`Step`]; 16 bytes can be read.
#[inline(always)]
pub(super) unsafe fn four<S: Step>(from: *const u8) -> ([u16; STEP_LINES], usize) {
    // SAFETY: what the caller promises.
    unsafe {
        let bytes = S::load(from);
        let all = bytes.ends();
        let mut others = all;
        for _ in 0..STEP_LINES {
            others &= others.wrapping_sub(1);
        }
        let ends = all ^ others;
        let slot = slot_of(ends);
        let (numbers, are_numbers) = bytes.numbers(&ORDERS.orders[slot]);
        let is_known = u32::from(ORDERS.ends[slot]) == ends && ends != 0;
        let used = (u32::BITS - ends.leading_zeros()) as usize;
        let each = [numbers, numbers >> 16, numbers >> 32, numbers >> 48];
        (each.map(|number| number as u16), if is_known && are_numbers { used } else { 0 })
    }
}

/// Takes the next line by itself.
///
/// # Panics
/// If there is no room for it.
#[cold]
pub(super) fn line(mut part: Part, text: &[u8], into: &mut [u16]) -> Part {
    let rest = &text[part.at..];
    let length = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
    let room = into.len();
    assert!(room > part.line, "more than {room} lines need room, and there are {room}");
    into[part.line] = super::parse(&rest[..length]).map_or(NONE, u16::from);
    part.at += (length + 1).min(rest.len());
    part.line += 1;
    part
}

/// A byte at a time.
mod scalar {
    use super::{NONE, count_each};

    pub(super) fn count(text: &[u8]) -> usize {
        count_each(text, text.last())
    }

    pub(super) fn parse(text: &[u8], into: &mut [u16]) -> usize {
        let room = into.len();
        let mut lines = 0;
        let (mut number, mut length) = (0, 0_usize);
        let is_cut = text.last().is_some_and(|byte| *byte != b'\n');
        for byte in text.iter().chain(is_cut.then_some(&b'\n')) {
            if *byte != b'\n' {
                let digit = u32::from(byte.wrapping_sub(b'0'));
                // What is no digit leaves a number that is too large, whatever follows.
                let more = number * 10 + digit;
                number = if digit > 9 || more > 255 { 256 } else { more };
                length += 1;
                continue;
            }
            assert!(room > lines, "more than {room} lines need room, and there are {room}");
            into[lines] = if matches!(length, 1..=3) { number as u16 } else { NONE };
            lines += 1;
            (number, length) = (0, 0);
        }
        lines
    }
}

/// Makes a module of what a form does: compiled anew with these features.
macro_rules! compiled {
    ($name:ident, $step:ty, #[$feature:meta]) => {
        pub(super) mod $name {
            use super::*;
            use crate::uint8::lines;

            #[$feature]
            pub(in crate::uint8) unsafe fn count(text: &[u8]) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { lines::count::<$step>(text) }
            }

            #[$feature]
            pub(in crate::uint8) unsafe fn parse(text: &[u8], into: &mut [u16]) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { lines::parse::<$step>(text, into, count) }
            }
        }
    };
}
pub(super) use compiled;
