//! Where there are no restartable sequences: other machines, and models.

use super::Finder;
use crate::per_cpu::mode::{Reason, Registration};
use std::num::NonZeroIsize;

/// No thread has one.
#[derive(Clone, Copy)]
pub(crate) enum Area {}

impl Area {
    pub(crate) fn of_libc(_offset: NonZeroIsize) -> Area {
        unreachable!("there is no such offset: see `libc_offset`")
    }

    pub(crate) fn of_thread(_finder: Finder) -> Option<Area> {
        None
    }

    pub(crate) fn cpu(self) -> u32 {
        match self {}
    }
}

pub(crate) fn libc_offset() -> Result<NonZeroIsize, Reason> {
    Err(if cfg!(any(miri, loom)) { Reason::Model } else { Reason::Architecture })
}

pub(crate) fn of_libc() -> Result<Registration, Reason> {
    libc_offset().map(|_| Registration::Libc)
}

pub(crate) fn of_own(reason: Reason) -> Result<Registration, Reason> {
    Err(reason)
}
