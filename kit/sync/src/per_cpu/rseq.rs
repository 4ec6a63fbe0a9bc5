//! `rseq(2)`: where a thread's `struct rseq` is, and who has registered it.

pub(super) use platform::{Area, of_libc, of_own};

use super::mode::{Mode, Registration};
use std::num::NonZeroIsize;

/// How a structure finds the area of the thread that uses it.
// Nobody comes to a section elsewhere.
#[cfg_attr(any(miri, loom, not(target_arch = "x86_64")), allow(dead_code))]
#[derive(Clone, Copy, Debug)]
pub(super) enum Finder {
    /// At this distance from the thread pointer, in each thread.
    Libc(NonZeroIsize),
    /// In a thread-local variable of ours.
    Own,
}

impl Finder {
    /// The finder of a mode; `None` for atomics.
    pub(super) fn of(mode: Mode) -> Option<Finder> {
        match mode {
            Mode::Rseq(Registration::Libc) => platform::libc_offset().ok().map(Finder::Libc),
            Mode::Rseq(Registration::Own) => Some(Finder::Own),
            Mode::Atomics(_) => None,
        }
    }
}

#[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom))))]
#[path = "rseq/x86_64.rs"]
mod platform;

#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom)))))]
#[path = "rseq/none.rs"]
mod platform;
