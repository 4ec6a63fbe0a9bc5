//! What several probes measure with.

pub(crate) mod batches;
mod budget;
pub(crate) mod caches;
pub(crate) mod flushed;
pub(crate) mod held;
pub(crate) mod mapped;
pub(crate) mod pinned;
pub(crate) mod random;
pub(crate) mod together;
pub(crate) mod wakeups;
pub(crate) mod wide;

pub use budget::Budget;
