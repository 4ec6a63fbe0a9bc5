//! How long the tests are, and over which barriers they run.

use crate::length::is_full;
use tiebreak_sync::barrier::{Barrier, Strategy};

/// `short` operations, or `full` in the long form.
pub fn operations(short: usize, full: usize) -> usize {
    match is_full() {
        true => full,
        false if cfg!(miri) => short.div_ceil(1000),
        false => short,
    }
}

/// Fewer of them where a heavy side takes milliseconds.
pub fn with(barrier: Barrier, operations: usize) -> usize {
    operations.div_ceil(if is_slow(barrier) { 50 } else { 1 })
}

/// The same, for operations of which each has a heavy side.
pub fn with_heavy(barrier: Barrier, operations: usize) -> usize {
    operations.div_ceil(if is_slow(barrier) { 400 } else { 1 })
}

fn is_slow(barrier: Barrier) -> bool {
    matches!(barrier.strategy(), Strategy::Interrupts | Strategy::GlobalUnexpedited)
}

/// The barriers of every strategy that works here.
pub fn barriers() -> Vec<Barrier> {
    Strategy::ALL.into_iter().filter_map(|strategy| Barrier::with(strategy).ok()).collect()
}
