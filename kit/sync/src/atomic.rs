//! The atomics of everything that a model checker can run, and its lock: loom's under `--cfg loom`,
//! else those of the language.

#[cfg(not(loom))]
use std::sync;

#[cfg(loom)]
use loom::sync;

pub(crate) use sync::Mutex;
#[allow(unused_imports)]
pub(crate) use sync::atomic::{
    AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence,
};

/// A value alone on its pair of cache lines, because processors fetch two at a time. For what many
/// read while its neighbours change.
#[repr(C, align(128))]
#[derive(Debug, Default)]
pub(crate) struct Padded<T>(pub(crate) T);
