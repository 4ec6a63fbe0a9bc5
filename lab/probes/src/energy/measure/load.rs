//! Known loads: sums over an array that a level-1 cache holds, so that only the core works.

use crate::tools::*;
use std::hint::black_box;

/// Values of the array: 16 KiB.
const VALUES: usize = 2048;
/// Sums between two looks at the clock: some 20 to 100 us.
const SUMS: u64 = 64;

/// A sum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kernel {
    /// A value at a time, each waiting for the one before.
    Integer,
    /// As many at a time as the widest registers of this CPU hold.
    Vector,
}

impl Kernel {
    /// What it is called, with the registers that it uses here.
    pub fn name(self) -> &'static str {
        self.of().0
    }

    /// Its name and its function.
    fn of(self) -> (&'static str, fn(&[u64]) -> u64) {
        match self {
            Kernel::Integer => ("integer", integer),
            #[cfg(target_arch = "x86_64")]
            Kernel::Vector if is_x86_feature_detected!("avx512f") => {
                // SAFETY: the CPU has the feature.
                ("vector (AVX-512)", |values| unsafe { avx512(values) })
            }
            #[cfg(target_arch = "x86_64")]
            Kernel::Vector if is_x86_feature_detected!("avx2") => {
                // SAFETY: the same.
                ("vector (AVX2)", |values| unsafe { avx2(values) })
            }
            Kernel::Vector => ("vector", plain),
        }
    }
}

/// The rotation keeps the compiler from adding several values at once.
fn integer(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum: u64, value| sum.rotate_left(1).wrapping_add(*value))
}

/// The compiler makes of this what the registers of the function that it stands in allow.
#[inline(always)]
fn plain(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(values: &[u64]) -> u64 {
    plain(values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(values: &[u64]) -> u64 {
    plain(values)
}

/// What the threads of a load did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Work {
    /// Values that were added up.
    pub values: u64,
    /// CPU time of all threads.
    pub run_ns: u64,
}

/// Adds up on each of these CPUs at once until `length_ns` are over or the flag is set, with `read`
/// called on the first of them at both ends.
///
/// # Errors
/// A thread cannot be started or pinned.
pub(super) fn run<R: Send>(
    kernel: Kernel,
    cpus: &[usize],
    length_ns: u64,
    interrupted: &AtomicBool,
    read: impl Fn() -> R + Sync,
) -> std::io::Result<(Work, Option<[R; 2]>)> {
    let sum = kernel.of().1;
    let each = together(cpus, |place| {
        let values: Vec<u64> = (0..VALUES as u64).collect();
        place.meet();
        let first = (place.index == 0).then(&read);
        let begin_ns = clock::monotonic_ns();
        let begin_run_ns = clock::thread_cpu_ns();
        let mut sums = 0;
        while clock::monotonic_ns() - begin_ns < length_ns && !interrupted.load(Ordering::Relaxed) {
            for _ in 0..SUMS {
                black_box(sum(black_box(&values)));
            }
            sums += SUMS;
        }
        let run_ns = clock::thread_cpu_ns().saturating_sub(begin_run_ns);
        let ends = first.map(|first| [first, read()]);
        (Work { values: sums * VALUES as u64, run_ns }, ends)
    })?;
    let values = each.iter().map(|(work, _)| work.values).sum();
    let run_ns = each.iter().map(|(work, _)| work.run_ns).sum();
    let ends = each.into_iter().find_map(|(_, ends)| ends);
    Ok((Work { values, run_ns }, ends))
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn sums_are_right() {
        let values: Vec<u64> = (1..=1000).collect();
        assert_eq!(Kernel::Vector.of().1(&values), 500_500);
        assert_eq!(plain(&values), 500_500);
        assert_eq!(Kernel::Integer.of().1(&[1, 2, 4]), 12);
    }

    #[test]
    fn a_load_runs_on_its_cpus_and_is_read_at_both_ends() {
        let cpus = cpus::allowed();
        let flag = AtomicBool::new(false);
        for kernel in [Kernel::Integer, Kernel::Vector] {
            let read = clock::monotonic_ns;
            let (work, ends) = run(kernel, &cpus, 2_000_000, &flag, read).unwrap();
            let [first, last] = ends.unwrap();
            assert!(last - first >= 2_000_000);
            assert!(work.values >= SUMS * VALUES as u64 && work.run_ns > 0, "{work:?}");
        }
        flag.store(true, Ordering::Relaxed);
        let (work, _) = run(Kernel::Vector, &cpus, u64::MAX, &flag, || ()).unwrap();
        assert_eq!(work.values, 0);
    }
}
