//! The published strided copy (Lemire 2023): of an array of 32 MiB, every so many bytes one is
//! copied to another array, at 497 strides, ten times in a row at each.

use crate::clock::monotonic_ns;
use crate::probes::Budget;
use crate::probes::batches::quantile;
use crate::probes::mapped::{Mapped, Pages, SMALL_PAGE};
use std::ops::RangeInclusive;
use std::time::{Duration, Instant};

/// Bytes of each array, as published. Where caches hold more than that, so they do there.
const BYTES: usize = 32 << 20;
/// The strides, as published.
const STRIDES: RangeInclusive<usize> = 16..=512;
/// Those that the published rule is about, in the order in which they are measured.
const OF_THE_RULE: [usize; 9] = [64, 129, 128, 257, 32, 65, 16, 33, 256];
/// Passes over the array at each stride, as published.
const PASSES: usize = 10;

/// The copy at one stride.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Bytes from one byte that is copied to the next.
    pub stride_bytes: u64,
    /// Time of one byte that is copied: the median of the passes.
    pub copied_ns: f64,
    /// The first and the third quartile of the passes.
    pub spread_ns: [f64; 2],
}

/// Measures the strides, those of the rule first and the others scattered, as far as the time goes.
///
/// # Errors
/// There is no memory for the arrays.
pub(super) fn measure(
    memory_bytes: u64,
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<Vec<Point>, String> {
    let begin = Instant::now();
    if memory_bytes < 2 * BYTES as u64 {
        let mib = BYTES >> 20;
        return Err(format!("two arrays of {mib} MiB are too much for the memory that is free"));
    }
    let [from, to] = [(); 2].map(|()| Mapped::new(BYTES, Pages::AsGiven));
    let (from, to) = (from.map_err(said)?, to.map_err(said)?);
    if !touch([&from, &to], BYTES, budget) {
        return Ok(Vec::new());
    }
    let mut strides: Vec<usize> = STRIDES.collect();
    // 499 is a prime above their number: neighbours are far apart, so that a short look has some of
    // every part and a slow moment hits no range of them.
    strides.sort_by_key(|stride| {
        let place = OF_THE_RULE.iter().position(|first| first == stride);
        (place.unwrap_or(OF_THE_RULE.len()), stride * 101 % 499)
    });
    let mut points = Vec::new();
    for stride in strides {
        let mut passes_ps = Vec::new();
        while passes_ps.len() < PASSES && begin.elapsed() < length && !budget.is_spent() {
            passes_ps.push(pass_ps(&from, &to, stride));
        }
        if passes_ps.len() < PASSES {
            break;
        }
        // No time has passed on a clock of coarse steps: that tells nothing.
        let mut ns = |share| Some(quantile(&mut passes_ps, share)? as f64 / 1000.0);
        let quartiles = [0.25, 0.5, 0.75].map(&mut ns);
        if let [Some(low), Some(copied_ns), Some(high)] = quartiles
            && copied_ns > 0.0
        {
            let spread_ns = [low, high];
            points.push(Point { stride_bytes: stride as u64, copied_ns, spread_ns });
        }
        budget.tell(0.0);
    }
    points.sort_by_key(|point| point.stride_bytes);
    Ok(points)
}

fn said(error: std::io::Error) -> String {
    format!("no memory for the arrays: {error}")
}

/// Gives every page its memory; whether the budget lasted.
fn touch(both: [&Mapped; 2], bytes: usize, budget: &Budget<'_>) -> bool {
    for page in (0..bytes).step_by(SMALL_PAGE) {
        for mapped in both {
            // SAFETY: the address lies within the mapping, which nobody else has.
            unsafe { mapped.at(page).write(page as u8) };
        }
        if page % (4 << 20) == 0 && budget.is_spent() {
            return false;
        }
    }
    true
}

/// Picoseconds a byte that is copied, of one pass over the array.
fn pass_ps(from: &Mapped, to: &Mapped, stride: usize) -> u64 {
    let copied = BYTES.div_ceil(stride);
    let begin = monotonic_ns();
    // SAFETY: both mappings have so many bytes, and they do not overlap.
    unsafe { copy(from.at(0), to.at(0), BYTES, stride) };
    (monotonic_ns() - begin) * 1000 / copied as u64
}

/// `for (i = 0; i < size; i += stride) to[i] = from[i]`, as published. Volatile, so that no
/// compiler makes something else of it; for each stride it is the same code.
///
/// # Safety
/// `size` bytes at `from` can be read, and at `to` be written.
#[inline(never)]
unsafe fn copy(from: *const u8, to: *mut u8, size: usize, stride: usize) {
    let mut i = 0;
    while i < size {
        // SAFETY: `i` is below the size that the caller vouches for.
        unsafe { to.add(i).write_volatile(from.add(i).read_volatile()) };
        i += stride;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn every_so_many_bytes_are_copied() {
        let from: Vec<u8> = (0..1000).map(|i| (i % 250) as u8 + 1).collect();
        for stride in [1, 2, 3, 64, 127, 999, 1000, 2000] {
            let mut to = vec![0; 1000];
            // SAFETY: both are as long as said.
            unsafe { copy(from.as_ptr(), to.as_mut_ptr(), 1000, stride) };
            for (i, byte) in to.iter().enumerate() {
                assert_eq!(*byte, if i % stride == 0 { from[i] } else { 0 });
            }
        }
    }

    #[test]
    fn strides_in_order_or_nothing() {
        let flag = AtomicBool::new(false);
        let mut quiet = |_| ();
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let most = Duration::from_millis(500);
        let points = measure(1 << 30, most, &mut budget).unwrap();
        assert!(points.is_sorted_by_key(|point| point.stride_bytes));
        assert!(points.iter().all(|point| point.copied_ns > 0.0));
        assert!(measure(32 << 20, most, &mut budget).unwrap_err().contains("two arrays of 32 MiB"));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        assert_eq!(measure(1 << 30, Duration::from_secs(3600), &mut budget), Ok(Vec::new()));
        assert_eq!(STRIDES.count(), 497);
    }
}
