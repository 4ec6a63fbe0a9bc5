//! Sets of bytes, and what is found by them.
//!
//! [`ByteSet`] is any of the 2^256 sets, and can be a constant. [`Finder`] is a set with its tables
//! and a [`Form`](crate::Form), [`Classes`] several that are looked up together.
//!
//! ```
//! use tiebreak_simd::byte_set::{ByteSet, Finder};
//!
//! const TOKEN: ByteSet = ByteSet::of(b"!#$%&'*+-.^_`|~")
//!     .with(ByteSet::range(b'0', b'9'))
//!     .with(ByteSet::range(b'A', b'Z'))
//!     .with(ByteSet::range(b'a', b'z'));
//!
//! let token = Finder::new(&TOKEN)?;
//! assert_eq!(token.span(b"content-length: 7"), 14);
//! assert_eq!(token.find(b"  x"), Some(2));
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

mod classes;
mod finder;
mod forms;
mod tables;

pub use classes::{Classes, Cursor};
pub use finder::{Finder, Pieces};

pub(crate) use forms::{Lookup, SHORT_BLOCKS, short_blocks};
pub(crate) use tables::Tables;

/// A set of bytes.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct ByteSet {
    /// Bit `b % 8` of element `b / 8` is set if the byte `b` is in the set.
    bits: [u8; 32],
}

impl ByteSet {
    /// The set of no byte.
    pub const EMPTY: ByteSet = ByteSet { bits: [0; 32] };

    /// Returns the set of these bytes; one that comes twice counts once.
    pub const fn of(bytes: &[u8]) -> ByteSet {
        let mut set = ByteSet::EMPTY;
        let mut at = 0;
        while at < bytes.len() {
            set.bits[bytes[at] as usize / 8] |= 1 << (bytes[at] % 8);
            at += 1;
        }
        set
    }

    /// Returns the set of the bytes from the first to the last, both included.
    ///
    /// # Panics
    /// If the first is above the last.
    pub const fn range(first: u8, last: u8) -> ByteSet {
        assert!(first <= last, "a range of bytes runs from the smaller to the larger");
        let mut set = ByteSet::EMPTY;
        let mut byte = first as usize;
        while byte <= last as usize {
            set.bits[byte / 8] |= 1 << (byte % 8);
            byte += 1;
        }
        set
    }

    /// Returns the bytes that are in this set, in the other, or in both.
    pub const fn with(mut self, other: ByteSet) -> ByteSet {
        let mut at = 0;
        while at < 32 {
            self.bits[at] |= other.bits[at];
            at += 1;
        }
        self
    }

    /// Returns the bytes that are in this set and not in the other.
    pub const fn without(self, other: ByteSet) -> ByteSet {
        self.others().with(other).others()
    }

    /// Returns the bytes that are not in this set.
    pub const fn others(mut self) -> ByteSet {
        let mut at = 0;
        while at < 32 {
            self.bits[at] = !self.bits[at];
            at += 1;
        }
        self
    }

    /// Returns whether a byte is in the set.
    pub const fn has(&self, byte: u8) -> bool {
        self.bits[byte as usize / 8] >> (byte % 8) & 1 == 1
    }

    /// Returns how many bytes are in the set.
    pub const fn len(&self) -> usize {
        let (mut count, mut at) = (0, 0);
        while at < 32 {
            count += self.bits[at].count_ones() as usize;
            at += 1;
        }
        count
    }

    /// Returns whether no byte is in the set.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of the set in order.
    pub fn bytes(&self) -> impl Iterator<Item = u8> + '_ {
        (0..=255).filter(move |byte| self.has(*byte))
    }
}

impl core::fmt::Debug for ByteSet {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("{")?;
        for (at, byte) in self.bytes().enumerate() {
            let comma = if at == 0 { "" } else { ", " };
            write!(f, "{comma}{}", core::ascii::escape_default(byte))?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_are_made_of_bytes_and_of_sets() {
        const DIGITS: ByteSet = ByteSet::range(b'0', b'9');
        assert_eq!(DIGITS.bytes().collect::<Vec<u8>>(), b"0123456789");
        assert_eq!(DIGITS, ByteSet::of(b"01234567899"));
        assert_eq!((DIGITS.len(), DIGITS.others().len()), (10, 246));
        let even = ByteSet::of(b"02468");
        assert_eq!(DIGITS.without(even).bytes().collect::<Vec<u8>>(), b"13579");
        assert_eq!(DIGITS.without(even).with(even), DIGITS);
        assert_eq!(ByteSet::range(0, 255), ByteSet::EMPTY.others());
        assert!(ByteSet::EMPTY.is_empty() && !ByteSet::of(&[0]).is_empty());
        assert_eq!(format!("{:?}", ByteSet::of(b"\0a")), "{\\x00, a}");
    }

    #[test]
    #[should_panic(expected = "from the smaller to the larger")]
    fn a_range_does_not_run_backwards() {
        ByteSet::range(b'z', b'a');
    }
}
