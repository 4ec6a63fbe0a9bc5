//! Several sets of bytes, looked up together.

use super::ByteSet;
use super::finder::MASK_BYTES;
use super::forms::{self, Masks};
use super::tables::Tables;
use crate::{Form, Refused};

/// Sets of bytes with their tables, in a form that this CPU has: for a parser that looks for one
/// thing after the other.
///
/// ```
/// use tiebreak_simd::byte_set::{ByteSet, Classes};
///
/// const NAME_END: ByteSet = ByteSet::of(b": \r\n");
/// const LINE_END: ByteSet = ByteSet::of(b"\r\n");
/// let classes = Classes::new(&[NAME_END, LINE_END])?;
///
/// let line = b"host: tiebreak\r\n";
/// let mut cursor = classes.cursor(line);
/// assert_eq!(cursor.find(0, 0), Some(4));
/// assert_eq!(cursor.find(1, 6), Some(14));
/// # Ok::<(), tiebreak_simd::Refused>(())
/// ```
///
/// Cost: 256 bytes are looked up at once in all sets, whatever is in them. To find a byte is then a
/// shift and a count of zeros, and no load of bytes that waits for what was found before.
#[derive(Clone, Copy, Debug)]
pub struct Classes<const N: usize> {
    tables: [Tables; N],
    form: Form,
    masks: Masks<N>,
}

impl<const N: usize> Classes<N> {
    /// Makes the tables of these sets, in [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new(sets: &[ByteSet; N]) -> Result<Classes<N>, Refused> {
        Classes::of_form(sets, Form::chosen()?)
    }

    /// Makes the tables for this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(sets: &[ByteSet; N], form: Form) -> Result<Classes<N>, Refused> {
        if !form.is_here() {
            return Err(Refused::Missing(form));
        }
        let tables = sets.map(Tables::of);
        let masks = forms::masks_of(form, tables.iter().all(|tables| tables.has_nibbles));
        Ok(Classes { tables, form, masks })
    }

    /// Returns the form that runs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Writes which of each 64 bytes are in each set: bit `i` for byte `i`, 0 beyond the end.
    ///
    /// # Panics
    /// If there is no room for all of them.
    pub fn masks(&self, bytes: &[u8], into: &mut [[u64; N]]) {
        forms::check_room(bytes, into.len());
        // SAFETY: classes are only made of a form that this CPU has.
        unsafe { (self.masks)(&self.tables, bytes, into) }
    }

    /// Returns what finds bytes of these sets, from the start on.
    pub fn cursor<'of, 'input>(&'of self, bytes: &'input [u8]) -> Cursor<'of, 'input, N> {
        let mut cursor = Cursor { classes: self, bytes, begin: 0, masks: [[0; N]; AHEAD] };
        cursor.look_up(0);
        cursor
    }
}

/// How many blocks are looked up at once: what is found in one does not wait for the next.
const AHEAD: usize = 4;

/// Finds bytes of some sets in an input, one after the other.
#[derive(Clone, Debug)]
pub struct Cursor<'of, 'input, const N: usize> {
    classes: &'of Classes<N>,
    bytes: &'input [u8],
    /// Where the first block begins of which `masks` are.
    begin: usize,
    masks: [[u64; N]; AHEAD],
}

impl<const N: usize> Cursor<'_, '_, N> {
    /// Returns the place of the first byte at `from` or after it that is in a set, by its number.
    ///
    /// Cost: a few instructions if it is in the same 64 bytes as `from`, and they are looked up;
    /// else a call.
    ///
    /// # Panics
    /// If there is no such set.
    #[inline]
    pub fn find(&mut self, set: usize, from: usize) -> Option<usize> {
        // A place before the first block wraps to a large number, so it is one comparison.
        let within = from.wrapping_sub(self.begin);
        if let Some(masks) = self.masks.get(within / MASK_BYTES) {
            let found = masks[set] >> (within % MASK_BYTES);
            if found != 0 {
                return Some(from + found.trailing_zeros() as usize);
            }
        }
        self.find_in_others(set, from)
    }

    /// Goes on after the block of a place, or, where it was not looked up, there.
    #[inline(never)]
    fn find_in_others(&mut self, set: usize, from: usize) -> Option<usize> {
        let within = from.wrapping_sub(self.begin) / MASK_BYTES;
        let mut block = if within < AHEAD {
            within + 1
        } else {
            self.look_up(from);
            0
        };
        loop {
            for (at, masks) in self.masks.iter().enumerate().skip(block) {
                if masks[set] != 0 {
                    let place = self.begin + at * MASK_BYTES;
                    return Some(place + masks[set].trailing_zeros() as usize);
                }
            }
            let next = self.begin.saturating_add(AHEAD * MASK_BYTES);
            if next >= self.bytes.len() {
                return None;
            }
            self.look_up(next);
            block = 0;
        }
    }

    /// Looks up the blocks from a place on; of what is beyond the end, nothing is in any set.
    fn look_up(&mut self, begin: usize) {
        let rest = self.bytes.get(begin..).unwrap_or(&[]);
        let rest = &rest[..rest.len().min(AHEAD * MASK_BYTES)];
        if rest.len() < AHEAD * MASK_BYTES {
            self.masks = [[0; N]; AHEAD];
        }
        self.begin = begin;
        self.classes.masks(rest, &mut self.masks);
    }
}
