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

pub(crate) use crate::Probed;
pub(crate) use crate::finding::{Options, lacks, probed};
pub(crate) use batches::{parts, quantile};
pub use budget::Budget;
pub(crate) use caches::AdvertisedCache;
pub(crate) use mapped::{HUGE_PAGE, Mapped, Pages, SMALL_PAGE};
pub(crate) use pinned::{Pinned, pinned, switches};
pub(crate) use random::Random;
pub(crate) use std::collections::BTreeMap;
pub(crate) use std::io;
pub(crate) use std::path::Path;
pub(crate) use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
pub(crate) use std::time::{Duration, Instant};
pub(crate) use tiebreak_machine::cgroup;
pub(crate) use tiebreak_machine::clock::{self, monotonic_ns, thread_cpu_ns};
pub(crate) use tiebreak_machine::cpus::{self, parse_list, pin_this_thread};
pub(crate) use tiebreak_machine::meters::Unavailable;
pub(crate) use tiebreak_machine::tree::Tree;
pub(crate) use together::{Place, together};

/// What `/proc/cpuinfo` says first of something; empty if it says nothing.
pub(crate) fn cpuinfo(tree: &Tree, key: &str) -> String {
    let text = tree.text("/proc/cpuinfo").unwrap_or_default();
    let line = text.lines().find(|line| line.starts_with(key));
    line.and_then(|line| line.split_once(':')).map_or("", |(_, said)| said.trim()).to_owned()
}
