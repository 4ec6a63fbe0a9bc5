//! How many CPUs there can be, and which one this is.

#[cfg(not(any(miri, loom)))]
use crate::interrupts::CpuSet;
#[cfg(not(any(miri, loom)))]
use std::fs;

/// One more than the largest number that a CPU of this machine can get, also if it is plugged in
/// later. Where the kernel does not say so: one more than the largest of those that are known now.
/// It is no promise: whoever indexes by a CPU's number checks it.
#[cfg(not(any(miri, loom)))]
pub(super) fn possible() -> usize {
    let listed = fs::read_to_string("/sys/devices/system/cpu/possible").ok();
    listed.and_then(|text| end_of(&text)).unwrap_or_else(configured).clamp(1, MAX)
}

/// A list that is longer is not believed: memory is taken for each.
#[cfg(not(any(miri, loom)))]
const MAX: usize = 1 << 16;

/// So that threads meet in a slot, and the model stays small.
#[cfg(any(miri, loom))]
pub(super) fn possible() -> usize {
    1
}

/// The end of a list as `0-3,8-11` has it, here 12.
#[cfg(not(any(miri, loom)))]
fn end_of(list: &str) -> Option<usize> {
    list.parse::<CpuSet>().ok()?.iter().last().map(|last| last + 1)
}

#[cfg(not(any(miri, loom)))]
fn configured() -> usize {
    // SAFETY: a number goes in, a number comes out.
    let count = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    usize::try_from(count).unwrap_or(1)
}

/// The CPU on which this thread ran a moment ago; `usize::MAX` where nobody knows.
#[cfg(not(any(miri, loom)))]
#[inline]
pub(super) fn current() -> usize {
    // SAFETY: it takes nothing and changes nothing.
    let cpu = unsafe { libc::sched_getcpu() };
    // -1 becomes the largest number.
    cpu as isize as usize
}

/// Neither tool knows CPUs.
#[cfg(any(miri, loom))]
pub(super) fn current() -> usize {
    0
}

#[cfg(all(test, not(any(miri, loom))))]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_as_the_kernel_writes_them() {
        for (list, end) in [
            ("0\n", Some(1)),
            ("0-1\n", Some(2)),
            ("0-3,8-11\n", Some(12)),
            ("2,5", Some(6)),
            ("", None),
            ("0-x", None),
            ("0-99999999", None),
        ] {
            assert_eq!(end_of(list), end, "{list:?}");
        }
    }

    #[test]
    fn this_cpu_is_one_of_the_possible_ones() {
        let cpu = current();
        if cpu == usize::MAX {
            println!("skipped: getcpu(2) is refused here");
            return;
        }
        assert!(cpu < possible(), "CPU {cpu} of {}", possible());
    }
}
