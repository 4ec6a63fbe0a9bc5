//! Barriers against the optimiser.
//!
//! A compiler that sees a loop around a pure function calls it once, or not at all. LLVM hoisted
//! even calls of a function that it may not inline, because it had inferred that the function only
//! reads memory. A pointer that went through [`launder`] may be any pointer, so the program must
//! read through it again each time. A value that went through [`keep`] counts as used. Both cost
//! only a register. The tests check the assembly of gcc, clang and rustc.

/// Returns the pointer as one that the compiler knows nothing about, and makes the compiler assume
/// that all memory may have changed.
///
/// ```
/// # use tiebreak_abi::{keep, launder};
/// let text = b"a,b";
/// for _ in 0..10 {
///     let commas = launder(&text[..]).iter().filter(|byte| **byte == b',').count();
///     keep(commas as u64);
/// }
/// ```
#[inline(always)]
pub fn launder<P: Launder>(pointer: P) -> P {
    pointer.launder()
}

/// Makes the compiler assume that the value is used.
#[inline(always)]
pub fn keep(value: u64) {
    platform::keep(value);
}

/// Pointers and references that [`launder`] takes.
pub trait Launder {
    /// Does what [`launder`] says.
    fn launder(self) -> Self;
}

#[cfg(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
))]
mod platform {
    use core::arch::asm;

    #[inline(always)]
    pub(super) fn keep(value: u64) {
        // SAFETY: no instruction at all.
        unsafe { asm!("/* {0} */", in(reg) value, options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    pub(super) fn opaque<T>(mut pointer: *mut T) -> *mut T {
        // SAFETY: no instruction at all; the register comes back as it went in.
        unsafe { asm!("/* {0} */", inout(reg) pointer, options(nostack, preserves_flags)) };
        pointer
    }
}

#[cfg(not(all(
    target_pointer_width = "64",
    any(target_arch = "x86_64", target_arch = "aarch64"),
    not(miri)
)))]
mod platform {
    pub(super) use core::hint::{black_box as keep, black_box as opaque};
}
use platform::opaque;

macro_rules! launder {
    ($($pointer:ty, $self:ident => $body:expr;)*) => { $(
        impl<T> Launder for $pointer {
            #[inline(always)]
            fn launder($self) -> Self {
                // SAFETY: the same pointer, with the same length, under the same borrow.
                #[allow(unused_unsafe)]
                unsafe { $body }
            }
        }
    )* };
}

launder! {
    *const T, self => opaque(self.cast_mut()).cast_const();
    *mut T, self => opaque(self);
    &T, self => &*opaque(core::ptr::from_ref(self).cast_mut());
    &mut T, self => &mut *opaque(core::ptr::from_mut(self));
    &[T], self => core::slice::from_raw_parts(opaque(self.as_ptr().cast_mut()), self.len());
    &mut [T], self => core::slice::from_raw_parts_mut(opaque(self.as_mut_ptr()), self.len());
}
