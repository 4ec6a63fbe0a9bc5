//! The barriers on a real machine: each strategy against a CPU's store buffer, where system calls
//! are refused, and in children.

#![cfg(not(any(miri, loom)))]

#[path = "../common/affinity.rs"]
mod affinity;
mod degradation;
mod fork;
mod interrupting;
#[path = "../common/length.rs"]
mod length;
#[path = "../common/litmus.rs"]
mod litmus;
#[path = "../common/pace.rs"]
mod pace;
#[path = "../common/seccomp.rs"]
mod seccomp;
mod strategies;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time: two would take the CPUs from each other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
