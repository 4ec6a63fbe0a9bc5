//! The hash of every window of a text, after Karp and Rabin.
//!
//! The hash of the window `b[0]`, `b[1]`, ... `b[n - 1]` is `b[0] * base^(n - 1) + ... + b[n - 1]`,
//! modulo 2^32. (Karp and Rabin 1987, "Efficient randomized pattern-matching algorithms".)
//!
//! ```
//! use tiebreak_simd::rolling_hash::RollingHash;
//!
//! let hash = RollingHash::new(3, 31)?;
//! let mut hashes = [0; 3];
//! assert_eq!(hash.hashes(b"abcab", &mut hashes), 3);
//! assert_eq!(hashes[1], hash.of(b"bca"));
//! assert_eq!(hash.count(b"abcab", hash.of(b"cab")), 1);
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

mod doubling;
mod scalar;
mod source;
mod words;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod ssse3;

use crate::{Form, Refused};
use doubling::Functions;

/// What is hashed, and how.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    /// The bytes of a window, at least one.
    pub window: usize,
    pub base: u32,
    /// Whether a byte is a number from -128 to 127, and not from 0 to 255.
    pub is_signed: bool,
}

/// The hash of all windows of a length, in a form that this CPU has.
///
/// Cost: for windows of up to 128 bytes one multiplication of a vector for each doubling from four
/// on, and one for each further bit of the length; for longer ones those of two windows of 32, and
/// two. Without vectors, one of a word for each byte that enters, and for each that leaves. 20 KiB
/// of stack, for long windows 36.
#[derive(Clone, Copy, Debug)]
pub struct RollingHash {
    kind: Kind,
    form: Form,
    functions: &'static Functions,
}

impl RollingHash {
    /// Makes the hash of windows of so many bytes, each a number from 0 to 255, in
    /// [`Form::chosen`].
    ///
    /// # Errors
    /// Fails if `TIEBREAK_SIMD` names no form that is here.
    ///
    /// # Panics
    /// If a window has no byte.
    pub fn new(window: usize, base: u32) -> Result<RollingHash, Refused> {
        RollingHash::of_form(window, base, Form::chosen()?)
    }

    /// Makes the hash in this form.
    ///
    /// # Errors
    /// Fails if this CPU does not have it.
    ///
    /// # Panics
    /// If a window has no byte.
    pub fn of_form(window: usize, base: u32, form: Form) -> Result<RollingHash, Refused> {
        assert!(window > 0, "a window has at least one byte");
        if !form.is_here() {
            return Err(Refused::Missing(form));
        }
        let functions = match form {
            #[cfg(target_arch = "x86_64")]
            Form::Ssse3 => &ssse3::SSSE3,
            #[cfg(target_arch = "x86_64")]
            Form::Avx2 => &avx2::AVX2,
            #[cfg(target_arch = "x86_64")]
            Form::Avx512 => &avx512::AVX512,
            #[cfg(target_arch = "aarch64")]
            Form::Neon => &neon::NEON,
            _ => &scalar::SCALAR,
        };
        Ok(RollingHash { kind: Kind { window, base, is_signed: false }, form, functions })
    }

    /// Takes a byte as a number from -128 to 127, as C does on x86 where it says `char`.
    #[must_use]
    pub const fn of_signed_bytes(mut self) -> RollingHash {
        self.kind.is_signed = true;
        self
    }

    /// Returns the form that runs.
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the hash of these bytes, however many they are.
    pub fn of(&self, bytes: &[u8]) -> u32 {
        let Kind { base, is_signed, .. } = self.kind;
        bytes.iter().fold(0_u32, |hash, byte| {
            hash.wrapping_mul(base).wrapping_add(scalar::number(*byte, is_signed))
        })
    }

    /// Returns how many windows there are, each a byte after the last.
    pub const fn windows(&self, bytes: &[u8]) -> usize {
        (bytes.len() + 1).saturating_sub(self.kind.window)
    }

    /// Writes the hash of each window, in their order; returns how many there are.
    ///
    /// # Panics
    /// If there is no room for all of them.
    pub fn hashes(&self, bytes: &[u8], into: &mut [u32]) -> usize {
        let needed = self.windows(bytes);
        assert!(into.len() >= needed, "{needed} hashes need room, and there are {}", into.len());
        if needed > 0 {
            // SAFETY: this is only made of a form that this CPU has; there is a window.
            unsafe { (self.functions.hashes)(&self.kind, bytes, &mut into[..needed]) }
        }
        needed
    }

    /// Returns how many windows have this hash.
    pub fn count(&self, bytes: &[u8], hash: u32) -> usize {
        if self.windows(bytes) == 0 {
            return 0;
        }
        // SAFETY: this is only made of a form that this CPU has; there is a window.
        unsafe { (self.functions.count)(&self.kind, bytes, hash) }
    }
}
