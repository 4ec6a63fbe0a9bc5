//! The description of this machine, and the disturbances during a measurement.
//!
//! Everything here reads `/proc`, `/sys` and system calls. Nothing here changes a setting of the
//! machine except the affinity of the calling thread, and nothing starts a process. Facts that the
//! machine does not report are absent, never zero.

pub mod busy;
pub mod cgroup;
pub mod clock;
pub mod cpus;
pub mod fingerprint;
pub mod meters;
#[cfg(feature = "ordinary-user")]
pub mod ordinary_user;
pub mod quiet;
pub mod tree;
