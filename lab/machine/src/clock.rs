//! The monotonic clock and its step.

/// The number of clock reads by which [`step_ns`] finds the step.
const STEP_READS: usize = 400;

/// Reads `CLOCK_MONOTONIC` in nanoseconds from an origin that is the same for all processes of this
/// boot.
///
/// Cost: about 20 ns where the kernel answers without a system call. It allocates nothing, takes no
/// lock, and may be called after `fork`.
pub fn monotonic_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC)
}

/// Returns the CPU time of this whole process so far, in nanoseconds, without its children.
pub fn process_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_PROCESS_CPUTIME_ID)
}

/// Returns the CPU time of the calling thread so far, in nanoseconds.
pub fn thread_cpu_ns() -> u64 {
    read_ns(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// The clock of another process' CPU time, for [`process_cpu_ns_of`].
#[derive(Clone, Copy, Debug)]
pub struct ProcessClock(libc::clockid_t);

impl ProcessClock {
    /// Returns the clock of the process `pid`, or `None` if there is no such process.
    pub fn of(pid: i32) -> Option<ProcessClock> {
        let mut id = 0;
        // SAFETY: `id` is a valid place for the result.
        let error = unsafe { libc::clock_getcpuclockid(pid, &raw mut id) };
        (error == 0).then_some(ProcessClock(id))
    }
}

/// Returns the CPU time of a process so far, in nanoseconds, without its children; 0 once it is
/// gone.
pub fn process_cpu_ns_of(clock: ProcessClock) -> u64 {
    read_ns(clock.0)
}

fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a valid place for the result; a failing call leaves it at zero.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the step of the monotonic clock in nanoseconds, at least 1: the smallest positive
/// difference between two consecutive reads, in a few hundred.
///
/// Where reading takes longer than the clock's own step, this is the time of a read, which then
/// limits the precision of any measurement with the clock. Cost: about 10 us; with a coarse clock
/// (4 ms per step) at most 20 ms.
pub fn step_ns() -> u64 {
    let end_ns = monotonic_ns() + 20_000_000;
    smallest_step(STEP_READS, monotonic_ns, end_ns)
}

/// Returns the smallest positive difference of `reads` pairs. Pairs without one are read again
/// until `end_ns`.
fn smallest_step(reads: usize, mut read: impl FnMut() -> u64, end_ns: u64) -> u64 {
    let mut smallest = u64::MAX;
    let mut counted = 0;
    let mut last = read();
    while counted < reads {
        let now = read();
        if now > last {
            smallest = smallest.min(now - last);
            counted += 1;
        }
        last = now;
        if now >= end_ns {
            break;
        }
    }
    if smallest == u64::MAX { 1 } else { smallest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_moves_forward() {
        let first = monotonic_ns();
        let step = step_ns();
        assert!(step >= 1);
        assert!(monotonic_ns() >= first + step);
    }

    #[test]
    fn the_step_is_the_smallest_positive_difference() {
        fn check(reads: &[u64], step: u64) {
            let mut reads = reads.iter().copied();
            let found = smallest_step(3, || reads.next().unwrap_or(u64::MAX), 1000);
            assert_eq!(found, step);
        }
        check(&[0, 50, 50, 60, 100], 10);
        check(&[100, 90, 95, 195, 295], 5);
        check(&[7, 7, 7, 1000], 993);
        check(&[1000, 1000], 1);
    }

    #[test]
    fn a_process_has_a_cpu_clock() {
        let clock = ProcessClock::of(std::process::id() as i32).unwrap();
        let before = process_cpu_ns_of(clock);
        let mut x = 1_u64;
        while process_cpu_ns_of(clock) == before {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        assert!(process_cpu_ns() > before);
        // No process has a number above the kernel's maximum (2^22).
        assert!(ProcessClock::of(1 << 22).is_none());
    }
}
