//! Whether bytes are UTF-8, and where they are not.
//!
//! ```
//! use tiebreak_simd::utf8::{self, Invalid, Validator};
//!
//! assert_eq!(utf8::validate("gr\u{fc}n".as_bytes()), Ok("gr\u{fc}n"));
//! let validator = Validator::new()?;
//! assert_eq!(validator.validate(b"abc\xc0"), Err(Invalid { at: 3, bytes: Some(1) }));
//!
//! // In parts: a character may lie in two.
//! let mut stream = validator.stream();
//! assert_eq!(stream.push(b"gr\xc3"), Ok(()));
//! assert_eq!(stream.push(b"\xbcn"), Ok(()));
//! assert_eq!(stream.finish(), Ok(()));
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

mod lookup;
mod mistakes;
mod stream;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod ssse3;

pub use stream::Stream;

use crate::{Form, Refused};
use core::fmt;
use core::ptr;
use core::str::{self, Utf8Error};
use core::sync::atomic::{AtomicPtr, Ordering};

/// Returns a place before which all bytes are right, but perhaps for the last three; the length if
/// all are.
///
/// # Safety
/// The CPU must have the instructions of the form.
type Check = unsafe fn(&[u8]) -> usize;

/// Where bytes are no UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The place of the first byte that is not part of a right character. The bytes before it are
    /// right.
    pub at: usize,
    /// How many bytes from there on belong to the mistake, 1 to 3; none if they begin a character
    /// whose end is not there.
    pub bytes: Option<u8>,
}

impl Invalid {
    /// Says what is wrong with bytes that begin at a place.
    fn of(error: Utf8Error, from: usize) -> Invalid {
        let bytes = error.error_len().map(|bytes| bytes as u8);
        Invalid { at: from + error.valid_up_to(), bytes }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.bytes {
            Some(_) => write!(f, "no UTF-8 at byte {}", self.at),
            None => write!(f, "the text ends within the character at byte {}", self.at),
        }
    }
}

impl core::error::Error for Invalid {}

/// Returns the bytes as text, if they are UTF-8, by the form that [`Form::chosen`] gave when this
/// was first called.
///
/// # Errors
/// Fails if they are not, and says where.
///
/// # Panics
/// If `TIEBREAK_SIMD` names no form that is here.
#[inline]
pub fn validate(bytes: &[u8]) -> Result<&str, Invalid> {
    static CHOSEN: AtomicPtr<Validator> = AtomicPtr::new(ptr::null_mut());
    // SAFETY: what is stored there is one of the validators below, which are for ever.
    let validator = match unsafe { CHOSEN.load(Ordering::Relaxed).as_ref() } {
        Some(validator) => validator,
        None => {
            let chosen = Validator::new().unwrap_or_else(|refused| panic!("{refused}"));
            let chosen = &VALIDATORS[chosen.form as usize];
            CHOSEN.store(ptr::from_ref(chosen).cast_mut(), Ordering::Relaxed);
            chosen
        }
    };
    validator.validate(bytes)
}

/// Validates UTF-8, in a form that this CPU has.
///
/// Cost: the least for ASCII, some more for characters of two bytes, twice that for longer ones.
/// What is wrong is found within 256 bytes after it, and its place costs a second look at these.
#[derive(Clone, Copy, Debug)]
pub struct Validator {
    form: Form,
    check: Check,
}

/// One for each form, in the order of [`Form::ALL`].
static VALIDATORS: [Validator; 5] = {
    let mut validators = [Validator { form: Form::Scalar, check: scalar }; 5];
    let mut at = 0;
    while at < validators.len() {
        validators[at] = Validator { form: Form::ALL[at], check: check_of(Form::ALL[at]) };
        at += 1;
    }
    validators
};

impl Validator {
    /// Makes a validator of [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    pub fn new() -> Result<Validator, Refused> {
        Validator::of_form(Form::chosen()?)
    }

    /// Makes a validator of this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    pub fn of_form(form: Form) -> Result<Validator, Refused> {
        if !form.is_here() {
            return Err(Refused::Missing(form));
        }
        Ok(Validator { form, check: check_of(form) })
    }

    /// Returns the form that runs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns whether the bytes are UTF-8.
    #[inline]
    pub fn is_valid(&self, bytes: &[u8]) -> bool {
        // SAFETY: this is only made of a form that this CPU has.
        unsafe { (self.check)(bytes) == bytes.len() }
    }

    /// Returns the bytes as text, if they are UTF-8.
    ///
    /// # Errors
    /// Fails if they are not, and says where.
    #[inline]
    pub fn validate<'bytes>(&self, bytes: &'bytes [u8]) -> Result<&'bytes str, Invalid> {
        // SAFETY: this is only made of a form that this CPU has.
        let right = unsafe { (self.check)(bytes) };
        if right < bytes.len() {
            return Err(first_mistake(bytes, right));
        }
        // SAFETY: all of it is UTF-8.
        Ok(unsafe { str::from_utf8_unchecked(bytes) })
    }

    /// Begins a text that comes in parts.
    pub fn stream(&self) -> Stream {
        Stream::new(*self)
    }
}

const fn check_of(form: Form) -> Check {
    match form {
        #[cfg(target_arch = "x86_64")]
        Form::Ssse3 => ssse3::check,
        #[cfg(target_arch = "x86_64")]
        Form::Avx2 => avx2::check,
        #[cfg(target_arch = "x86_64")]
        Form::Avx512 => avx512::check,
        #[cfg(target_arch = "aarch64")]
        Form::Neon => neon::check,
        _ => scalar,
    }
}

/// Needs nothing; its type is that of all forms.
unsafe fn scalar(bytes: &[u8]) -> usize {
    str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)
}

/// Says what is wrong, where all before `right` is not, but perhaps for the last three bytes there.
#[cold]
fn first_mistake(bytes: &[u8], right: usize) -> Invalid {
    let mut begin = right.saturating_sub(3);
    while begin > 0 && matches!(bytes[begin], 0x80..=0xbf) {
        begin -= 1;
    }
    match str::from_utf8(&bytes[begin..]) {
        Ok(_) => unreachable!("a form calls what is right wrong"),
        Err(error) => Invalid::of(error, begin),
    }
}

/// Returns how many bytes at the end begin a character whose end is not there: 0 to 3.
fn begun(bytes: &[u8]) -> usize {
    let last = bytes.iter().rev().take(3);
    let first = last.enumerate().find(|(_, byte)| !matches!(byte, 0x80..=0xbf));
    match first {
        Some((behind, byte)) if behind + 1 < announced(*byte) => behind + 1,
        _ => 0,
    }
}

/// Returns how many bytes a character has that begins with this one, if it is right.
const fn announced(first: u8) -> usize {
    match first {
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => 1,
    }
}
