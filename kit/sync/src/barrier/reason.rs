//! Why a strategy cannot be had.

use super::Strategy;

/// A strategy that does not work here, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{strategy}: {reason}")]
pub struct Refused {
    /// Which.
    pub strategy: Strategy,
    /// Why.
    pub reason: Reason,
}

/// Why a strategy does not work here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The kernel answered with an error, or a filter of system calls did.
    #[error("{call}: {}", std::io::Error::from_raw_os_error(*errno))]
    Errno {
        /// What was called.
        call: &'static str,
        /// What it answered.
        errno: i32,
    },
    /// The kernel does not list the command among those that it has.
    #[error("this kernel does not offer it")]
    NotOffered,
    /// The program runs in an interpreter or a model checker, which knows no system call for it.
    #[error("not under an interpreter or a model checker")]
    Model,
}
