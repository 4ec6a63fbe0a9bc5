//! A perfect hash: each name of a list has a slot of its own.
//!
//! A name is told from the others by its length and up to seven of its bytes, at places that are
//! eighths of the length. Which places, and the factor that spreads what they have over the slots,
//! are found by trial when the program is compiled.

use super::EMPTY;

/// The bytes that are looked at.
const PLACES: usize = 7;

/// The last byte of a name; smaller numbers are eighths of its length.
const LAST: u8 = 8;

/// No byte, behind those that are looked at.
const NO_PLACE: u8 = 9;

/// How many factors are tried.
const TRIALS: usize = 10_000;

#[derive(Debug)]
pub(super) struct Hash {
    places: [u8; PLACES],
    factor: u64,
    shift: u32,
}

impl Hash {
    /// Finds one; returns it with the id of each slot.
    pub(super) const fn new<const COUNT: usize, const SLOTS: usize>(
        names: &[&str; COUNT],
    ) -> (Hash, [u8; SLOTS]) {
        let (places, keys) = places(names);
        let mut hash = Hash { places, factor: 1, shift: u64::BITS - SLOTS.trailing_zeros() };
        let mut ids = [EMPTY; SLOTS];
        let mut trial = 0;
        while trial < TRIALS {
            // Knuth's generator of MMIX.
            hash.factor = hash.factor.wrapping_mul(6_364_136_223_846_793_005);
            hash.factor = hash.factor.wrapping_add(1_442_695_040_888_963_407);
            let placed = hash.place(&keys, &mut ids);
            if placed == COUNT {
                return (hash, ids);
            }
            hash.clear(&keys, placed, &mut ids);
            trial += 1;
        }
        panic!("there are too few slots")
    }

    /// Returns the slot of a name, which is the first bytes of a text.
    #[inline(always)]
    pub(super) const fn slot(&self, text: &[u8], length: usize) -> usize {
        self.slot_of(key(self.places, text, length))
    }

    #[inline(always)]
    const fn slot_of(&self, key: u64) -> usize {
        (key.wrapping_mul(self.factor) >> self.shift) as usize
    }

    /// Puts each name into its slot, until one is taken; returns how many have one.
    const fn place(&self, keys: &[u64], ids: &mut [u8]) -> usize {
        let mut at = 0;
        while at < keys.len() {
            let slot = self.slot_of(keys[at]);
            if ids[slot] != EMPTY {
                break;
            }
            ids[slot] = at as u8;
            at += 1;
        }
        at
    }

    /// Takes the first names out of their slots.
    const fn clear(&self, keys: &[u64], placed: usize, ids: &mut [u8]) {
        let mut at = 0;
        while at < placed {
            ids[self.slot_of(keys[at])] = EMPTY;
            at += 1;
        }
    }
}

/// Returns what of a name is hashed: its length above some of its bytes. A letter has the same bits
/// in both cases; so may other bytes, which a comparison then tells apart.
#[inline(always)]
const fn key(places: [u8; PLACES], text: &[u8], length: usize) -> u64 {
    let (mut bytes, mut at) = (0, 0);
    while at < PLACES {
        let place = match places[at] {
            NO_PLACE => break,
            LAST => length - 1,
            eighths => length * eighths as usize / 8,
        };
        bytes |= (text[place] as u64) << (8 * at);
        at += 1;
    }
    bytes | 0x20_2020_2020_2020 | (length as u64) << (8 * PLACES)
}

/// Returns the fewest places that give each name another key, and these keys.
const fn places<const COUNT: usize>(names: &[&str; COUNT]) -> ([u8; PLACES], [u64; COUNT]) {
    let mut count = 1;
    while count <= PLACES as u32 {
        let mut set = 1_u32;
        while set < 1 << (LAST + 1) {
            if set.count_ones() == count {
                let places = places_of(set);
                let (keys, differ) = keys(places, names);
                if differ {
                    return (places, keys);
                }
            }
            set += 1;
        }
        count += 1;
    }
    // Only asked here: most lists have no such names, and compile sooner.
    assert!(!has_one_twice(names), "two names are the same, whatever their case");
    panic!("no seven places and the length tell all names apart")
}

const fn has_one_twice(names: &[&str]) -> bool {
    let mut at = 0;
    while at < names.len() {
        let mut other = 0;
        while other < at {
            if names[at].eq_ignore_ascii_case(names[other]) {
                return true;
            }
            other += 1;
        }
        at += 1;
    }
    false
}

/// Returns the places of a set of bits.
const fn places_of(set: u32) -> [u8; PLACES] {
    let mut places = [NO_PLACE; PLACES];
    let (mut left, mut at) = (set, 0);
    while left != 0 {
        places[at] = left.trailing_zeros() as u8;
        left &= left - 1;
        at += 1;
    }
    places
}

/// Returns the keys of names, and whether no two are the same.
const fn keys<const COUNT: usize>(
    places: [u8; PLACES],
    names: &[&str; COUNT],
) -> ([u64; COUNT], bool) {
    let mut keys = [0; COUNT];
    let mut at = 0;
    while at < COUNT {
        keys[at] = key(places, names[at].as_bytes(), names[at].len());
        let mut other = 0;
        while other < at {
            if keys[other] == keys[at] {
                return (keys, false);
            }
            other += 1;
        }
        at += 1;
    }
    (keys, true)
}
