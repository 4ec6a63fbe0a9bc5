//! How much the caches hold for a program: not what is advertised, but what is still there after
//! more was read.

use super::chase::{Cycle, MEMORY_SHARE, SLOT, place_apart};
use super::*;

/// The first data that is read; each further one is twice as large.
const FIRST: usize = 8 << 20;
/// How often each is read.
const TURNS: usize = 7;
/// The data is this many times as large as what the caches hold if a quarter of its loads, which
/// they answer, cost little.
const TIMES: u64 = 4;

/// Returns what the caches hold at most, in bytes: a quarter of the smallest data of which a load
/// takes about as long as a load of a flushed line, after all of it was read in order. Other
/// programs only make the loads of a turn slower, so the first quartile of the turns counts. `None`
/// where no program may flush, and if there is no such data of `most_bytes` or less, or not so
/// soon.
pub(crate) fn bytes(most_bytes: u64, end_ns: u64, budget: &Budget<'_>) -> Option<u64> {
    let most = most_bytes.min(8 << 30) as usize;
    let mapped = Mapped::new(most.max(FIRST), Pages::Huge).ok()?;
    // A line of each page: so few loads that they do not take out what they look for.
    let mut cycle = Cycle::new(&mapped, place_apart, 1);
    let (mut size, mut flushed_ps) = (FIRST, Vec::new());
    while size <= most && cycle.grow(size / SMALL_PAGE, budget) && monotonic_ns() < end_ns {
        let loads = (size / SMALL_PAGE) as u64;
        let mut seen_ps = Vec::new();
        for _ in 0..TURNS {
            for at in (0..size).step_by(SLOT) {
                // SAFETY: the address lies in the mapping, which only this function has; a volatile
                // load is never left out.
                unsafe { mapped.at(at).read_volatile() };
            }
            seen_ps.push(cycle.batch_ns(loads) * 1000 / loads);
            flushed_ps.push(cycle.flushed_ps()?);
        }
        let (seen, flushed) = (quantile(&mut seen_ps, 0.25)?, quantile(&mut flushed_ps, 0.5)?);
        if seen as f64 >= MEMORY_SHARE * flushed as f64 {
            return Some(size as u64 / TIMES);
        }
        size *= 2;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;
    use std::time::Duration;

    #[test]
    fn a_power_of_two_or_nothing() {
        let flag = AtomicBool::new(false);
        let mut quiet = |_| ();
        let budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let held = bytes(128 << 20, u64::MAX, &budget);
        assert!(held.is_none_or(|bytes| bytes.is_power_of_two() && bytes <= 32 << 20), "{held:?}");
        assert_eq!(bytes(128 << 20, 0, &budget), None, "no time");
        assert_eq!(bytes(1 << 20, u64::MAX, &budget), None, "no memory");
    }
}
