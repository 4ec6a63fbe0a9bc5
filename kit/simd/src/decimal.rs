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
#[cfg(target_arch = "aarch64")]
mod neon;
#[cfg(target_arch = "x86_64")]
mod ssse3;

pub use batch::Batch;

/// The most bytes of a number, with its sign.
pub const MOST: usize = 20;

/// A whole number: `u32`, `u64`, `i32` or `i64`.
pub trait Integer: Copy + sealed::Sealed {}

impl Integer for u32 {}
impl Integer for u64 {}
impl Integer for i32 {}
impl Integer for i64 {}

mod sealed {
    /// What a number is, but for its type.
    pub trait Sealed {
        /// Whether it may be less than 0.
        const IS_SIGNED: bool;

        /// Returns whether it is less than 0, and how far from 0 it is.
        fn parts(self) -> (bool, u64);
    }

    impl Sealed for u32 {
        const IS_SIGNED: bool = false;

        #[inline(always)]
        fn parts(self) -> (bool, u64) {
            (false, u64::from(self))
        }
    }

    impl Sealed for u64 {
        const IS_SIGNED: bool = false;

        #[inline(always)]
        fn parts(self) -> (bool, u64) {
            (false, self)
        }
    }

    impl Sealed for i32 {
        const IS_SIGNED: bool = true;

        #[inline(always)]
        fn parts(self) -> (bool, u64) {
            (self < 0, u64::from(self.unsigned_abs()))
        }
    }

    impl Sealed for i64 {
        const IS_SIGNED: bool = true;

        #[inline(always)]
        fn parts(self) -> (bool, u64) {
            (self < 0, self.unsigned_abs())
        }
    }
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
    let (is_negative, number) = number.parts();
    let mut text = [0; ROOM];
    text[0] = b'-';
    let sign = usize::from(is_negative);
    // SAFETY: there are 32 bytes, and at most one is before those of the number.
    let bytes = sign + unsafe { single::write(number, text.as_mut_ptr().add(sign)) };
    assert!(into.len() >= bytes, "{bytes} bytes need room, and there are {}", into.len());
    // SAFETY: there is room for so many, and the slices are apart.
    unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), into.as_mut_ptr(), bytes) };
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
