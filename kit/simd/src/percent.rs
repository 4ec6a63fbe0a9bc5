//! Bytes of a set as a percent sign and two hexadecimal digits (RFC 3986 section 2.1).
//!
//! ```
//! use tiebreak_simd::percent::{Escape, UNRESERVED};
//!
//! let escape = Escape::new(&UNRESERVED.others())?;
//! let text = b"a b/c";
//! // A text without any of the bytes is its own escaped form: nothing need be written.
//! assert_eq!(escape.find(text), Some(1));
//!
//! let mut escaped = [0; Escape::room(5)];
//! let bytes = escape.write(text, &mut escaped);
//! assert_eq!(&escaped[..bytes], b"a%20b%2Fc");
//! assert_eq!(escape.len(text), bytes);
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

#[cfg(target_arch = "aarch64")]
mod neon;
mod steps;
#[cfg(target_arch = "x86_64")]
mod x86;

pub(crate) use steps::write;

use crate::byte_set::{ByteSet, Finder};
use crate::{Form, Refused};
use core::mem::MaybeUninit;
use core::slice;

/// The bytes that need never be escaped (RFC 3986 section 2.3).
pub const UNRESERVED: ByteSet = ByteSet::of(b"-._~")
    .with(ByteSet::range(b'0', b'9'))
    .with(ByteSet::range(b'A', b'Z'))
    .with(ByteSet::range(b'a', b'z'));

/// Escapes the bytes of a set, in a form that this CPU has.
///
/// Cost: one look at each byte, and a step for each five or ten bytes of a block in which one is
/// escaped, however many of them are.
#[derive(Clone, Copy, Debug)]
pub struct Escape {
    finder: Finder,
}

impl Escape {
    /// Escapes these bytes, in [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new(set: &ByteSet) -> Result<Escape, Refused> {
        Escape::of_form(set, Form::chosen()?)
    }

    /// Escapes these bytes, in this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(set: &ByteSet, form: Form) -> Result<Escape, Refused> {
        Finder::of_form(set, form).map(|finder| Escape { finder })
    }

    /// Returns the form that runs.
    pub fn form(&self) -> Form {
        self.finder.form()
    }

    /// Returns the place of the first byte that is escaped; `None` if the text stays as it is.
    pub fn find(&self, text: &[u8]) -> Option<usize> {
        self.finder.find(text)
    }

    /// Returns how many bytes a text has when it is escaped.
    pub fn len(&self, text: &[u8]) -> usize {
        text.len() + 2 * self.finder.count(text)
    }

    /// Returns the bytes that are enough for any text of so many.
    pub const fn room(bytes: usize) -> usize {
        bytes.saturating_mul(3)
    }

    /// Writes a text, escaped; returns how many bytes that is. Bytes behind them may be written,
    /// too.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn write(&self, text: &[u8], into: &mut [u8]) -> usize {
        let (from, room) = (into.as_mut_ptr().cast::<MaybeUninit<u8>>(), into.len());
        // SAFETY: they are the same bytes, and nothing but bytes is written to them.
        self.write_uninit(text, unsafe { slice::from_raw_parts_mut(from, room) })
    }

    /// Does the same with memory that has no value yet, such as the spare capacity of a vector. As
    /// many bytes as are returned have one then.
    ///
    /// # Panics
    /// If there is no room for them.
    pub fn write_uninit(&self, text: &[u8], into: &mut [MaybeUninit<u8>]) -> usize {
        self.finder.escape(text, into)
    }
}
