//! What is found by a set of bytes.

use super::ByteSet;
use super::forms::{self, Functions, Masks};
use super::tables::Tables;
use crate::{Form, Refused};
use core::array;
use core::mem::MaybeUninit;

/// The bytes that a mask is of.
pub(super) const MASK_BYTES: usize = 64;

/// A set of bytes with its tables, in a form that this CPU has.
///
/// Cost: one look at each byte. It is the same for all sets, but that SSSE3 and AVX2 need two
/// more instructions a block for those whose tables by halves of bytes take more than eight bits.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    tables: Tables,
    form: Form,
    functions: Functions,
    masks: Masks<1>,
}

impl Finder {
    /// Makes a finder of [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new(set: &ByteSet) -> Result<Finder, Refused> {
        Finder::of_form(set, Form::chosen()?)
    }

    /// Makes a finder of this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(set: &ByteSet, form: Form) -> Result<Finder, Refused> {
        if !form.is_here() {
            return Err(Refused::Missing(form));
        }
        let tables = Tables::of(*set);
        let functions = forms::of(form, tables.has_nibbles);
        let masks = forms::masks_of(form, tables.has_nibbles);
        Ok(Finder { tables, form, functions, masks })
    }

    /// Returns the form that runs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the place of the first byte that is in the set.
    pub fn find(&self, bytes: &[u8]) -> Option<usize> {
        // SAFETY: a finder is only made of a form that this CPU has.
        let at = unsafe { (self.functions.find)(&self.tables, bytes) };
        (at < bytes.len()).then_some(at)
    }

    /// Returns how many bytes from the start on are in the set, before the first that is not.
    pub fn span(&self, bytes: &[u8]) -> usize {
        // SAFETY: a finder is only made of a form that this CPU has.
        unsafe { (self.functions.span)(&self.tables, bytes) }
    }

    /// Returns how many bytes are in the set.
    pub fn count(&self, bytes: &[u8]) -> usize {
        // SAFETY: a finder is only made of a form that this CPU has.
        unsafe { (self.functions.count)(&self.tables, bytes) }
    }

    /// Writes all bytes, those of the set escaped, as [`crate::percent`] says.
    pub(crate) fn escape(&self, bytes: &[u8], into: &mut [MaybeUninit<u8>]) -> usize {
        // SAFETY: a finder is only made of a form that this CPU has.
        unsafe { (self.functions.escape)(&self.tables, bytes, into) }
    }

    /// Returns which of 64 bytes are in the set: bit `i` for byte `i`.
    pub fn mask(&self, bytes: &[u8; MASK_BYTES]) -> u64 {
        self.mask_of_first(bytes)
    }

    /// Writes the [mask](Finder::mask) of each 64 bytes; bits beyond the end are 0.
    ///
    /// # Panics
    /// If there is no room for all of them.
    pub fn masks(&self, bytes: &[u8], into: &mut [u64]) {
        forms::check_room(bytes, into.len());
        // SAFETY: a finder is only made of a form that this CPU has.
        unsafe { (self.masks)(array::from_ref(&self.tables), bytes, into.as_chunks_mut().0) }
    }

    /// Returns the mask of the first 64 bytes.
    fn mask_of_first(&self, bytes: &[u8]) -> u64 {
        let mut mask = [0];
        self.masks(&bytes[..bytes.len().min(MASK_BYTES)], &mut mask);
        mask[0]
    }

    /// Returns the pieces of the input between bytes of the set, as `[u8]::split` does: one more
    /// than there are such bytes.
    pub fn split<'of, 'input>(&'of self, bytes: &'input [u8]) -> Pieces<'of, 'input> {
        let mask = self.mask_of_first(bytes);
        Pieces { finder: self, bytes, next: Some(0), block: 0, mask }
    }
}

/// The pieces of an input between the bytes of a set.
#[derive(Clone, Debug)]
pub struct Pieces<'of, 'input> {
    finder: &'of Finder,
    bytes: &'input [u8],
    /// Where the next piece begins; `None` if there is none.
    next: Option<usize>,
    /// Where the block begins of which `mask` has the separators that are left.
    block: usize,
    mask: u64,
}

impl<'input> Iterator for Pieces<'_, 'input> {
    type Item = &'input [u8];

    fn next(&mut self) -> Option<&'input [u8]> {
        let begin = self.next?;
        while self.mask == 0 {
            self.block += MASK_BYTES;
            let Some(rest) = self.bytes.get(self.block..) else {
                self.next = None;
                return Some(&self.bytes[begin..]);
            };
            self.mask = self.finder.mask_of_first(rest);
        }
        let end = self.block + self.mask.trailing_zeros() as usize;
        self.mask &= self.mask - 1;
        self.next = Some(end + 1);
        Some(&self.bytes[begin..end])
    }
}
