//! Which name of a list a text is, whatever its case.
//!
//! ```
//! use tiebreak_simd::names::{self, HTTP, Names};
//!
//! static METHODS: Names<3, { names::slots(3) }> = Names::new(["GET", "PUT", "DELETE"]);
//!
//! assert_eq!(METHODS.find(b"put"), Some(1));
//! assert_eq!(METHODS.find(b"POST"), None);
//! assert_eq!(HTTP.find(b"content-length").map(|id| HTTP.name(id)), Some("Content-Length"));
//! ```

mod hash;
mod http;
mod row;

pub use http::HTTP;

use hash::Hash;
use row::Row;

/// The most bytes of a name.
pub const MOST: usize = 64;

/// The most names of a list.
pub const MOST_NAMES: usize = 255;

/// A slot that has no name.
const EMPTY: u8 = u8::MAX;

/// A list of names that is known when the program is built. The id of a name is its place in it.
///
/// `SLOTS` is that of [`slots`], or any larger power of two: with more, building is faster.
#[derive(Debug)]
pub struct Names<const COUNT: usize, const SLOTS: usize> {
    hash: Hash,
    ids: [u8; SLOTS],
    rows: [Row; COUNT],
    names: [&'static str; COUNT],
}

/// Returns how many slots a list of so many names needs.
pub const fn slots(count: usize) -> usize {
    // At least one random number in some hundreds then gives each name a slot of its own.
    let least = count.saturating_mul(count) / 12;
    if least < 32 { 32 } else { least.next_power_of_two() }
}

impl<const COUNT: usize, const SLOTS: usize> Names<COUNT, SLOTS> {
    /// Makes the list. In a constant this is done by the compiler.
    ///
    /// # Panics
    /// If there are more than [`MOST_NAMES`], or a name has none or more than [`MOST`] bytes; if
    /// two are the same, whatever their case; if no seven bytes, at eighths of the length or its
    /// end and without the bit of case, tell all names of a length apart; if there are too few
    /// slots.
    pub const fn new(names: [&'static str; COUNT]) -> Self {
        assert!(COUNT <= MOST_NAMES, "there are more than 255 names");
        assert!(SLOTS.is_power_of_two() && SLOTS >= 2, "the slots are no power of two");
        let mut rows = [Row::NONE; COUNT];
        let mut at = 0;
        while at < COUNT {
            assert!(!names[at].is_empty(), "a name is empty");
            assert!(names[at].len() <= MOST, "a name has more than 64 bytes");
            rows[at] = Row::of(names[at].as_bytes());
            at += 1;
        }
        let (hash, ids) = Hash::new(&names);
        Names { hash, ids, rows, names }
    }

    /// Returns the id of a name, or `None` if it is none of the list. Letters of ASCII are the same
    /// in both cases, and no other bytes are.
    ///
    /// Cost: a product and two loads that wait for each other; branches for names of less than
    /// eight and less than four bytes, and of more than 32.
    #[inline]
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let id = self.candidate(name, name.len())?;
        self.rows[id].is(name).then_some(id)
    }

    /// Returns the id of the name that is the first `length` of these bytes; the others may be
    /// anything.
    ///
    /// Cost: as [`Names::find`], with one branch: for names of more than 32 bytes.
    #[inline]
    pub fn find_padded(&self, text: &[u8; MOST], length: usize) -> Option<usize> {
        let id = self.candidate(text, length)?;
        self.rows[id].is_first(text, length).then_some(id)
    }

    /// Returns the name of an id, as the list has it.
    ///
    /// # Panics
    /// If there are not so many.
    pub const fn name(&self, id: usize) -> &'static str {
        self.names[id]
    }

    /// Returns the only name that these first bytes can be.
    #[inline(always)]
    fn candidate(&self, text: &[u8], length: usize) -> Option<usize> {
        if length == 0 || length > MOST {
            return None;
        }
        let id = self.ids[self.hash.slot(text, length)];
        (usize::from(id) < COUNT).then_some(usize::from(id))
    }
}
