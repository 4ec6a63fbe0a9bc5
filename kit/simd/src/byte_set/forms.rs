//! The search itself, over blocks of as many bytes as a form looks up at once.

mod scalar;

#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod x86;

use super::tables::Tables;
use crate::Form;
use crate::block::{Block, first_bits};
use core::mem::MaybeUninit;

/// What a form does with tables and bytes.
///
/// # Safety
/// The CPU must have the instructions of the form.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Functions {
    /// The place of the first byte of the set; the length if there is none.
    pub find: unsafe fn(&Tables, &[u8]) -> usize,
    /// The place of the first byte that is not in the set; the length if there is none.
    pub span: unsafe fn(&Tables, &[u8]) -> usize,
    pub count: unsafe fn(&Tables, &[u8]) -> usize,
    /// Writes all bytes, those of the set escaped; returns how many bytes that is.
    pub escape: unsafe fn(&Tables, &[u8], &mut [MaybeUninit<u8>]) -> usize,
}

/// Writes the masks of each 64 bytes in several sets, as long as there is room.
///
/// # Safety
/// The CPU must have the instructions of the form.
pub(crate) type Masks<const N: usize> = unsafe fn(&[Tables; N], &[u8], &mut [[u64; N]]);

/// Panics if there is no room for the masks of all bytes.
#[track_caller]
pub(crate) fn check_room(bytes: &[u8], room: usize) {
    let needed = bytes.len().div_ceil(64);
    assert!(room >= needed, "{needed} masks need room, and there are {room}");
}

/// Takes an item of the module of a form, for tables that have those by halves or not.
macro_rules! of_form {
    ($form:expr, $has_nibbles:expr, $($item:tt)+) => {
        match ($form, $has_nibbles) {
            #[cfg(target_arch = "x86_64")]
            (Form::Ssse3, true) => x86::ssse3_nibbles::$($item)+,
            #[cfg(target_arch = "x86_64")]
            (Form::Ssse3, false) => x86::ssse3_columns::$($item)+,
            #[cfg(target_arch = "x86_64")]
            (Form::Avx2, true) => x86::avx2_nibbles::$($item)+,
            #[cfg(target_arch = "x86_64")]
            (Form::Avx2, false) => x86::avx2_columns::$($item)+,
            #[cfg(target_arch = "x86_64")]
            (Form::Avx512, _) => x86::avx512_bitmap::$($item)+,
            #[cfg(target_arch = "aarch64")]
            (Form::Neon, _) => neon::neon_bitmap::$($item)+,
            _ => scalar::scalar_bits::$($item)+,
        }
    };
}

/// Returns the functions of a form.
pub(crate) fn of(form: Form, has_nibbles: bool) -> Functions {
    of_form!(form, has_nibbles, FUNCTIONS)
}

/// Returns the function of a form for so many sets.
pub(crate) fn masks_of<const N: usize>(form: Form, has_nibbles: bool) -> Masks<N> {
    of_form!(form, has_nibbles, masks::<N>)
}

/// The tables of a set in registers, and how a block of bytes is looked up in them.
///
/// # Safety
/// All functions need the instructions of the form.
pub(crate) trait Lookup: Copy {
    /// What is looked up at once.
    type Block: Block;

    /// Loads the tables.
    unsafe fn new(tables: &Tables) -> Self;

    /// Returns which bytes of a block are in the set: bit `i` for byte `i`, and 0 above.
    unsafe fn mask(self, bytes: Self::Block) -> u64;
}

/// Returns the mask of the block at a place.
///
/// # Safety
/// As [`Block`].
#[inline(always)]
unsafe fn whole<L: Lookup>(lookup: L, from: *const u8) -> u64 {
    // SAFETY: what the caller promises.
    unsafe { lookup.mask(L::Block::load(from)) }
}

/// Returns the mask of the last bytes of these, which are fewer than a block; 0 if there are none.
/// Where there is a whole block, they are its end: how many they are then costs no branch.
///
/// # Safety
/// As [`Lookup`].
#[inline(always)]
unsafe fn last<L: Lookup>(lookup: L, bytes: &[u8], count: usize) -> u64 {
    let from = bytes.as_ptr();
    // SAFETY: the caller has the instructions; what is loaded lies within the slice.
    unsafe {
        if count == 0 {
            0
        } else if bytes.len() >= L::Block::BYTES {
            whole(lookup, from.add(bytes.len() - L::Block::BYTES)) >> (L::Block::BYTES - count)
        } else {
            lookup.mask(L::Block::load_part(from, count)) & first_bits(count)
        }
    }
}

/// Returns the place of the first byte whose bit is set in the mask after it was flipped.
///
/// # Safety
/// As [`Lookup`].
#[inline(always)]
pub(crate) unsafe fn find<L: Lookup>(tables: &Tables, bytes: &[u8], flip: bool) -> usize {
    let flipped = if flip { first_bits(L::Block::BYTES) } else { 0 };
    // SAFETY: the caller has the instructions; each block and the part lie within the slice.
    unsafe {
        let lookup = L::new(tables);
        if L::Block::IS_MASKED && (1..=SHORT_BLOCKS * L::Block::BYTES).contains(&bytes.len()) {
            return find_short(lookup, bytes, flipped);
        }
        let mut at = 0;
        while at + L::Block::BYTES <= bytes.len() {
            let found = whole(lookup, bytes.as_ptr().add(at)) ^ flipped;
            if found != 0 {
                return at + found.trailing_zeros() as usize;
            }
            at += L::Block::BYTES;
        }
        let left = bytes.len() - at;
        let found = (last(lookup, bytes, left) ^ flipped) & first_bits(left);
        if found != 0 { at + found.trailing_zeros() as usize } else { bytes.len() }
    }
}

