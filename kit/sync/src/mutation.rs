//! Faults that a model run puts in, to see that it would find them. Elsewhere they are constants
//! that say no, and nothing is left of them.

/// A fault in the algorithms of this crate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mutation {
    /// None: the algorithms as they are.
    #[cfg(loom)]
    None,
    /// Epochs: the thread that collects scans without having taken the heavy side.
    EpochWithoutHeavy,
    /// Epochs: pins of one epoch before the grace period count as later ones.
    EpochOneTooFew,
    /// Epochs: the epoch advances before what waits is taken.
    EpochAdvanceFirst,
    /// Hazard pointers: the thread that reclaims scans without having taken the heavy side.
    HazardWithoutHeavy,
    /// Hazard pointers: the source is not read again once the pointer is published.
    HazardWithoutReload,
}

#[cfg(loom)]
std::thread_local! {
    // All threads of a model run on one thread of the system.
    static CURRENT: std::cell::Cell<Mutation> = const { std::cell::Cell::new(Mutation::None) };
}

/// Puts a fault in, for the models that this thread runs from now on.
#[cfg(loom)]
pub fn set(mutation: Mutation) {
    CURRENT.set(mutation);
}

/// Whether this fault is in.
#[inline(always)]
pub(crate) fn is(mutation: Mutation) -> bool {
    #[cfg(loom)]
    return CURRENT.get() == mutation;
    #[cfg(not(loom))]
    {
        let _ = mutation;
        false
    }
}
