//! Probes of the machine, a file each.
//!
//! Each is a type with `new() -> Result<Self, Unavailable>`, which says everything that was tried,
//! and `measure(&mut Budget) -> Probed<Reading>`. A reading holds medians and low quantiles of the
//! probe's own batches and nothing further: modes, clusters, knees, change points and intervals are
//! the business of `tiebreak-stats`. All of it works as an ordinary user; no thread here ever has a
//! real-time priority, so none can hang a CPU.

pub mod bandwidth;
mod batches;
mod budget;
pub mod cacheline;
pub mod caches;
pub mod cores;
pub mod energy;
mod flushed;
mod held;
pub mod latency;
mod mapped;
pub mod noise;
pub(crate) mod pinned;
mod random;
pub mod timers;
mod together;
pub mod topology;
pub(crate) mod wakeups;
pub(crate) mod wide;

pub use budget::Budget;
