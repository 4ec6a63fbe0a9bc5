//! Validation by lookups, after Keiser and Lemire, with what comes before a byte loaded again
//! instead of shuffled.

use super::mistakes::{FOLLOWS_TWICE, TABLES, Tables};
use crate::block::Block;

/// What validation needs of bytes in a register.
///
/// # Safety
/// As [`Block`].
pub(super) trait Bytes: Block {
    unsafe fn splat(byte: u8) -> Self;

    /// Loads the same 16 bytes into each 16.
    unsafe fn table(bytes: &[u8; 16]) -> Self;

    unsafe fn and(self, other: Self) -> Self;

    unsafe fn or(self, other: Self) -> Self;

    unsafe fn xor(self, other: Self) -> Self;

    /// Returns the larger of each two.
    unsafe fn max(self, other: Self) -> Self;

    /// Subtracts, modulo 256.
    unsafe fn minus(self, other: Self) -> Self;

    /// Subtracts; what would be below 0 is 0.
    unsafe fn minus_to_zero(self, other: Self) -> Self;

    /// Returns the upper half of each byte.
    unsafe fn upper(self) -> Self;

    /// Looks each byte up, which is less than 16, in this table.
    unsafe fn lookup(self, bytes: Self) -> Self;

    /// Returns bytes whose upper bit says whether each goes on with a character: 0x80 to 0xbf.
    unsafe fn follows(self) -> Self;

    /// Moves the bytes on by a few, fewer than four; the first are 0.
    unsafe fn moved<const BY: i32>(self) -> Self;

    /// Returns whether any byte has its upper bit.
    unsafe fn has_upper_bit(self) -> bool;

    unsafe fn is_zero(self) -> bool;
}

/// How many registers are looked at before one asks what they have.
const AT_ONCE: usize = 4;

/// The most bytes of a character.
const MOST: usize = 4;

/// Returns a place before which all bytes are right, as [`super::Check`] does.
///
/// # Safety
/// As [`Block`].
#[inline(always)]
pub(super) unsafe fn check<V: Bytes>(bytes: &[u8]) -> usize {
    let (from, count) = (bytes.as_ptr(), bytes.len());
    // SAFETY: the caller has the instructions, and no load is beyond the slice. Four bytes come
    // before each place that `are_right` gets, three before the second of `are_two_right`.
    unsafe {
        let lookups = Lookups::<V>::new();
        if count < V::BYTES {
            // A zero comes behind the last byte, so a character that is only begun is a mistake.
            let right = count == 0 || lookups.is_begin_right(V::load_part(from, count));
            return if right { count } else { 0 };
        }
        if count <= 2 * V::BYTES && count >= V::BYTES + MOST - 1 {
            let is_right = lookups.are_two_right(from, from.add(count - V::BYTES));
            return if is_right { without_begun(from, count) } else { 0 };
        }
        if !lookups.is_begin_right(V::load(from)) {
            return 0;
        }
        let mut at = V::BYTES;
        while at + AT_ONCE * V::BYTES <= count {
            if !lookups.are_right::<AT_ONCE>(from.add(at)) {
                return at;
            }
            at += AT_ONCE * V::BYTES;
        }
        while at + V::BYTES <= count {
            if !lookups.are_right::<1>(from.add(at)) {
                return at;
            }
            at += V::BYTES;
        }
        if at < count && !lookups.is_end_right(from, at, count) {
            return at;
        }
        without_begun(from, count)
    }
}

/// Returns how many bytes there are; one less, if they begin a character whose end is not there.
///
/// # Safety
/// There are at least four.
#[inline(always)]
unsafe fn without_begun(from: *const u8, count: usize) -> usize {
    // SAFETY: what the caller promises.
    count - usize::from(unsafe { is_begun(from.add(count)) })
}

/// The tables in registers.
///
/// # Safety
/// All functions need the instructions of the form, and bytes that can be read where they load.
#[derive(Clone, Copy)]
struct Lookups<V>(Tables<V>);

// No closures here: one that is not inlined is compiled for any CPU.
impl<V: Bytes> Lookups<V> {
    #[inline(always)]
    unsafe fn new() -> Self {
        let Tables { upper, lower, next_upper } = &TABLES;
        // SAFETY: what the caller promises.
        unsafe {
            Lookups(Tables {
                upper: V::table(upper),
                lower: V::table(lower),
                next_upper: V::table(next_upper),
            })
        }
    }

    /// Returns whether bytes are right that nothing comes before.
    #[inline(always)]
    unsafe fn is_begin_right(self, bytes: V) -> bool {
        // SAFETY: what the caller promises.
        unsafe { !bytes.has_upper_bit() || self.mistakes_of_begin(bytes).is_zero() }
    }

    /// Returns whether bytes are right that nothing comes before, and others before which three can
    /// be read.
    #[inline(always)]
    unsafe fn are_two_right(self, first: *const u8, second: *const u8) -> bool {
        // SAFETY: what the caller promises.
        unsafe {
            let (begin, end) = (V::load(first), V::load(second));
            if !begin.max(end).has_upper_bit() {
                return true;
            }
            let due = third(V::load(second.sub(2))).or(fourth(V::load(second.sub(3))));
            let mistakes = self.mistakes(end, V::load(second.sub(1)), due);
            mistakes.or(self.mistakes_of_begin(begin)).is_zero()
        }
    }

    #[inline(always)]
    unsafe fn mistakes_of_begin(self, bytes: V) -> V {
        // SAFETY: what the caller promises.
        unsafe {
            let due = third(bytes.moved::<2>()).or(fourth(bytes.moved::<3>()));
            self.mistakes(bytes, bytes.moved::<1>(), due)
        }
    }

