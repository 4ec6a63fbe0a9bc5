//! How long the tests are, and over which barriers they run.

use tiebreak_sync::barrier::Barrier;

/// `short` operations, or `full` in the long form.
pub fn operations(short: usize, full: usize) -> usize {
    match std::env::var_os("TIEBREAK_FULL") {
        Some(_) => full,
        None if cfg!(miri) => short.div_ceil(1000),
        None => short,
    }
}

/// The barrier of the process, and the one that works everywhere.
pub fn barriers() -> Vec<Barrier> {
    vec![Barrier::process(), Barrier::seq_cst()]
}
