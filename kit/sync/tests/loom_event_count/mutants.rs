//! Copies of the representations, each with at most one mistake, under the shipped waiting loop.

use core::sync::atomic::AtomicU64 as Statistic;
use std::time::Instant;

use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};
use loom::thread;
use std::sync::Arc;

use tiebreak_sync::event_count::model::{
    Armed, Awake, Count, Rule, futex_wait, futex_wake_all, wait,
};
use tiebreak_sync::event_count::{Bound, Pause};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mistake {
    /// The copy is right: it must pass, or the mutants prove nothing.
    None,
    /// The waiter goes on although the flag did not go up.
    NoFlagCheck,
    /// The flag goes down after the wake-up.
    WakeBeforeLower,
    /// The kernel does not compare.
    NoCompare,
    /// The flag in the word: the waiter reads the sequence after the flag went up.
    SequenceAfterFlag,
    /// The flag in the word: the waker does not change the sequence.
    NoSequence,
    /// Two words: the waiter looks without a heavy side before.
    NoHeavy,
    /// Two words: the producer loads without a light side before.
    NoLight,
    /// Two words: the waiter does not look at the count again.
    NoLook,
}

/// What the tests do with every copy.
trait Subject: Count<Value: From<u8>> + 'static {
    fn with(mistake: Mistake) -> Self;
    fn increment(&self);
}

fn sleep(word: &AtomicU32, expected: u32, mistake: Mistake) -> Awake {
    let expected = match mistake {
        Mistake::NoCompare => word.load(Ordering::SeqCst),
        _ => expected,
    };
    futex_wait(word, expected, None)
}

/// Count and flag in one word, of 64 bits for once. With locked increments a flag that went up
/// needs no second look: the copy does without, so that what it gets wrong is not mended by one.
#[derive(Debug)]
struct CopyFlagged {
    word: AtomicU64,
    wakes: AtomicU32,
    mistake: Mistake,
}

const FLAG: u64 = 1 << 63;

impl Count for CopyFlagged {
    type Value = u64;

    fn fresh() -> Self {
        Self::with(Mistake::None)
    }

    fn value(&self) -> u64 {
        self.word.load(Ordering::Acquire) & !FLAG
    }

    fn arm(&self, seen: u64) -> Option<Armed> {
        let up = seen | FLAG;
        let before = self.wakes.load(Ordering::Acquire);
        let raised = self.word.compare_exchange(seen, up, Ordering::Relaxed, Ordering::Relaxed);
        let expected = match self.mistake {
            Mistake::SequenceAfterFlag => self.wakes.load(Ordering::Acquire),
            _ => before,
        };
        match raised {
            Err(found) if found != up && self.mistake != Mistake::NoFlagCheck => None,
            _ => Some(Armed { expected }),
        }
    }

    fn is_armed(&self, _seen: u64, _armed: Armed) -> bool {
        true
    }

    fn sleep(&self, armed: Armed, _limit: Option<Instant>) -> Awake {
        sleep(&self.wakes, armed.expected, self.mistake)
    }

    fn wake(&self) {
        if self.mistake != Mistake::WakeBeforeLower {
            self.word.fetch_and(!FLAG, Ordering::Relaxed);
        }
        if self.mistake != Mistake::NoSequence {
            self.wakes.fetch_add(1, Ordering::Release);
        }
        futex_wake_all(&self.wakes);
        if self.mistake == Mistake::WakeBeforeLower {
            self.word.fetch_and(!FLAG, Ordering::Relaxed);
        }
    }
}

impl Subject for CopyFlagged {
    fn with(mistake: Mistake) -> Self {
        CopyFlagged { word: AtomicU64::new(0), wakes: AtomicU32::new(0), mistake }
    }

    fn increment(&self) {
        if self.word.fetch_add(1, Ordering::Release) & FLAG != 0 {
            self.wake();
        }
    }
}

