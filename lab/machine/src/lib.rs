//! What this machine is and what goes on beside a measurement
//!
//! Everything here reads `/proc`, `/sys` and system calls; nothing changes a setting of the machine
//! except the affinity of the calling thread, and nothing here starts a process. What the machine
//! does not tell is absent, never zero.

pub mod busy;
pub mod cgroup;
pub mod clock;
pub mod cpus;
pub mod fingerprint;
pub mod meters;
#[cfg(feature = "ordinary-user")]
pub mod ordinary_user;
pub mod quiet;
pub mod refusal;
pub mod tree;