    /// Returns whether the last bytes are right, fewer than a register has.
    #[inline(always)]
    unsafe fn is_end_right(self, from: *const u8, at: usize, count: usize) -> bool {
        // SAFETY: what the caller promises.
        unsafe {
            if count >= V::BYTES + MOST {
                // With bytes that were looked at before, they fill one.
                return self.are_right::<1>(from.add(count - V::BYTES));
            }
            let (from, left) = (from.add(at), count - at);
            let before = V::load_part(from.sub(1), left);
            let due = third(V::load_part(from.sub(2), left));
            let due = due.or(fourth(V::load_part(from.sub(3), left)));
            self.mistakes(V::load_part(from, left), before, due).is_zero()
        }
    }

    /// Returns whether as many registers of bytes are right. Four bytes before them can be read.
    ///
    /// Of characters of two bytes less can be wrong than of three, and of those less than of four.
    #[inline(always)]
    unsafe fn are_right<const N: usize>(self, from: *const u8) -> bool {
        // SAFETY: what the caller promises.
        unsafe {
            let mut largest = V::load(from);
            for at in 1..N {
                largest = largest.max(V::load(from.add(at * V::BYTES)));
            }
            if !largest.has_upper_bit() {
                return !is_begun(from);
            }
            // The first byte of a character that is begun before them counts.
            largest = largest.max(V::load(from.sub(MOST - 1)));
            let mut mistakes = V::splat(0);
            if !third(largest).has_upper_bit() {
                for at in 0..N {
                    let from = from.add(at * V::BYTES);
                    mistakes = mistakes.or(mistakes_of_two(V::load(from), V::load(from.sub(1))));
                }
                return !mistakes.has_upper_bit();
            }
            let has_fourth = fourth(largest).has_upper_bit();
            for at in 0..N {
                let from = from.add(at * V::BYTES);
                let mut due = third(V::load(from.sub(2)));
                if has_fourth {
                    due = due.or(fourth(V::load(from.sub(3))));
                }
                mistakes = mistakes.or(self.mistakes(V::load(from), V::load(from.sub(1)), due));
            }
            mistakes.is_zero()
        }
    }

    /// Returns what is wrong with each byte, given the one before it, and as the upper bit whether
    /// the third or fourth of a character is due.
    #[inline(always)]
    unsafe fn mistakes(self, bytes: V, before: V, due: V) -> V {
        // SAFETY: what the caller promises.
        unsafe {
            let Tables { upper, lower, next_upper } = self.0;
            let pair = upper
                .lookup(before.upper())
                .and(lower.lookup(before.and(V::splat(15))))
                .and(next_upper.lookup(bytes.upper()));
            // Those follow one that follows.
            due.and(V::splat(FOLLOWS_TWICE)).xor(pair)
        }
    }
}

/// Returns bytes whose upper bit says whether the third byte of a character is due, two places
/// after each.
///
/// # Safety
/// As [`Block`].
#[inline(always)]
unsafe fn third<V: Bytes>(bytes: V) -> V {
    // SAFETY: what the caller promises.
    unsafe { bytes.minus_to_zero(V::splat(0xe0 - 0x80)) }
}

/// Returns the same of the fourth byte, three places after each.
///
/// # Safety
/// As [`Block`].
#[inline(always)]
unsafe fn fourth<V: Bytes>(bytes: V) -> V {
    // SAFETY: what the caller promises.
    unsafe { bytes.minus_to_zero(V::splat(0xf0 - 0x80)) }
}

/// Returns bytes whose upper bit says whether each is wrong, given those one place before, where no
/// character has more than two bytes.
///
/// # Safety
/// As [`Block`].
#[inline(always)]
unsafe fn mistakes_of_two<V: Bytes>(bytes: V, before: V) -> V {
    // SAFETY: what the caller promises.
    unsafe {
        let second = before.minus_to_zero(V::splat(0xc0 - 0x80)).xor(bytes.follows());
        // Two bytes for what has room in one: c0 and c1 become fe and ff. The one before is asked,
        // as it may be in bytes that were looked up.
        let long = before.minus(V::splat(0xc2)).minus_to_zero(V::splat(0xfe - 0x80));
        second.or(long)
    }
}

/// Returns whether the three bytes before a place begin a character whose end is not there.
///
/// # Safety
/// Four bytes before it can be read.
#[inline(always)]
unsafe fn is_begun(to: *const u8) -> bool {
    // SAFETY: what the caller promises.
    let last = u32::from_le(unsafe { to.sub(4).cast::<u32>().read_unaligned() });
    last & 0x8080_8000 != 0 && {
        let [_, third, second, first] = last.to_le_bytes();
        first >= 0xc0 || second >= 0xe0 || third >= 0xf0
    }
}

/// Makes the [`super::Check`] of a kind of bytes: it is compiled anew with these features.
macro_rules! compiled {
    ($(#[$feature:meta])? $bytes:ty) => {
        $(#[$feature])?
        pub(super) unsafe fn check(bytes: &[u8]) -> usize {
            // SAFETY: the caller has the instructions.
            unsafe { super::lookup::check::<$bytes>(bytes) }
        }
    };
}
pub(super) use compiled;

/// Makes the functions of [`Bytes`] that are one instruction in every form.
macro_rules! instructions {
    ($($name:ident = $instruction:ident),*) => {
        $(
            #[inline(always)]
            unsafe fn $name(self, other: Self) -> Self {
                // SAFETY: the caller has the instructions.
                unsafe { $instruction(self, other) }
            }
        )*
    };
}
pub(super) use instructions;
