//! Sleeping in the kernel until a word changes: `futex(2)`.

use core::sync::atomic::AtomicU32 as Word;
use core::time::Duration;

#[cfg(loom)]
pub use modelled::{wait, wake_all};
#[cfg(not(loom))]
pub use private::{wait, wake_all};

/// Why a sleep ended. Each can happen without a wake-up, so the caller looks again in any case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Awake {
    /// A wake-up, or a signal.
    Woken,
    /// The word was not the expected one, so there was no sleep.
    Changed,
    /// The time is over.
    TimedOut,
}

/// Sleeps while `word` is `expected`: until a wake-up from any process, a signal, or for `limit`.
/// The word may be in memory that this process can only read.
pub(crate) fn wait_shared(word: &Word, expected: u32, limit: Duration) -> Awake {
    sleep(word, libc::FUTEX_WAIT, expected, Some(limit))
}

/// Where a kernel or a filter has no futexes, the callers look again, a thousand times a second.
const WITHOUT_FUTEX: Duration = Duration::from_millis(1);

/// The system call.
fn sleep(word: &Word, operation: i32, expected: u32, limit: Option<Duration>) -> Awake {
    let time = limit.map(kernel_time);
    let time = time.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the word is valid for the whole call, being borrowed; the kernel only reads it. The
    // time is null or points to a local that outlives the call.
    let answer =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), operation, expected, time) };
    if answer == 0 {
        return Awake::Woken;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Awake::Changed,
        Some(libc::ETIMEDOUT) => Awake::TimedOut,
        Some(libc::EINTR) => Awake::Woken,
        _ => {
            std::thread::sleep(limit.map_or(WITHOUT_FUTEX, |limit| limit.min(WITHOUT_FUTEX)));
            Awake::Woken
        }
    }
}

/// 68 years, which every platform's type for seconds holds.
const LONGEST_S: u64 = i32::MAX as u64;

/// The kernel's form of a duration. A longer one becomes that of 68 years.
fn kernel_time(duration: Duration) -> libc::timespec {
    libc::timespec {
        tv_sec: duration.as_secs().min(LONGEST_S) as _,
        // Below 1e9, so it fits in every type that a platform has for it.
        tv_nsec: duration.subsec_nanos() as _,
    }
}

/// Within one process.
#[cfg(not(loom))]
mod private {
    use super::{Awake, Duration, Word};

    /// Sleeps while `word` is `expected`: until a wake-up, a signal, or for `limit`.
    ///
    /// The kernel compares the word and goes to sleep as one step with respect to [`wake_all`]. So
    /// let another thread first change the word and then call `wake_all`: either the comparison
    /// fails or the sleeper is woken.
    pub fn wait(word: &Word, expected: u32, limit: Option<Duration>) -> Awake {
        super::sleep(word, libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG, expected, limit)
    }

    /// Wakes all that sleep on `word`.
    pub fn wake_all(word: &Word) {
        // SAFETY: the word is borrowed; the kernel takes its address as a name and does not write
        // it. With a valid address it cannot fail; where futexes are refused, sleepers look by
        // themselves.
        unsafe {
            libc::syscall(
                libc::SYS_futex,
                word.as_ptr(),
                libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
                i32::MAX,
            );
        }
    }
}

/// The futex of the model checker: a lock, a condition variable, and the two promises of the
/// kernel: comparing and going to sleep are one step, and a sleeper may be woken for nothing.
#[cfg(loom)]
mod modelled {
    use super::{Awake, Duration};
    use crate::atomic::{AtomicU32, Ordering};
    use loom::sync::{Condvar, Mutex};

    /// All words share one queue, so a wake-up of another word is one for nothing.
    struct Queue {
        wakes: Mutex<u32>,
        is_woken: Condvar,
    }

    loom::lazy_static! {
        static ref QUEUE: Queue = Queue { wakes: Mutex::new(0), is_woken: Condvar::new() };
    }

    /// Sleeps while `word` is `expected`. A model has no clock: a limit is never reached.
    pub fn wait(word: &AtomicU32, expected: u32, _limit: Option<Duration>) -> Awake {
        let mut wakes = QUEUE.wakes.lock().unwrap();
        // The lock orders it against the change before `wake_all`, as the kernel's does.
        if word.load(Ordering::Relaxed) != expected {
            return Awake::Changed;
        }
        let before = *wakes;
        while *wakes == before {
            wakes = QUEUE.is_woken.wait(wakes).unwrap();
        }
        Awake::Woken
    }

    /// Wakes all that sleep, on whatever word.
    pub fn wake_all(_word: &AtomicU32) {
        *QUEUE.wakes.lock().unwrap() += 1;
        QUEUE.is_woken.notify_all();
    }
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::*;
    use crate::atomic::Ordering;
    use std::time::Instant;

    #[test]
    fn a_word_that_differs_is_no_sleep() {
        let word = Word::new(1);
        assert_eq!(wait(&word, 0, None), Awake::Changed);
        assert_eq!(wait(&word, 0, Some(Duration::from_secs(60))), Awake::Changed);
    }

    #[test]
    fn a_limit_ends_the_sleep_and_not_before() {
        let word = Word::new(1);
        let limit = Duration::from_millis(5);
        let start = Instant::now();
        // A signal may end a sleep early, never twice for long.
        while wait(&word, 1, Some(limit.saturating_sub(start.elapsed()))) != Awake::TimedOut {}
        assert!(start.elapsed() >= limit);
    }

    #[test]
    fn a_limit_beyond_all_clocks_is_accepted() {
        let word = Word::new(1);
        assert_eq!(wait(&word, 0, Some(Duration::MAX)), Awake::Changed);
    }

    #[test]
    fn all_sleepers_are_woken() {
        let word = Word::new(0);
        std::thread::scope(|scope| {
            for _ in 0..3 {
                scope.spawn(|| {
                    while word.load(Ordering::Acquire) == 0 {
                        wait(&word, 0, None);
                    }
                });
            }
            std::thread::sleep(Duration::from_millis(5));
            word.store(1, Ordering::Release);
            wake_all(&word);
        });
    }
}
