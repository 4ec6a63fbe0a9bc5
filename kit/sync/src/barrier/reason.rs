//! Why a strategy cannot be had.

use super::{Strategy, Unsound};

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
///
/// EPERM, EINVAL and ENOSYS of one system call mean the same: the next strategy. Kernels without
/// `membarrier(2)` answer ENOSYS, those with dedicated CPUs (`nohz_full`) answer EINVAL to its
/// unexpedited form, and filters of system calls in containers answer EPERM, as does the kernel to
/// whoever has not registered. The remedy for EPERM is to allow the call in the container's
/// profile.
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
    /// It would work, but may not be a barrier here.
    #[error("{0}")]
    Unsound(Unsound),
    /// Nobody tells when the CPUs were interrupted.
    #[error("no barrierd is running")]
    NoDaemon,
    /// The program runs in an interpreter or a model checker, which knows no system call for it.
    #[error("not under an interpreter or a model checker")]
    Model,
}
