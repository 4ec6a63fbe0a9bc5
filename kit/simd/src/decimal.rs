//! Whole numbers as decimal text.
//!
//! ```
//! use tiebreak_simd::decimal::{self, Batch};
//!
//! let mut text = [0; decimal::MOST];
//! let bytes = decimal::write(-40_i32, &mut text);
//! assert_eq!(&text[..bytes], b"-40");
//!
//! let mut text = [0; 100];
//! let bytes = Batch::new()?.write(&[7_u64, 1024, 0], b',', &mut text);
//! assert_eq!(&text[..bytes], b"7,1024,0,");
//! # Ok::<(), tiebreak_simd::Refused>(())
//! ```

mod batch;
mod eights;
mod single;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod ssse3;

pub use batch::Batch;

use crate::Form;
use eights::Scalar;

/// The most bytes of a number, with its sign.
pub const MOST: usize = 20;

/// A whole number: `u32`, `u64`, `i32` or `i64`.
pub trait Integer: Sealed {}

mod sealed {
    use crate::Form;

    /// What is asked of a number.
    pub trait Sealed: Copy {
        /// Whether it may be less than 0.
        const IS_SIGNED: bool;

        /// Returns whether it is less than 0, and how far from 0 it is.
        fn parts(self) -> (bool, u64);

        /// Writes many, as [`super::Batch::write`] says.
        ///
        /// # Safety
        /// The CPU must have the instructions of the form.
        unsafe fn write(form: Form, numbers: &[Self], separator: u8, into: &mut [u8]) -> usize;
    }
}
use sealed::Sealed;

/// Makes types numbers, by their parts. Their batches are compiled here, for the instructions of
/// each form, and not where they are called.
macro_rules! integers {
    ($($type:ty: $is_signed:literal, |$number:ident| $parts:expr;)*) => {
        $(
            impl Integer for $type {}

            impl Sealed for $type {
                const IS_SIGNED: bool = $is_signed;

                #[inline(always)]
                fn parts(self) -> (bool, u64) {
                    let $number = self;
                    $parts
                }

                unsafe fn write(
                    form: Form,
                    numbers: &[$type],
                    separator: u8,
                    into: &mut [u8],
                ) -> usize {
                    // SAFETY: the caller has the instructions.
                    unsafe {
                        match form {
                            #[cfg(target_arch = "x86_64")]
                            Form::Ssse3 => ssse3::write(numbers, separator, into),
                            #[cfg(target_arch = "x86_64")]
                            Form::Avx2 => avx2::write(numbers, separator, into),
                            #[cfg(target_arch = "x86_64")]
                            Form::Avx512 => avx512::write(numbers, separator, into),
                            #[cfg(target_arch = "aarch64")]
                            Form::Neon => neon::write(numbers, separator, into),
                            _ => batch::write::<$type, Scalar>(numbers, separator, into),
                        }
                    }
                }
            }
        )*
    };
}

integers! {
    u32: false, |number| (false, u64::from(number));
    u64: false, |number| (false, number);
    i32: true, |number| (number < 0, u64::from(number.unsigned_abs()));
    i64: true, |number| (number < 0, number.unsigned_abs());
}

/// Writes a number and nothing else; returns how many bytes it has.
///
/// Cost: two or three multiplications that wait for each other for each eight digits, whatever they
/// are; a branch for each of: less than 100, than 10^8, than 10^16.
///
/// # Panics
/// If there is no room for it. [`MOST`] bytes are always enough.
#[inline]
pub fn write<N: Integer>(number: N, into: &mut [u8]) -> usize {
    let mut text = [0; ROOM];
    let bytes = write_into(number, &mut text);
    assert!(into.len() >= bytes, "{bytes} bytes need room, and there are {}", into.len());
    into[..bytes].copy_from_slice(&text[..bytes]);
    bytes
}

/// The bytes that [`write_into`] may write.
pub const ROOM: usize = 32;

/// Writes a number, and what it likes into the bytes after it; returns how many it has.
///
/// Cost: as [`write`], without a copy of its length.
#[inline]
pub fn write_into<N: Integer>(number: N, into: &mut [u8; ROOM]) -> usize {
    let (is_negative, number) = number.parts();
    into[0] = b'-';
    let sign = usize::from(is_negative);
    // SAFETY: there are 32 bytes, and at most one is before those of the number.
    sign + unsafe { single::write(number, into.as_mut_ptr().add(sign)) }
}
