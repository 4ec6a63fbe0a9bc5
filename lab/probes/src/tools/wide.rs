//! Whether wide vectors lower the clock: how long a chain of multiplications takes right after
//! their work, and the same chain after ordinary work.

use super::chain::chain_ns;
use super::*;

/// How often each of the two is timed, in turns.
const TURNS: usize = 24;
/// Work of wide vectors before a chain. Processors ask for another clock within some 10 us.
const WIDE_NS: u64 = 500_000;
/// Ordinary work before a chain: a clock that was lowered comes back in less than 1 ms.
const ORDINARY_NS: u64 = 2_000_000;

/// What wide vectors do to the clock of the code after them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wide {
    /// The widest vectors that the processor has: `AVX-512` or `AVX2`.
    pub(crate) vectors: &'static str,
    /// Quartiles of the time of a chain after ordinary work.
    pub(crate) ordinary_ns: [u64; 3],
    /// The same after work of wide vectors.
    pub(crate) wide_ns: [u64; 3],
}

impl Wide {
    /// Returns the clock after wide vectors as a share of that after ordinary work.
    pub(crate) fn clock_share(&self) -> f64 {
        self.ordinary_ns[1] as f64 / self.wide_ns[1].max(1) as f64
    }
}

/// Times chains on one CPU for some 60 ms, more where others take the CPU away.
///
/// # Errors
/// The processor has no wide vectors that are known here, or no thread can be pinned to the CPU.
pub(crate) fn clock_after(cpu: usize) -> Result<Wide, String> {
    let (vectors, work) = widest().ok_or("the processor has no vectors of 256 bits or more")?;
    let _pinned = Pinned::to(cpu).map_err(|error| format!("CPU {cpu}: {error}"))?;
    let (mut ordinary, mut wide) = (Vec::with_capacity(TURNS), Vec::with_capacity(TURNS));
    for _ in 0..TURNS {
        ordinary.push(timed_after(ORDINARY_NS, || {
            std::hint::black_box(chain_ns());
        }));
        wide.push(timed_after(WIDE_NS, work));
    }
    let [ordinary_ns, wide_ns] =
        [ordinary, wide].map(|mut all| quartiles(&mut all).unwrap_or_default());
    Ok(Wide { vectors, ordinary_ns, wide_ns })
}

fn timed_after(length_ns: u64, work: impl Fn()) -> u64 {
    let end_ns = monotonic_ns() + length_ns;
    while monotonic_ns() < end_ns {
        work();
    }
    chain_ns()
}

fn widest() -> Option<(&'static str, fn())> {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the processor has just reported the instructions.
        return Some(("AVX-512", || unsafe { multiply_512() }));
    } else if is_x86_feature_detected!("fma") {
        // SAFETY: as above.
        return Some(("AVX2", || unsafe { multiply_256() }));
    }
    None
}

/// Makes some microseconds of multiplications and additions, as many at once as a core can do. The
/// lanes are hidden from the compiler, which would otherwise compute equal ones once.
#[cfg(target_arch = "x86_64")]
macro_rules! multiply {
    ($name:ident, $feature:literal, $splat:ident, $multiply_add:ident) => {
        #[target_feature(enable = $feature)]
        fn $name() {
            use std::arch::x86_64::{$multiply_add, $splat};
            let (factor, summand) = ($splat(0.999), $splat(0.5));
            let mut lanes = std::hint::black_box([summand; 8]);
            for _ in 0..2000 {
                lanes = lanes.map(|lane| $multiply_add(lane, factor, summand));
            }
            std::hint::black_box(lanes);
        }
    };
}

#[cfg(target_arch = "x86_64")]
multiply!(multiply_512, "avx512f", _mm512_set1_pd, _mm512_fmadd_pd);
#[cfg(target_arch = "x86_64")]
multiply!(multiply_256, "fma,avx", _mm256_set1_pd, _mm256_fmadd_pd);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_is_timed_after_both_kinds_of_work() {
        let cpu = tiebreak_machine::cpus::allowed()[0];
        match clock_after(cpu) {
            Ok(wide) => {
                assert!(wide.ordinary_ns.is_sorted() && wide.wide_ns.is_sorted(), "{wide:?}");
                assert!(wide.ordinary_ns[0] > 0 && wide.wide_ns[0] > 0, "{wide:?}");
            }
            Err(error) => assert!(error.contains("no vectors"), "{error}"),
        }
        assert!(clock_after(8191).is_err());
    }

    #[test]
    fn a_longer_chain_is_a_lower_clock() {
        let wide = Wide { vectors: "", ordinary_ns: [8, 9, 10], wide_ns: [11, 12, 13] };
        assert_eq!(wide.clock_share(), 0.75);
    }
}