/// The two words. The loop runs it without a bound: heavy side and look are in `sleep` here, where
/// each can be left out.
#[derive(Debug)]
struct CopyPair {
    version: AtomicU32,
    sleepers: AtomicU32,
    /// What the one waiter has seen. Not modelled.
    seen: core::sync::atomic::AtomicU32,
    mistake: Mistake,
}

impl Count for CopyPair {
    type Value = u32;

    fn fresh() -> Self {
        Self::with(Mistake::None)
    }

    fn value(&self) -> u32 {
        self.version.load(Ordering::Acquire)
    }

    fn arm(&self, seen: u32) -> Option<Armed> {
        self.seen.store(seen, Ordering::Relaxed);
        let found = self.sleepers.load(Ordering::Relaxed);
        if found & 1 != 0 {
            return Some(Armed { expected: found });
        }
        let up = found | 1;
        self.sleepers
            .compare_exchange(found, up, Ordering::Relaxed, Ordering::Relaxed)
            .ok()
            .map(|_| Armed { expected: up })
    }

    fn is_armed(&self, _seen: u32, _armed: Armed) -> bool {
        true
    }

    fn sleep(&self, armed: Armed, _limit: Option<Instant>) -> Awake {
        if self.mistake != Mistake::NoHeavy {
            fence(Ordering::SeqCst);
        }
        let seen = self.seen.load(Ordering::Relaxed);
        if self.mistake != Mistake::NoLook && self.value() != seen {
            return Awake::Changed;
        }
        sleep(&self.sleepers, armed.expected, self.mistake)
    }

    fn wake(&self) {
        if self.mistake == Mistake::WakeBeforeLower {
            futex_wake_all(&self.sleepers);
        }
        self.sleepers.fetch_add(1, Ordering::Release);
        if self.mistake != Mistake::WakeBeforeLower {
            futex_wake_all(&self.sleepers);
        }
    }
}

impl Subject for CopyPair {
    fn with(mistake: Mistake) -> Self {
        CopyPair {
            version: AtomicU32::new(0),
            sleepers: AtomicU32::new(0),
            seen: core::sync::atomic::AtomicU32::new(0),
            mistake,
        }
    }

    fn increment(&self) {
        let sum = self.version.load(Ordering::Relaxed) + 1;
        self.version.store(sum, Ordering::Release);
        if self.mistake != Mistake::NoLight {
            fence(Ordering::SeqCst);
        }
        if self.sleepers.load(Ordering::Relaxed) & 1 != 0 {
            self.wake();
        }
    }
}

/// One producer increments twice, one waiter follows.
fn followed<S: Subject>(mistake: Mistake) {
    super::explore(Some(3), move || {
        let count = Arc::new(S::with(mistake));
        let waiter = {
            let count = Arc::clone(&count);
            thread::spawn(move || {
                let rescues = Statistic::new(0);
                let rule =
                    Rule { spins: 0, deadline: None, bound: Bound::Atomic, rescues: &rescues };
                let mut seen = S::Value::from(0);
                while seen != S::Value::from(2) {
                    seen = wait(&*count, seen, &rule, || Pause::UntilWoken).unwrap();
                }
            })
        };
        count.increment();
        count.increment();
        waiter.join().unwrap();
    });
}

macro_rules! copies {
    ($($name:ident: $copy:ty, caught: [$($caught:ident),+];)+) => {$(
        mod $name {
            use super::*;

            #[test]
            fn the_copy_without_a_mistake_passes() {
                followed::<$copy>(Mistake::None);
            }

            $(
                #[test]
                #[should_panic(expected = "deadlock")]
                #[allow(non_snake_case)]
                fn $caught() {
                    followed::<$copy>(Mistake::$caught);
                }
            )+
        }
    )+};
}
copies! {
    copy_flagged: CopyFlagged, caught: [
        NoFlagCheck, WakeBeforeLower, NoCompare, SequenceAfterFlag, NoSequence
    ];
    copy_pair: CopyPair, caught: [WakeBeforeLower, NoCompare, NoHeavy, NoLight, NoLook];
}
