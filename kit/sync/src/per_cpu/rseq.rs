//! `rseq(2)`: where a thread's `struct rseq` is, and who has registered it.

pub(super) use platform::{Area, of_libc, of_own};

use super::mode::{Mode, Registration};
use std::num::NonZeroIsize;

/// How a structure finds the area of the thread that uses it.
// No section is reached elsewhere.
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

/// Where there are no restartable sequences: other machines, and models.
#[cfg(not(all(target_arch = "x86_64", target_pointer_width = "64", not(any(miri, loom)))))]
mod platform {
    use super::Finder;
    use crate::per_cpu::mode::{Reason, Registration};
    use std::num::NonZeroIsize;

    /// No thread has one.
    #[derive(Clone, Copy)]
    pub(in crate::per_cpu) enum Area {}

    impl Area {
        pub(in crate::per_cpu) fn of_libc(_offset: NonZeroIsize) -> Area {
            unreachable!("there is no such offset: see `libc_offset`")
        }

        pub(in crate::per_cpu) fn of_thread(_finder: Finder) -> Option<Area> {
            None
        }

        pub(in crate::per_cpu) fn cpu(self) -> u32 {
            match self {}
        }
    }

    pub(in crate::per_cpu) fn libc_offset() -> Result<NonZeroIsize, Reason> {
        Err(if cfg!(any(miri, loom)) { Reason::Model } else { Reason::Architecture })
    }

    pub(in crate::per_cpu) fn of_libc() -> Result<Registration, Reason> {
        libc_offset().map(|_| Registration::Libc)
    }

    pub(in crate::per_cpu) fn of_own(reason: Reason) -> Result<Registration, Reason> {
        Err(reason)
    }
}
