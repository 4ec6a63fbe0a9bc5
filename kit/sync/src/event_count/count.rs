//! The representations of a count: a word with a flag in it, or a flag in a word of its own. What
//! they offer to the waiting loop, and to producers. [`steps`](super::steps) has the algorithms and
//! why they are right.
//!
//! The flag that somebody sleeps is the sign bit of the word, because an increment then tells by
//! the CPU's own conditions whether it was up: of the old value with the flag the increment is
//! negative, or zero if all bits were set, and nothing else is, as signed numbers go. So `inc` and
//! `jle` are the whole of it. The one other case is the count at its largest: its increment carries
//! into the sign bit. The count then is zero, as it should be, with a flag that no waiter has
//! raised: the next increment wakes for nothing. This happens once in 2^31 increments (2^63 of a
//! `u64`).

use std::time::Instant;

use super::Value;
use crate::atomic::{AtomicU32, AtomicU64, Ordering};
use crate::barrier::Barrier;
use crate::futex::{self, Awake};

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

/// What the only producer does to a count. The caller must be the only one.
pub trait Alone: Count {
    /// Adds one, with the barrier whose heavy side the waiters run.
    fn increment_alone(&self, light: Barrier);

    /// The same, of `n`, which is no larger than the largest value.
    fn add_alone(&self, n: Self::Value, light: Barrier);
}

/// A flag that is up.
#[derive(Clone, Copy, Debug)]
pub struct Armed {
    /// What the futex word is until this flag is answered.
    pub expected: u32,
}

/// Sleeps on `word` until `limit`, if there is one.
fn sleep_on(word: &AtomicU32, expected: u32, limit: Option<Instant>) -> Awake {
    let Some(limit) = limit else {
        return futex::wait(word, expected, None);
    };
    let left = limit.saturating_duration_since(Instant::now());
    if left.is_zero() {
        return Awake::TimedOut;
    }
    futex::wait(word, expected, Some(left))
}

/// The word of a count, with what producers and waiters do to it.
pub trait Word: core::fmt::Debug + Sized + Send + Sync {
    /// The count.
    type Value: Value;

    /// Zero, without a flag.
    #[cfg(not(loom))]
    const NEW: Self;

    /// Zero, without a flag.
    #[cfg(loom)]
    fn fresh() -> Self;

    /// Count and flag.
    fn load(&self) -> Self::Value;

    /// The same word with its flag up.
    fn flagged(value: Self::Value) -> Self::Value;

    /// Raises the flag of a word that is `seen`, or finds it up there. Whether it is up.
    fn raise(&self, seen: Self::Value) -> bool;

    /// Takes the flag down, in one atomic step.
    fn lower(&self);

    /// Adds in one atomic step. Whether the flag was up.
    fn add_locked(&self, n: Self::Value) -> bool;

    /// Adds one, in steps that are not atomic together; if the flag was up, calls `wake`.
    fn increment_alone(&self, wake: impl FnOnce());

    /// The same, of `n`, which is no larger than the largest value.
    fn add_alone(&self, n: Self::Value, wake: impl FnOnce());

    /// Adds to a word without a flag, as the only one that stores to it.
    fn add_unflagged(&self, n: Self::Value);
}

