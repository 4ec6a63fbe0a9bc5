//! The kernel's clocks.

/// A clock of the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct KernelClock {
    /// Its name without `CLOCK_`.
    pub name: &'static str,
    /// Its number.
    pub id: libc::clockid_t,
}

/// All that are looked at, in the order in which they are shown.
pub(super) const ALL: [KernelClock; 8] = [
    KernelClock { name: "MONOTONIC", id: libc::CLOCK_MONOTONIC },
    KernelClock { name: "REALTIME", id: libc::CLOCK_REALTIME },
    KernelClock { name: "MONOTONIC_RAW", id: libc::CLOCK_MONOTONIC_RAW },
    KernelClock { name: "BOOTTIME", id: libc::CLOCK_BOOTTIME },
    KernelClock { name: "MONOTONIC_COARSE", id: libc::CLOCK_MONOTONIC_COARSE },
    KernelClock { name: "REALTIME_COARSE", id: libc::CLOCK_REALTIME_COARSE },
    KernelClock { name: "THREAD_CPUTIME", id: libc::CLOCK_THREAD_CPUTIME_ID },
    KernelClock { name: "PROCESS_CPUTIME", id: libc::CLOCK_PROCESS_CPUTIME_ID },
];

impl KernelClock {
    /// Whether this kernel has it.
    pub(super) fn is_there(self) -> bool {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place for the result.
        unsafe { libc::clock_gettime(self.id, &raw mut time) == 0 }
    }

    /// The clock in nanoseconds, by the C library.
    #[inline(always)]
    pub(super) fn now_ns(self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place for the result; a failing call leaves it at zero.
        unsafe { libc::clock_gettime(self.id, &raw mut time) };
        nanoseconds(time)
    }

    /// The same by a system call, whatever the library would do.
    #[inline(always)]
    pub(super) fn now_by_system_call_ns(self) -> u64 {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the call takes a clock's number and a valid place for the result.
        unsafe { libc::syscall(libc::SYS_clock_gettime, self.id, &raw mut time) };
        nanoseconds(time)
    }

    /// The resolution that the kernel tells.
    pub(super) fn resolution_ns(self) -> Option<u64> {
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place for the result.
        let error = unsafe { libc::clock_getres(self.id, &raw mut time) };
        (error == 0).then(|| nanoseconds(time))
    }
}

fn nanoseconds(time: libc::timespec) -> u64 {
    (time.tv_sec as u64).wrapping_mul(1_000_000_000).wrapping_add(time.tv_nsec as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_read_the_same_clock() {
        for clock in ALL {
            let first = clock.now_ns();
            let then = clock.now_by_system_call_ns();
            // An ordinary clock may be set back between two readings, but not by a minute.
            assert!(then + 60_000_000_000 >= first, "{}", clock.name);
            assert!(clock.is_there() && clock.resolution_ns().is_some_and(|step| step > 0));
        }
        let none = KernelClock { name: "none", id: 9999 };
        assert!(!none.is_there() && none.resolution_ns().is_none());
    }
}
