//! The clock, and sleeping on a futex word that another process writes.

use std::sync::atomic::AtomicU32;
use std::time::Duration;

/// Now, on `CLOCK_MONOTONIC`.
///
/// On x86 the C library and the kernel read the time-stamp counter by an instruction that waits for
/// all before it (`rdtscp`, or `lfence` first). After a full fence, what was stored is then visible
/// before the time is read.
pub(super) fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Sleeps until somebody wakes the word, or it differs from `seen`, or the time has passed. May
/// return early. The word may be in memory that this process can only read.
pub(super) fn sleep_on(word: &AtomicU32, seen: u32, at_most_ns: u64) {
    let time = libc::timespec {
        tv_sec: (at_most_ns / 1_000_000_000) as _,
        tv_nsec: (at_most_ns % 1_000_000_000) as _,
    };
    // SAFETY: the word is a live, aligned 32-bit word, and the time-out one `timespec`. Without
    // FUTEX_PRIVATE_FLAG, as the waker is another process.
    let result =
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, seen, &time) };
    let error = if result == 0 { None } else { std::io::Error::last_os_error().raw_os_error() };
    if !matches!(error, None | Some(libc::EAGAIN | libc::ETIMEDOUT | libc::EINTR)) {
        // A kernel or a filter without futexes: the callers look again, a thousand times a second.
        std::thread::sleep(Duration::from_nanos(at_most_ns.min(1_000_000)));
    }
}