macro_rules! word {
    ($atomic:ty, $value:ty, $signed:ty, $inc:literal, $add:literal) => {
        impl Word for $atomic {
            type Value = $value;

            #[cfg(not(loom))]
            const NEW: Self = <$atomic>::new(0);

            #[cfg(loom)]
            fn fresh() -> Self {
                <$atomic>::new(0)
            }

            #[inline(always)]
            fn load(&self) -> $value {
                // Acquire: what was written before an increment is seen by a thread that sees the
                // count.
                <$atomic>::load(self, Ordering::Acquire)
            }

            #[inline(always)]
            fn flagged(value: $value) -> $value {
                value | !<$value as Value>::MAX
            }

            fn raise(&self, seen: $value) -> bool {
                let up = Self::flagged(seen);
                // Relaxed: the increments of one word have one order, and that this comes before
                // the next of them is all that is needed of it. A failure gives no count away.
                match self.compare_exchange(seen, up, Ordering::Relaxed, Ordering::Relaxed) {
                    Ok(_) => true,
                    Err(found) => found == up,
                }
            }

            fn lower(&self) {
                // Relaxed: sequenced after the increment that saw the flag, in the same word.
                self.fetch_and(<$value as Value>::MAX, Ordering::Relaxed);
            }

            #[inline(always)]
            fn add_locked(&self, n: $value) -> bool {
                // Release: what was written before is seen by a thread that sees the count.
                (self.fetch_add(n, Ordering::Release) as $signed) < 0
            }

            #[inline(always)]
            #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
            fn increment_alone(&self, wake: impl FnOnce()) {
                // SAFETY: the word is valid and aligned, being borrowed, and is changed by atomic
                // accesses and this one only. To the language this is a relaxed load and a release
                // store of the word (every store of x86-64 is one) and a jump: no data race. That
                // it is one instruction matters to the bound on delays alone. No stack is used,
                // and the flags count as clobbered.
                unsafe {
                    core::arch::asm!(
                        $inc,
                        "jle {wake}",
                        word = in(reg) self.as_ptr(),
                        wake = label { wake() },
                        options(nostack),
                    );
                }
            }

            #[inline(always)]
            #[cfg(all(target_arch = "x86_64", not(miri), not(loom)))]
            fn add_alone(&self, n: $value, wake: impl FnOnce()) {
                // The flag was up if the sum is negative, or if it left the word at the top: that
                // takes a flag, as the two counts together fit in.
                //
                // SAFETY: as of the increment.
                unsafe {
                    core::arch::asm!(
                        $add,
                        "js {wake}",
                        "jc {wake}",
                        word = in(reg) self.as_ptr(),
                        n = in(reg) n,
                        wake = label { wake() },
                        options(nostack),
                    );
                }
            }

            #[inline(always)]
            #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
            fn increment_alone(&self, wake: impl FnOnce()) {
                self.add_alone(1, wake);
            }

            #[inline(always)]
            #[cfg(not(all(target_arch = "x86_64", not(miri), not(loom))))]
            fn add_alone(&self, n: $value, wake: impl FnOnce()) {
                // What the instructions are to the language: a relaxed load, which is enough for
                // the only one that changes the count, and a release store.
                let old = <$atomic>::load(self, Ordering::Relaxed);
                self.store(old.wrapping_add(n), Ordering::Release);
                if (old as $signed) < 0 {
                    wake();
                }
            }

            #[inline(always)]
            fn add_unflagged(&self, n: $value) {
                // Relaxed: only this thread stores. Release: as for `load`.
                let sum = <$atomic>::load(self, Ordering::Relaxed).wrapping_add(n);
                self.store(sum.reduced(), Ordering::Release);
            }
        }
    };
}
word!(AtomicU32, u32, i32, "inc dword ptr [{word}]", "add dword ptr [{word}], {n:e}");
word!(AtomicU64, u64, i64, "inc qword ptr [{word}]", "add qword ptr [{word}], {n}");

/// A word with count and flag, and next to it the number of wake-ups, on which waiters sleep.
///
/// They do not sleep on the word itself, even where it has the 32 bits of a futex: a word that is
/// as it was may have a flag that was answered and raised anew, which a plain increment in flight
/// is about to overwrite. The number tells the two apart.
#[derive(Debug)]
pub struct Flagged<V: Value> {
    pub(super) word: V::Word,
    pub(super) wakes: AtomicU32,
}

impl<V: Value> Flagged<V> {
    /// Adds as one of many producers.
    #[inline(always)]
    pub(super) fn add_locked(&self, n: V) {
        if self.word.add_locked(n) {
            self.wake();
        }
    }
}

impl<V: Value> Alone for Flagged<V> {
    #[inline(always)]
    fn increment_alone(&self, _light: Barrier) {
        self.word.increment_alone(|| self.wake());
    }

    #[inline(always)]
    fn add_alone(&self, n: V, _light: Barrier) {
        self.word.add_alone(n, || self.wake());
    }
}

impl<V: Value> Count for Flagged<V> {
    type Value = V;

    #[cfg(not(loom))]
    const NEW: Self = Flagged { word: V::Word::NEW, wakes: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Flagged { word: V::Word::fresh(), wakes: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> V {
        self.word.load().reduced()
    }

    fn arm(&self, seen: V) -> Option<Armed> {
        // Before the flag, and acquired: see the argument in `steps`.
        let expected = self.wakes.load(Ordering::Acquire);
        self.word.raise(seen).then_some(Armed { expected })
    }

    fn is_armed(&self, seen: V, _armed: Armed) -> bool {
        self.word.load() == V::Word::flagged(seen)
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.wakes, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Down before the wake-up: who raises it in between sleeps and is woken, for nothing at
        // worst. The other way round, its flag would be taken down and nothing would wake it.
        self.word.lower();
        // Release: a thread that reads this number sees the flag down.
        self.wakes.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.wakes);
    }
}

/// A count, and next to it the flag with the number of wake-ups.
#[derive(Debug)]
pub struct Pair<V: Value> {
    count: V::Word,
    sleepers: AtomicU32,
}

impl<V: Value> Alone for Pair<V> {
    #[inline(always)]
    fn increment_alone(&self, light: Barrier) {
        self.add_alone(V::ONE, light);
    }