/// The blocks of a text whose length costs no branch, where blocks have masks: how many times a
/// loop of one to three turns goes round is what a CPU guesses wrong.
pub(crate) const SHORT_BLOCKS: usize = 3;

/// Returns where the blocks of a text of at most [`SHORT_BLOCKS`] begin. In a shorter one the last
/// comes again: none lies outside, under an empty mask, which may cost hundreds of cycles.
#[inline(always)]
pub(crate) const fn short_blocks(length: usize, block_bytes: usize) -> [usize; SHORT_BLOCKS] {
    let last = (length - 1) / block_bytes * block_bytes;
    [0, if last < block_bytes { last } else { block_bytes }, last]
}

/// Returns what [`find`] does, of a text that is not empty and has at most [`SHORT_BLOCKS`].
///
/// # Safety
/// As [`Lookup`]; blocks have masks.
#[inline(always)]
unsafe fn find_short<L: Lookup>(lookup: L, bytes: &[u8], flipped: u64) -> usize {
    let starts = short_blocks(bytes.len(), L::Block::BYTES);
    let mut found = [0; SHORT_BLOCKS];
    for (found, start) in found.iter_mut().zip(starts) {
        let count = (bytes.len() - start).min(L::Block::BYTES);
        // SAFETY: the caller has the instructions; the part lies within the slice.
        let mask = unsafe { lookup.mask(L::Block::load_part(bytes.as_ptr().add(start), count)) };
        *found = (mask ^ flipped) & first_bits(count);
    }
    if (found[0] | found[1] | found[2]) == 0 {
        return bytes.len();
    }
    let first = found.iter().position(|found| *found != 0).unwrap_or(0);
    starts[first] + found[first].trailing_zeros() as usize
}

/// Returns how many bytes are in the set.
///
/// # Safety
/// As [`Lookup`].
#[inline(always)]
pub(crate) unsafe fn count<L: Lookup>(tables: &Tables, bytes: &[u8]) -> usize {
    // SAFETY: the caller has the instructions; each block and the part lie within the slice.
    unsafe {
        let lookup = L::new(tables);
        let (mut at, mut found) = (0, 0);
        while at + L::Block::BYTES <= bytes.len() {
            found += whole(lookup, bytes.as_ptr().add(at)).count_ones() as usize;
            at += L::Block::BYTES;
        }
        found + last(lookup, bytes, bytes.len() - at).count_ones() as usize
    }
}

/// Writes the masks of each 64 bytes in each of the sets, as long as there is room: a block is
/// loaded once for all. Of bytes beyond the end they have 0.
///
/// # Safety
/// As [`Lookup`].
#[inline(always)]
pub(crate) unsafe fn masks<L: Lookup, const N: usize>(
    tables: &[Tables; N],
    bytes: &[u8],
    into: &mut [[u64; N]],
) {
    // SAFETY: the caller has the instructions; each block and the part lie within the chunk.
    unsafe {
        let lookups: [L; N] = core::array::from_fn(|set| L::new(&tables[set]));
        for (chunk, masks) in bytes.chunks(64).zip(into) {
            let mut at = 0;
            *masks = [0; N];
            while at + L::Block::BYTES <= chunk.len() {
                let block = L::Block::load(chunk.as_ptr().add(at));
                for (mask, lookup) in masks.iter_mut().zip(lookups) {
                    *mask |= lookup.mask(block) << at;
                }
                at += L::Block::BYTES;
            }
            let left = chunk.len() - at;
            if left > 0 {
                let block = L::Block::load_part(chunk.as_ptr().add(at), left);
                for (mask, lookup) in masks.iter_mut().zip(lookups) {
                    *mask |= (lookup.mask(block) & first_bits(left)) << at;
                }
            }
        }
    }
}

/// Makes a module of what a lookup does: the search is compiled anew with these features.
macro_rules! compiled {
    ($name:ident, $lookup:ty $(, #[$feature:meta])?) => {
        pub(crate) mod $name {
            use super::*;
            use crate::byte_set::forms::{self, Functions};
            use crate::byte_set::tables::Tables;
            use crate::percent;
            use core::mem::MaybeUninit;

            pub(crate) const FUNCTIONS: Functions = Functions { find, span, count, escape };

            $(#[$feature])?
            unsafe fn find(tables: &Tables, bytes: &[u8]) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { forms::find::<$lookup>(tables, bytes, false) }
            }

            $(#[$feature])?
            unsafe fn span(tables: &Tables, bytes: &[u8]) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { forms::find::<$lookup>(tables, bytes, true) }
            }

            $(#[$feature])?
            unsafe fn count(tables: &Tables, bytes: &[u8]) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { forms::count::<$lookup>(tables, bytes) }
            }

            $(#[$feature])?
            unsafe fn escape(
                tables: &Tables,
                bytes: &[u8],
                into: &mut [MaybeUninit<u8>],
            ) -> usize {
                // SAFETY: the caller has the instructions.
                unsafe { percent::write::<$lookup>(tables, bytes, into) }
            }

            $(#[$feature])?
            pub(crate) unsafe fn masks<const N: usize>(
                tables: &[Tables; N],
                bytes: &[u8],
                into: &mut [[u64; N]],
            ) {
                // SAFETY: the caller has the instructions.
                unsafe { forms::masks::<$lookup, N>(tables, bytes, into) }
            }
        }
    };
}
pub(crate) use compiled;
