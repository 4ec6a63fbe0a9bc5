//! A block in which nothing is to be escaped is copied. Any other goes through steps of five bytes,
//! or twice five: with their digits and the sign they fill a register of 16, and one lookup brings
//! what is to be written to its place. By AVX-512 a step is 21 bytes, which masks bring to theirs.
//! How many of them are escaped, no branch asks.

use crate::block::{Block, first_bits};
use crate::byte_set::{Lookup, SHORT_BLOCKS, Tables, short_blocks};
use core::mem::MaybeUninit;

/// The bytes that go through a register together.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) const FIVE: usize = 5;

/// The bytes that a step may read, and those behind what it writes that it may write, too.
const REGISTER: usize = 16;

/// The most bytes of a block.
const BLOCK_MAX: usize = 64;

/// Where each of 16 bytes comes from, for each set of five that are escaped: bytes 0 to 4 are the
/// bytes themselves, 5 to 9 their first digits, 10 to 14 their second, and 15 is the percent sign.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) static ORDERS: [[u8; REGISTER]; 1 << FIVE] = orders();

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
const fn orders() -> [[u8; REGISTER]; 1 << FIVE] {
    let mut orders = [[0; REGISTER]; 1 << FIVE];
    let mut set = 0;
    while set < 1 << FIVE {
        let (mut byte, mut to) = (0, 0);
        while byte < FIVE {
            if set >> byte & 1 == 1 {
                orders[set][to] = 15;
                orders[set][to + 1] = (FIVE + byte) as u8;
                orders[set][to + 2] = (2 * FIVE + byte) as u8;
                to += 2;
            } else {
                orders[set][to] = byte as u8;
            }
            to += 1;
            byte += 1;
        }
        set += 1;
    }
    orders
}

/// Blocks of bytes that are copied, and of which some are escaped.
///
/// # Safety
/// All functions need the instructions of the form.
pub(crate) trait Steps: Block {
    /// The bytes of a step.
    const STEP: usize;

    /// Writes all bytes.
    unsafe fn store(self, into: *mut u8);

    /// Writes the first bytes of a block that was loaded from here, and no other.
    #[inline(always)]
    unsafe fn store_part(self, from: *const u8, count: usize, into: *mut u8) {
        // SAFETY: the caller's bytes can be read and written.
        unsafe { into.copy_from_nonoverlapping(from, count) }
    }

    /// Writes the bytes of a step, of which so many are left, those whose bit is set as three.
    /// Blocks with masks read and write no other bytes. Of others 16 bytes can be read, and 16
    /// behind what is written can be written, too.
    unsafe fn write(from: *const u8, left: usize, escaped: usize, into: *mut u8);
}

impl Steps for u8 {
    const STEP: usize = 1;

    #[inline(always)]
    unsafe fn store(self, into: *mut u8) {
        // SAFETY: the caller's byte can be written.
        unsafe { *into = self }
    }

    #[inline(always)]
    unsafe fn write(from: *const u8, _left: usize, escaped: usize, into: *mut u8) {
        const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
        // SAFETY: the caller's byte can be read, and three can be written.
        unsafe {
            let byte = *from;
            let (upper, lower) = (usize::from(byte >> 4), usize::from(byte & 15));
            into.cast::<[u8; 3]>().write([b'%', DIGITS[upper], DIGITS[lower]]);
            if escaped == 0 {
                *into = byte;
            }
        }
    }
}

/// Writes a text with the bytes of a set escaped; returns how many bytes that is.
///
/// # Safety
/// As [`Lookup`].
///
/// # Panics
/// If there is no room for them.
#[inline(always)]
pub(crate) unsafe fn write<L>(tables: &Tables, text: &[u8], into: &mut [MaybeUninit<u8>]) -> usize
where
    L: Lookup,
    L::Block: Steps,
{
    let bytes = L::Block::BYTES;
    // As many bytes of a block as are whole steps.
    let stepped = bytes / L::Block::STEP * L::Block::STEP;
    let (from, to, room) = (text.as_ptr(), into.as_mut_ptr().cast::<u8>(), into.len());
    let (mut at, mut written) = (0, 0);
    // SAFETY: the caller has the instructions. What is read lies within the text and what is
    // written within the room, as each branch asks before.
    unsafe {
        let lookup = L::new(tables);
        let is_short = (1..=SHORT_BLOCKS * bytes).contains(&text.len());
        if L::Block::IS_MASKED && is_short && room >= text.len() {
            let has_room = room >= SHORT_BLOCKS * bytes;
            if !copy_short(lookup, text, to, has_room) {
                return text.len();
            }
        }
        while text.len() - at >= bytes {
            let block = L::Block::load(from.add(at));
            let mask = lookup.mask(block);
            if mask == 0 && room - written >= bytes {
                block.store(to.add(written));
                written += bytes;
                at += bytes;
            } else if (L::Block::IS_MASKED || text.len() - at >= bytes + REGISTER)
                && room - written >= 3 * bytes + REGISTER
            {
                written += escape::<L::Block>(from.add(at), mask, stepped, to.add(written));
                at += stepped;
            } else {
                break;
            }
        }
        let left = text.len() - at;
        if at > 0 && (1..bytes).contains(&left) && room - written >= left {
            // The last bytes of a text are a block, too: if none of them is escaped, those that
            // were written before are the same in what is written.
            let block = L::Block::load(from.add(text.len() - bytes));
            if lookup.mask(block) == 0 {
                written += left;
                block.store(to.add(written - bytes));
                return written;
            }
        }
        while at < text.len() {
            let count = bytes.min(text.len() - at);
            written += at_the_end::<L>(lookup, &text[at..at + count], &mut into[written..]);
            at += count;
        }
    }
    written
}

