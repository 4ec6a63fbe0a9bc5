//! One number, by a perfect hash of the 366 texts that are numbers: "7", "07" and "007" are three.
//!
//! A text is one to three bytes in a word, and its key has the length above them. The slot of these
//! bytes has the key of the one text of that slot, less its value: so what is left of a key is the
//! value, if it is below 256. The length is in the key and not in the hash: without it "1\0" would
//! pass for "1". A text that is no number, and shares the slot of one from whose key it differs by
//! less than 256, would pass for a number: [`is_sound`] looks at all of them as this is compiled.

/// Puts the 366 texts into 512 slots, each into one of its own: of random numbers the first that
/// does, after 71 million.
const MULTIPLIER: u32 = 0x8300_88b3;
const SLOT_BITS: u32 = 9;
/// Where a key has the length.
const LENGTH_SHIFT: u32 = 24;
/// An empty slot: no key is as large.
const EMPTY: u64 = 1 << 63;

/// The numbers of each length.
const NUMBERS: [u32; 4] = [0, 10, 100, 256];

static SLOTS: [u64; 1 << SLOT_BITS] = slots();

const _: () = assert!(is_sound(&slots()));

/// Returns the first bytes of a word, of which there are at most four.
#[inline]
pub(super) fn first(word: u32, length: usize) -> u32 {
    (u64::from(word) & ((1 << (8 * length)) - 1)) as u32
}

/// Reads a number of this length, at most four, whose bytes alone are in the word.
#[inline]
pub(super) fn parse(bytes: u32, length: usize) -> Option<u8> {
    let key = u64::from(bytes) | (length as u64) << LENGTH_SHIFT;
    let value = key.wrapping_sub(SLOTS[slot_of(bytes)]);
    if value < 256 { Some(value as u8) } else { None }
}

const fn slot_of(bytes: u32) -> usize {
    (bytes.wrapping_mul(MULTIPLIER) >> (u32::BITS - SLOT_BITS)) as usize
}

/// Returns the text of a number in a word.
const fn bytes_of(mut number: u32, length: u32) -> u32 {
    let (mut bytes, mut at) = (0, length);
    while at > 0 {
        at -= 1;
        bytes |= (b'0' as u32 + number % 10) << (8 * at);
        number /= 10;
    }
    bytes
}

/// Returns the key of a text, less its value.
const fn base_of(number: u32, length: u32) -> u64 {
    (bytes_of(number, length) as u64 | (length as u64) << LENGTH_SHIFT) - number as u64
}

const fn slots() -> [u64; 1 << SLOT_BITS] {
    let mut slots = [EMPTY; 1 << SLOT_BITS];
    let mut length = 1;
    while length <= 3 {
        let mut number = 0;
        while number < NUMBERS[length as usize] {
            slots[slot_of(bytes_of(number, length))] = base_of(number, length);
            number += 1;
        }
        length += 1;
    }
    slots
}

/// Returns whether each text finds its value, and none of those near to it finds any.
const fn is_sound(slots: &[u64; 1 << SLOT_BITS]) -> bool {
    let mut length = 1;
    while length <= 3 {
        let mut number = 0;
        while number < NUMBERS[length as usize] {
            let bytes = bytes_of(number, length);
            let slot = slot_of(bytes);
            if slots[slot] != base_of(number, length) {
                return false;
            }
            let mut other = bytes - number;
            while other < bytes - number + 256 {
                if other != bytes && slot_of(other) == slot {
                    return false;
                }
                other += 1;
            }
            number += 1;
        }
        length += 1;
    }
    true
}
