//! What a representation offers to the waiting loop.

use std::time::Instant;

use super::kind::Value;
use crate::futex::Awake;

/// A count with a flag that says that somebody sleeps. A waiter goes through `arm`, a bound,
/// `is_armed` and `sleep`; a producer that finds the flag goes through `wake`.
pub trait Count: core::fmt::Debug + Sized + Send + Sync {
    /// What is counted.
    type Value: Value;

    /// Zero, without a flag.
    #[cfg(not(loom))]
    const NEW: Self;

    /// Zero, without a flag: the model checker's atomics have no constants.
    #[cfg(loom)]
    fn fresh() -> Self;

    /// The count now, acquired.
    fn value(&self) -> Self::Value;

    /// Raises the flag, or finds it up; nothing if the count is seen to differ from `seen`.
    fn arm(&self, seen: Self::Value) -> Option<Armed>;

    /// The second look: whether the count still is `seen`, and no flag was lost.
    fn is_armed(&self, seen: Self::Value, armed: Armed) -> bool;

    /// Sleeps unless the flag was answered since `arm`: until it is, or until `limit`.
    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake;

    /// Answers the flag: takes it down and wakes all sleepers, in this order.
    fn wake(&self);
}

/// A flag that is up.
#[derive(Clone, Copy, Debug)]
pub struct Armed {
    /// What the futex word is until this flag is answered.
    pub expected: u32,
}

/// Sleeps on `word` until `limit`, if there is one.
pub(super) fn sleep_on(
    word: &crate::atomic::AtomicU32,
    expected: u32,
    limit: Option<Instant>,
) -> Awake {
    let Some(limit) = limit else {
        return crate::futex::wait(word, expected, None);
    };
    let left = limit.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Awake::TimedOut;
    }
    crate::futex::wait(word, expected, Some(left))
}