/// Copies a text that is not empty and has at most [`SHORT_BLOCKS`], without a branch for its
/// length; returns whether a byte of it is to be escaped.
///
/// # Safety
/// As [`Lookup`]; blocks have masks, and there is room for the text, or for whole blocks.
#[inline(always)]
unsafe fn copy_short<L>(lookup: L, text: &[u8], into: *mut u8, has_room: bool) -> bool
where
    L: Lookup,
    L::Block: Steps,
{
    let mut found = 0;
    for start in short_blocks(text.len(), L::Block::BYTES) {
        let count = (text.len() - start).min(L::Block::BYTES);
        // SAFETY: the caller has the instructions and the room; the part lies within the text.
        unsafe {
            let from = text.as_ptr().add(start);
            let block = L::Block::load_part(from, count);
            found |= lookup.mask(block) & first_bits(count);
            if has_room {
                block.store(into.add(start));
            } else {
                block.store_part(from, count, into.add(start));
            }
        }
    }
    found != 0
}

/// Writes at most a block, where it has no mask through memory in which there is more room than it
/// needs.
///
/// # Safety
/// As [`Lookup`].
#[inline(always)]
unsafe fn at_the_end<L>(lookup: L, text: &[u8], into: &mut [MaybeUninit<u8>]) -> usize
where
    L: Lookup,
    L::Block: Steps,
{
    // SAFETY: the caller has the instructions, and no byte outside of the text is read.
    let (block, mask) = unsafe {
        let block = if text.len() == L::Block::BYTES {
            L::Block::load(text.as_ptr())
        } else {
            L::Block::load_part(text.as_ptr(), text.len())
        };
        (block, lookup.mask(block) & first_bits(text.len()))
    };
    let written = text.len() + 2 * mask.count_ones() as usize;
    let room = into.len();
    assert!(room >= written, "{written} more bytes need room, and there are {room}");
    let to = into.as_mut_ptr().cast::<u8>();
    // SAFETY: there is room for them, and bytes are bytes.
    unsafe {
        if mask == 0 {
            block.store_part(text.as_ptr(), written, to);
            return written;
        } else if L::Block::IS_MASKED {
            return escape::<L::Block>(text.as_ptr(), mask, text.len(), to);
        }
    }
    let mut copy = [0; BLOCK_MAX + REGISTER];
    copy[..text.len()].copy_from_slice(text);
    // A register behind the longest text, and what the last step may have that the text has not.
    let room_to_spare = 3 * L::Block::BYTES + 2 * REGISTER;
    // SAFETY: a register can be read behind the text, and there is room to spare.
    unsafe {
        if room >= room_to_spare {
            escape::<L::Block>(copy.as_ptr(), mask, text.len(), to);
        } else {
            let mut escaped = [MaybeUninit::<u8>::uninit(); 3 * BLOCK_MAX + 2 * REGISTER];
            escape::<L::Block>(copy.as_ptr(), mask, text.len(), escaped.as_mut_ptr().cast());
            into[..written].copy_from_slice(&escaped[..written]);
        }
    }
    written
}

/// Writes the steps that so many bytes, at most a block, are a part of, those whose bit is set as
/// three; returns how many bytes these have, where blocks have no mask those of whole steps.
///
/// # Safety
/// As [`Steps`]; where blocks have no mask, 16 more bytes can be read, and 16 more than the longest
/// text can be written.
#[inline(always)]
unsafe fn escape<B: Steps>(from: *const u8, mask: u64, count: usize, into: *mut u8) -> usize {
    let (mut at, mut written) = (0, 0);
    while at < count {
        let escaped = (mask >> at) as usize & ((1 << B::STEP) - 1);
        // SAFETY: what the caller promises: a step begins before the end of the bytes.
        unsafe { B::write(from.add(at), count - at, escaped, into.add(written)) };
        let bytes = if B::IS_MASKED { B::STEP.min(count - at) } else { B::STEP };
        at += B::STEP;
        written += bytes + 2 * escaped.count_ones() as usize;
    }
    written
}
