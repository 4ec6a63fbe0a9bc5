//! What all contestants can do.

/// A counter that one thread increments and another waits for.
pub trait Event: Send + Sync + Sized + 'static {
    /// What the incrementing thread keeps to itself: a position, or the right to increment.
    type Producer: 'static;

    /// The value's bits: it wraps where they end.
    const MASK: u64 = u64::MAX;

    /// A count of 0.
    fn new() -> Self;

    /// What increments it; asked for once, and dropped before the count is.
    fn producer(&'static self) -> Self::Producer;

    /// Adds one, and wakes who waits.
    fn increment(&self, producer: &mut Self::Producer);

    /// The same, where the caller happens to know that no thread waits. Only the contestants that
    /// stand for a floor make use of it.
    #[inline(always)]
    fn increment_alone(&self, producer: &mut Self::Producer) {
        self.increment(producer);
    }

    /// The same, where the caller keeps the count itself and says what it is now: the write
    /// position of a ring.
    #[inline(always)]
    fn publish(&self, producer: &mut Self::Producer, _position: u64) {
        self.increment(producer);
    }

    /// The count.
    fn value(&self) -> u64;

    /// Returns once the count is another than `seen`, and sleeps until then.
    fn wait(&self, seen: u64);

    /// Called by the thread that waits, before it first does.
    fn enter(&self) {}
}
