//! Several sets of bytes, looked up together.

use super::ByteSet;
use super::finder::MASK_BYTES;
use super::forms::{self, MasksOf};
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
/// Cost: 64 bytes are looked up once in all sets, whatever is in them. To find a byte is then a
/// shift and a count of zeros, and no load that waits for what was found before.
#[derive(Clone, Copy, Debug)]
pub struct Classes<const N: usize> {
    tables: [Tables; N],
    form: Form,
    masks: MasksOf<N>,
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

    /// Returns which of the first 64 bytes are in each set: bit `i` for byte `i`, 0 beyond the end.
    pub fn masks(&self, bytes: &[u8]) -> [u64; N] {
        // SAFETY: classes are only made of a form that this CPU has.
        unsafe { (self.masks)(&self.tables, bytes) }
    }

    /// Returns what finds bytes of these sets, from the start on.
    pub fn cursor<'of, 'input>(&'of self, bytes: &'input [u8]) -> Cursor<'of, 'input, N> {
        Cursor { classes: self, bytes, block: 0, masks: self.masks(bytes) }
    }
}

/// Finds bytes of some sets in an input, one after the other.
#[derive(Clone, Debug)]
pub struct Cursor<'of, 'input, const N: usize> {
    classes: &'of Classes<N>,
    bytes: &'input [u8],
    /// Where the block begins of which `masks` are.
    block: usize,
    masks: [u64; N],
}

impl<const N: usize> Cursor<'_, '_, N> {
    /// Returns the place of the first byte from a place on that is in a set, by its number.
    ///
    /// Cost: a few instructions where both places are in the 64 bytes that were looked up last.
    ///
    /// # Panics
    /// If there is no such set.
    #[inline]
    pub fn find(&mut self, set: usize, from: usize) -> Option<usize> {
        // A place before the block wraps to a large number, so it is one comparison.
        let within = from.wrapping_sub(self.block);
        if within < MASK_BYTES {
            let found = self.masks[set] >> within;
            if found != 0 {
                return Some(from + found.trailing_zeros() as usize);
            }
            self.find_in_others(set, self.block + MASK_BYTES)
        } else {
            self.find_in_others(set, from)
        }
    }

    /// Goes on in the blocks from one on that begins at a place.
    #[inline(never)]
    fn find_in_others(&mut self, set: usize, from: usize) -> Option<usize> {
        let mut block = from;
        while let Some(rest) = self.bytes.get(block..).filter(|rest| !rest.is_empty()) {
            self.block = block;
            self.masks = self.classes.masks(rest);
            if self.masks[set] != 0 {
                return Some(block + self.masks[set].trailing_zeros() as usize);
            }
            block += MASK_BYTES;
        }
        None
    }
}
