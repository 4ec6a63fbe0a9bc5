//! The published strided copy: of a large array, every so many bytes one is copied to another one.

use crate::clock::monotonic_ns;
use crate::probes::Budget;
use crate::probes::batches::quantile;
use crate::probes::mapped::{Mapped, Pages, SMALL_PAGE};
use std::time::{Duration, Instant};

/// A batch copies from a window of this size.
const WINDOW: usize = 256 << 10;
/// Windows of a stride in one go.
const IN_A_ROW: usize = 8;
/// Each array has this size, so that nothing of it is in a cache when its turn comes again.
const MOST_BYTES: usize = 64 << 20;

/// The copy at one stride.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Bytes from one byte that is copied to the next.
    pub stride_bytes: u64,
    /// Time of one byte that is copied: the first quartile of windows, because others who use the
    /// memory make the rest slower.
    pub copied_ns: f64,
    /// Windows.
    pub windows: u64,
}

/// Measures strides 1 to 260 and a few longer ones, for so long.
///
/// # Errors
/// There is no memory for the arrays.
pub(super) fn measure(
    memory_bytes: u64,
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<Vec<Point>, String> {
    let begin = Instant::now();
    let bytes = MOST_BYTES.min((memory_bytes / 2) as usize).max(4 << 20) / WINDOW * WINDOW;
    let [from, to] = [(); 2].map(|()| Mapped::new(bytes, Pages::Small));
    let (from, to) = (from.map_err(said)?, to.map_err(said)?);
    if !touch([&from, &to], bytes, budget) {
        return Ok(Vec::new());
    }
    let strides: Vec<usize> = (1..=260).chain([320, 384, 385, 511, 512, 513]).collect();
    let mut batches_ps: Vec<Vec<u64>> = vec![Vec::new(); strides.len()];
    // Neighbours in the list are measured far apart, so that a slow moment hits no range of them.
    let mut order: Vec<usize> = (0..strides.len()).collect();
    order.sort_by_key(|index| index * 101 % 257);
    let mut window = 0;
    while begin.elapsed() < length && !budget.is_spent() {
        for &index in &order {
            for _ in 0..IN_A_ROW {
                let ps = copy_window(&from, &to, window * WINDOW, strides[index]);
                batches_ps[index].push(ps);
                window = (window + 1) % (bytes / WINDOW);
            }
            if budget.is_spent() {
                break;
            }
        }
        budget.tell(0.0);
    }
    let point = |(stride, batches): (&usize, &mut Vec<u64>)| {
        // No time has passed on a clock of coarse steps: that tells nothing.
        let copied_ps = quantile(batches, 0.25).filter(|ps| *ps > 0)?;
        let copied_ns = copied_ps as f64 / 1000.0;
        Some(Point { stride_bytes: *stride as u64, copied_ns, windows: batches.len() as u64 })
    };
    Ok(strides.iter().zip(&mut batches_ps).filter_map(point).collect())
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

/// Picoseconds a byte that is copied. A window starts where the stride's last step would not, which
/// is no matter to lines.
fn copy_window(from: &Mapped, to: &Mapped, offset: usize, stride: usize) -> u64 {
    let copied = WINDOW.div_ceil(stride);
    let begin = monotonic_ns();
    // SAFETY: both windows lie within their mappings, which do not overlap.
    unsafe { copy(from.at(offset), to.at(offset), WINDOW, stride) };
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
        let mut budget = Budget::new(Duration::from_millis(500), &flag, &mut quiet);
        let points = measure(8 << 20, Duration::from_secs(3600), &mut budget).unwrap();
        assert!(points.is_sorted_by_key(|point| point.stride_bytes));
        assert!(points.iter().all(|point| point.copied_ns > 0.0 && point.windows > 0));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        assert_eq!(measure(8 << 20, Duration::from_secs(3600), &mut budget), Ok(Vec::new()));
    }
}
