//! False sharing: two CPUs increment two words at a distance. On one line they wait for each other.

use crate::SharingPoint;
use crate::tools::*;

/// Bytes between the two words.
const DISTANCES: [usize; 8] = [8, 16, 32, 64, 128, 256, 512, 1024];
/// Both threads go from one distance to the next when the clock says so, and need not meet.
const SLICE_NS: u64 = 500_000;
/// Increments in a batch.
const BATCH: u64 = 128;
/// A batch during which a thread did not run says nothing; it takes much longer than others.
const MOST_BATCHES: usize = 100_000;

/// Measures on two CPUs, for so long.
///
/// # Errors
/// Why nothing was seen: a thread could not be pinned, there is no memory, or the two never ran at
/// the same time.
pub(super) fn measure(
    pair: [usize; 2],
    length: Duration,
    budget: &mut Budget<'_>,
) -> Result<Vec<SharingPoint>, String> {
    let mapped = Mapped::new(4 * SMALL_PAGE, Pages::Small).map_err(|error| error.to_string())?;
    let interrupted = budget.interrupted();
    let length = length.min(budget.left());
    let begin = monotonic_ns();
    let end = begin + length.as_nanos() as u64;
    let both = together(&pair, |place| {
        let side = Side::new(&mapped, place.index);
        side.run(begin, end, interrupted)
    });
    let mut both = both.map_err(|error| error.to_string())?;
    let mut points = Vec::new();
    for (index, distance) in DISTANCES.iter().enumerate() {
        let mut all: Vec<u64> = both.iter_mut().flat_map(|side| side[index].drain(..)).collect();
        let batches = all.len() as u64;
        points.extend(quantile(&mut all, 0.5).map(|median| SharingPoint {
            distance_bytes: *distance as u64,
            increment_ns: median as f64 / BATCH as f64,
            batches,
        }));
    }
    if points.is_empty() {
        Err("the two CPUs never ran at the same time".to_owned())
    } else {
        Ok(points)
    }
}

/// One of the two threads.
struct Side<'a> {
    mapped: &'a Mapped,
    index: usize,
    /// Counts own batches, for the other to see.
    own: &'a AtomicU64,
    other: &'a AtomicU64,
}

impl<'a> Side<'a> {
    fn new(mapped: &'a Mapped, index: usize) -> Side<'a> {
        let [own, other] = [1 + index, 2 - index].map(|page| word(mapped, page * SMALL_PAGE));
        Side { mapped, index, own, other }
    }

    /// Batches of each distance during which the other thread went on.
    fn run(&self, begin: u64, end: u64, interrupted: &AtomicBool) -> [Vec<u64>; DISTANCES.len()] {
        let mut batches = [const { Vec::new() }; DISTANCES.len()];
        loop {
            let now = monotonic_ns();
            if now >= end || interrupted.load(Ordering::Relaxed) {
                return batches;
            }
            let slice = (now - begin.min(now)) / SLICE_NS;
            let at = (slice % DISTANCES.len() as u64) as usize;
            let target = word(self.mapped, self.index * DISTANCES[at]);
            let seen = self.other.load(Ordering::Relaxed);
            let start = monotonic_ns();
            for _ in 0..BATCH {
                target.fetch_add(1, Ordering::Relaxed);
            }
            let stop = monotonic_ns();
            self.own.fetch_add(1, Ordering::Relaxed);
            let went_on = self.other.load(Ordering::Relaxed) != seen;
            let same_slice = (stop - begin) / SLICE_NS == slice;
            if went_on && same_slice && batches[at].len() < MOST_BATCHES {
                batches[at].push(stop - start);
            }
        }
    }
}

fn word(mapped: &Mapped, offset: usize) -> &AtomicU64 {
    // SAFETY: the offset is a multiple of 8 within the mapping, which outlives the reference, and
    // all that use it use atomics.
    unsafe { AtomicU64::from_ptr(mapped.at(offset).cast()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_machine::cpus;

    #[test]
    fn two_cpus_share_or_say_why_not() {
        let flag = AtomicBool::new(false);
        let mut quiet = |_| ();
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