    #[inline(always)]
    fn add_alone(&self, n: V, light: Barrier) {
        self.count.add_unflagged(n);
        light.light();
        // Relaxed: the barrier orders it after the store.
        if self.sleepers.load(Ordering::Relaxed) & 1 != 0 {
            self.wake();
        }
    }
}

impl<V: Value> Count for Pair<V> {
    type Value = V;

    #[cfg(not(loom))]
    const NEW: Self = Pair { count: V::Word::NEW, sleepers: AtomicU32::new(0) };

    #[cfg(loom)]
    fn fresh() -> Self {
        Pair { count: V::Word::fresh(), sleepers: AtomicU32::new(0) }
    }

    #[inline(always)]
    fn value(&self) -> V {
        self.count.load()
    }

    fn arm(&self, _seen: V) -> Option<Armed> {
        // Relaxed: the heavy side that follows orders it before the look at the count.
        let found = self.sleepers.load(Ordering::Relaxed);
        if found & 1 != 0 {
            return Some(Armed { expected: found });
        }
        // Failed: others have raised it, or it is down again; the caller looks and comes back.
        self.sleepers
            .compare_exchange(found, found | 1, Ordering::Relaxed, Ordering::Relaxed)
            .ok()
            .map(|_| Armed { expected: found | 1 })
    }

    fn is_armed(&self, seen: V, _armed: Armed) -> bool {
        self.value() == seen
    }

    fn sleep(&self, armed: Armed, limit: Option<Instant>) -> Awake {
        sleep_on(&self.sleepers, armed.expected, limit)
    }

    #[cold]
    #[inline(never)]
    fn wake(&self) {
        // Odd to even: the flag goes down and the number up. Only the one producer comes here, and
        // waiters leave an odd word alone. Release is for the waiter whose comparison fails.
        self.sleepers.fetch_add(1, Ordering::Release);
        futex::wake_all(&self.sleepers);
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;

    /// How a number is added.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum By {
        Locked,
        Increment,
        Alone,
    }

    macro_rules! check {
        ($test:ident, $atomic:ty, $value:ty) => {
            /// Every way to add, at every edge: the count is the sum, and the flag is reported to
            /// the one who adds.
            #[test]
            fn $test() {
                const MAX: $value = <$value as Value>::MAX;
                let counts = [0, 1, 2, MAX / 2, MAX / 2 + 1, MAX - 2, MAX - 1, MAX];
                let added = [1, 2, 3, MAX / 2, MAX / 2 + 1, MAX - 1, MAX];
                for (count, flag) in counts.into_iter().flat_map(|c| [(c, 0), (c, MAX + 1)]) {
                    for n in added {
                        for by in [By::Locked, By::Increment, By::Alone] {
                            let n = if by == By::Increment { 1 } else { n };
                            check_one(count, flag, n, by);
                        }
                    }
                }

                fn check_one(count: $value, flag: $value, n: $value, by: By) {
                    let word = <$atomic>::new(count | flag);
                    let mut is_reported = false;
                    match by {
                        By::Locked => is_reported = word.add_locked(n),
                        By::Increment => word.increment_alone(|| is_reported = true),
                        By::Alone => word.add_alone(n, || is_reported = true),
                    }
                    let case = format!("{count} + {n}, flag {flag:#x}, {by:?}");
                    assert_eq!(Word::load(&word).reduced(), (count + n) & MAX, "{case}");
                    let carries = count + n > MAX;
                    assert!(is_reported || flag == 0, "the flag is not reported: {case}");
                    assert!(
                        !is_reported || flag != 0 || carries,
                        "a flag is reported that is not there: {case}"
                    );
                    let is_up = Word::load(&word) > MAX;
                    assert_eq!(is_up, (flag != 0) != carries, "{case}");
                    word.lower();
                    assert_eq!(Word::load(&word), (count + n) & MAX, "{case}");
                }
            }
        };
    }
    check!(words_of_32_bits_add_and_tell, AtomicU32, u32);
    check!(words_of_64_bits_add_and_tell, AtomicU64, u64);

    #[test]
    fn a_flag_goes_up_only_on_what_was_seen() {
        let word = AtomicU32::new(5);
        assert!(!word.raise(4));
        assert_eq!(Word::load(&word), 5);
        assert!(word.raise(5));
        assert_eq!(Word::load(&word), AtomicU32::flagged(5));
        assert!(word.raise(5), "it is up");
        assert!(!word.raise(4), "it is up on another count");
        word.lower();
        assert_eq!(Word::load(&word), 5);
    }
}
