//! The system call.

use core::time::Duration;

use super::Awake;
use crate::atomic::AtomicU32;

/// Sleeps while `word` is `expected`: until a wake-up, a signal, or for `limit`.
///
/// The kernel compares the word and goes to sleep as one step with respect to [`wake_all`]. So let
/// another thread first change the word and then call `wake_all`: either the comparison fails or
/// the sleeper is woken.
pub fn wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) -> Awake {
    let limit = limit.map(kernel_time);
    let limit_pointer = limit.as_ref().map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: the word is valid for the whole call, being borrowed; the kernel only reads it. The
    // limit is null or points to a local that outlives the call.
    let answer = unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
            expected,
            limit_pointer,
        )
    };
    if answer == 0 {
        return Awake::Woken;
    }
    match std::io::Error::last_os_error().raw_os_error() {
        Some(libc::EAGAIN) => Awake::Changed,
        Some(libc::ETIMEDOUT) => Awake::TimedOut,
        Some(libc::EINTR) => Awake::Woken,
        // A kernel or a filter without futexes: the callers look again, a thousand times a second.
        _ => {
            std::thread::sleep(Duration::from_millis(1));
            Awake::Woken
        }
    }
}

/// Wakes all that sleep on `word`.
pub fn wake_all(word: &AtomicU32) {
    // SAFETY: the word is borrowed; the kernel takes its address as a name and does not write it.
    // With a valid address it cannot fail; where futexes are refused, sleepers look by themselves.
    unsafe {
        libc::syscall(
            libc::SYS_futex,
            word.as_ptr(),
            libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG,
            i32::MAX,
        );
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

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_word_that_differs_is_no_sleep() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, None), Awake::Changed);
        assert_eq!(wait(&word, 0, Some(Duration::from_secs(60))), Awake::Changed);
    }

    #[test]
    fn a_limit_ends_the_sleep_and_not_before() {
        let word = AtomicU32::new(1);
        let limit = Duration::from_millis(5);
        let start = Instant::now();
        // A signal may end a sleep early, never twice for long.
        while wait(&word, 1, Some(limit.saturating_sub(start.elapsed()))) != Awake::TimedOut {}
        assert!(start.elapsed() >= limit);
    }

    #[test]
    fn a_limit_beyond_all_clocks_is_accepted() {
        let word = AtomicU32::new(1);
        assert_eq!(wait(&word, 0, Some(Duration::MAX)), Awake::Changed);
    }

    #[test]
    fn all_sleepers_are_woken() {
        use crate::atomic::Ordering;
        let word = AtomicU32::new(0);
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
