//! Synchronisation whose rare side pays, so that its frequent side need not.
//!
//! | module | what it has |
//! |---|---|
//! | [`barrier`] | asymmetric barriers: the light side costs nothing, the heavy one pays |
//! | [`event_count`] | counters that can be waited for; one increment is one instruction |
//! | [`interrupts`] | when each CPU was last interrupted, as the daemon `barrierd` tells it |
//! | [`epoch`], [`hazard`] | memory that readers hold without locks, freed once none does |
//! | [`collections`] | a stack and a queue without locks, over either of them |
//! | [`per_cpu`] | data of a CPU, changed without atomic instructions by restartable sequences |
//!
//! Everything works as an ordinary user, in a container and where the kernel refuses: it then goes
//! on by the next means, and says by which.

pub(crate) mod atomic;
pub mod barrier;
pub mod collections;
pub mod epoch;
pub mod event_count;
mod futex;

pub mod hazard;

pub mod interrupts;
#[cfg(loom)]
#[doc(hidden)]
pub mod mutation;
#[cfg(not(loom))]
mod mutation;

pub mod per_cpu;
mod reclaim;

#[cfg(all(test, not(any(miri, loom))))]
#[path = "../tests/common/affinity.rs"]
mod test_affinity;
#[cfg(all(test, not(any(miri, loom))))]
#[path = "../tests/common/length.rs"]
mod test_length;
