//! How late a sleeping thread wakes up: what a program pays whenever it waits for something.

use super::*;

/// From one wake-up to the next.
const STEP_NS: u64 = 1_000_000;
/// More CPUs than this are not woken: each of them costs a thread.
const MOST_CPUS: usize = 8;

/// Returns how late the wake-ups of timers were, in nanoseconds, sorted: a thread each on at most
/// eight of these CPUs sleeps until a time a millisecond on, again and again, and looks at the
/// clock when it wakes. The threads are ordinary ones without the slack of 50 us that the kernel
/// gives them.
///
/// # Errors
/// A thread cannot be started or pinned.
pub(crate) fn late_ns(cpus: &[usize], length: Duration) -> io::Result<Vec<u64>> {
    let cpus = &cpus[..cpus.len().min(MOST_CPUS)];
    let of_each = together(cpus, |place| {
        place.meet();
        on_this_cpu(length)
    })?;
    let mut all = of_each.concat();
    all.sort_unstable();
    Ok(all)
}

fn on_this_cpu(length: Duration) -> Vec<u64> {
    // SAFETY: the call takes numbers, and changes this thread alone, which ends with the probe.
    unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
    let steps = (length.as_nanos() as u64 / STEP_NS).max(1);
    let mut late_ns = Vec::with_capacity(steps as usize);
    let begin_ns = monotonic_ns();
    let end_ns = begin_ns + steps * STEP_NS;
    let mut wake_ns = begin_ns + STEP_NS;
    while wake_ns <= end_ns {
        sleep_until(wake_ns);
        let now_ns = monotonic_ns();
        // A signal wakes before the time.
        late_ns.extend(now_ns.checked_sub(wake_ns));
        // Wake-ups that were slept through are one late wake-up, not several.
        wake_ns = (wake_ns + STEP_NS).max(now_ns);
    }
    late_ns
}

fn sleep_until(wake_ns: u64) {
    let time = libc::timespec {
        tv_sec: (wake_ns / 1_000_000_000) as libc::time_t,
        tv_nsec: (wake_ns % 1_000_000_000) as _,
    };
    // SAFETY: the time is valid and only read, and nothing is written with an absolute time.
    unsafe {
        libc::clock_nanosleep(
            libc::CLOCK_MONOTONIC,
            libc::TIMER_ABSTIME,
            &raw const time,
            std::ptr::null_mut(),
        )
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn every_cpu_wakes_and_never_too_early() {
        let begin = std::time::Instant::now();
        let cpus = cpus::allowed();
        let late = late_ns(&cpus, Duration::from_millis(20)).unwrap();
        assert!(!late.is_empty() && late.len() <= 20 * cpus.len().min(MOST_CPUS), "{late:?}");
        assert!(late.is_sorted());
        assert!(u128::from(late[late.len() - 1]) <= begin.elapsed().as_nanos());
        assert!(late_ns(&[8191], Duration::from_millis(1)).is_err());
    }
}
