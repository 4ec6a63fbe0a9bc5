//! Two ways to see a line by flushing, where any program may flush.
//!
//! 1. Flushed together: two addresses are loaded, the first is flushed, the second is timed. It is
//!    slow if it was flushed along with the first. No prefetcher has a part in it.
//! 2. Loaded together: both are flushed, the first is loaded, the second is timed. It is fast if it
//!    came along with the first: on its line, or fetched ahead.

use crate::FlushPoint;
use crate::timers::measure::ticks;
use crate::tools::{chase::flush, *};

/// The flushed lines lie in this much memory, a page for each try.
const BYTES: usize = 8 << 20;
/// The tried offsets. A length of `n` bytes shows between `n - 1` and `n`.
const OFFSETS: [usize; 32] = [
    1, 7, 8, 15, 16, 24, 31, 32, 40, 48, 56, 63, 64, 72, 96, 127, 128, 160, 191, 192, 255, 256,
    320, 383, 384, 511, 512, 768, 1023, 1024, 1536, 2048,
];
/// Loads in a row at one offset: a look at the budget costs more than a load.
const ROW: usize = 16;
/// Pairs of a load that hits and one that misses, by which the threshold is set.
const CALIBRATION: usize = 400;
/// Least ratio of the time of a miss to that of a hit, timer included.
const CLEARLY: u64 = 2;

/// Returns what has passed, in ticks or in nanoseconds.
type Clock = fn() -> u64;

/// Measures both ways in turns, for a length of time: after the start of a line was flushed, and
/// after it was loaded; near offsets first.
///
/// # Errors
/// No program may flush, there is no memory, or a miss takes about as long as a hit.
pub(super) fn measure(
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<[Vec<FlushPoint>; 2], String> {
    let begin = Instant::now();
    let mapped = Mapped::new(BYTES, Pages::Small).map_err(|error| error.to_string())?;
    for page in (0..BYTES).step_by(SMALL_PAGE) {
        // SAFETY: the address lies within the mapping, which belongs to this function alone.
        unsafe { mapped.at(page).write(1) };
    }
    let clock = if ticks::is_there() { fenced_ticks } else { monotonic_ns };
    let threshold = threshold(&mapped, clock)?;
    let empty =
        OFFSETS.map(|offset| FlushPoint { offset_bytes: offset as u64, ..FlushPoint::default() });
    let mut points = [empty; 2];
    let mut random = Random::new(1);
    while begin.elapsed() < length && !budget.is_spent() {
        let pick = random.below(OFFSETS.len());
        for round in 0..2 * ROW {
            let page = random.below(BYTES / SMALL_PAGE) * SMALL_PAGE;
            let [first, second] = [page, page + OFFSETS[pick]].map(|at| mapped.at(at).cast_const());
            if round % 2 == 0 {
                load_time(first, clock);
                load_time(second, clock);
                // SAFETY: the address lies in the mapping.
                unsafe { flush(&[first]) };
            } else {
                // SAFETY: as above.
                unsafe { flush(&[first, second]) };
                load_time(first, clock);
            }
            let time = load_time(second, clock);
            let point = &mut points[round % 2][pick];
            point.loads += 1;
            point.slow += u64::from(time > threshold);
        }
    }
    budget.tell(0.0);
    for point in points.as_flattened_mut() {
        point.slow_share = point.slow as f64 / point.loads as f64;
    }
    Ok(points.map(|points| points.into_iter().filter(|point| point.loads > 0).collect()))
}

/// Times the load of one byte, with the clock's own time. Where [`monotonic_ns`] is a system call,
/// that takes longer than a miss; only ticks tell the two apart there.
fn load_time(at: *const u8, clock: Clock) -> u64 {
    let begin = clock();
    // SAFETY: `at` lies in a mapping that `measure` owns.
    unsafe { at.read_volatile() };
    clock().saturating_sub(begin)
}

/// Returns ticks, after all loads before them and before all loads after them.
fn fenced_ticks() -> u64 {
    let ticks = ticks::now_in_order();
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 CPU has the fence.
    unsafe {
        std::arch::x86_64::_mm_lfence();
    }
    ticks
}

/// Returns the geometric mean of the medians of a hit and of a miss.
fn threshold(mapped: &Mapped, clock: Clock) -> Result<u64, String> {
    let (mut hits, mut misses) = (Vec::new(), Vec::new());
    let mut random = Random::new(7);
    for _ in 0..CALIBRATION {
        let at = mapped.at(random.below(mapped.bytes() / SMALL_PAGE) * SMALL_PAGE).cast_const();
        // SAFETY: the address lies in the mapping.
        if !unsafe { flush(&[at]) } {
            return Err("no program may flush a line on this architecture".to_owned());
        }
        misses.push(load_time(at, clock));
        hits.push(load_time(at, clock));
    }
    let [hit, miss] = [&mut hits, &mut misses].map(|all| quantile(all, 0.5).unwrap_or(0));
    if hit == 0 || miss < CLEARLY * hit {
        return Err(format!("a flushed line took {miss} steps of the clock, another one {hit}"));
    }
    Ok(((hit as f64) * (miss as f64)).sqrt() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offsets_stay_on_their_page() {
        assert!(OFFSETS.is_sorted() && OFFSETS[OFFSETS.len() - 1] < SMALL_PAGE);
        // A length that is a power of two shows to the byte.
        for line in [8, 16, 32, 64, 128, 256, 512, 1024] {
            assert!(OFFSETS.contains(&(line - 1)) && OFFSETS.contains(&line));
        }
    }
}
