//! False sharing: two CPUs increment two words at a distance. On one line they wait for each other.

use crate::SharingPoint;
use crate::tools::*;

/// Bytes between the two words.
const DISTANCES: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
/// Both threads go from one distance to the next by the clock, and need not meet.
const SLICE_NS: u64 = 500_000;
/// Increments in a batch.
const BATCH: u64 = 128;
/// The most batches of a distance.
const MOST_BATCHES: usize = 100_000;

/// Measures on two CPUs, for a length of time.
///
/// # Errors
/// A thread could not be pinned, there is no memory, or the two never ran at the same time.
pub(super) fn measure(
    pair: [usize; 2],
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<Vec<SharingPoint>, String> {
    let mapped = Mapped::new(4 * SMALL_PAGE, Pages::Small).map_err(|error| error.to_string())?;
    let begin = monotonic_ns();
    let end = begin + length.min(budget.left()).as_nanos() as u64;
    let interrupted = budget.interrupted();
    let both = together(&pair, |place| batches_ns(&mapped, place.index, begin..end, interrupted));
    let both = both.map_err(|error| error.to_string())?;
    let points = DISTANCES.iter().enumerate().filter_map(|(index, distance)| {
        let mut all: Vec<u64> = both.iter().flat_map(|side| &side[index]).copied().collect();
        Some(SharingPoint {
            distance_bytes: *distance as u64,
            increment_ns: quantile(&mut all, 0.5)? as f64 / BATCH as f64,
            batches: all.len() as u64,
        })
    });
    let points: Vec<SharingPoint> = points.collect();
    let are_there = !points.is_empty();
    are_there.then_some(points).ok_or("the two CPUs never ran at the same time".to_owned())
}

/// Runs one of the two threads; returns the times of the batches of each distance during which the
/// other thread made progress. Each thread counts its batches in a word of its own page.
fn batches_ns(
    mapped: &Mapped,
    index: usize,
    time_ns: std::ops::Range<u64>,
    interrupted: &AtomicBool,
) -> [Vec<u64>; DISTANCES.len()] {
    let [own, other] = [1 + index, 2 - index].map(|page| word(mapped, page * SMALL_PAGE));
    let mut batches = [const { Vec::new() }; DISTANCES.len()];
    loop {
        let now = monotonic_ns();
        if now >= time_ns.end || interrupted.load(Ordering::Relaxed) {
            return batches;
        }
        let slice = now.saturating_sub(time_ns.start) / SLICE_NS;
        let at = (slice % DISTANCES.len() as u64) as usize;
        let target = word(mapped, index * DISTANCES[at]);
        let seen = other.load(Ordering::Relaxed);
        let start = monotonic_ns();
        for _ in 0..BATCH {
            target.fetch_add(1, Ordering::Relaxed);
        }
        let stop = monotonic_ns();
        own.fetch_add(1, Ordering::Relaxed);
        let other_ran = other.load(Ordering::Relaxed) != seen;
        let same_slice = (stop - time_ns.start) / SLICE_NS == slice;
        if other_ran && same_slice && batches[at].len() < MOST_BATCHES {
            batches[at].push(stop - start);
        }
    }
}

fn word(mapped: &Mapped, offset: usize) -> &AtomicU64 {
    // SAFETY: the offset is a multiple of 8 within the mapping, which outlives the reference, and
    // all accesses are atomic.
    unsafe { AtomicU64::from_ptr(mapped.at(offset).cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn two_cpus_share_or_say_why_not() {
        let flag = AtomicBool::new(false);
        let mut quiet = drop::<f64>;
        let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut quiet);
        let allowed = cpus::allowed();
        if let [first, second, ..] = allowed[..] {
            match measure([first, second], Duration::from_millis(300), &mut budget) {
                Err(why) => assert!(!why.is_empty()),
                Ok(points) => {
                    assert!(points.is_sorted_by_key(|point| point.distance_bytes));
                    assert!(points.iter().all(|p| p.increment_ns > 0.0 && p.batches > 0));
                }
            }
        }
        let wrong = measure([allowed[0], 8191], Duration::from_millis(1), &mut budget);
        assert!(wrong.is_err());
    }
}
