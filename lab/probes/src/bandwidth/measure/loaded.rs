//! Latency under load: one thread follows pointers while more and more of the others read.

use super::*;
use crate::tools::chase::{Cycle, SLOT, place_packed};
use std::sync::Mutex;

/// The numbers of threads that read, as shares of all other threads.
const SHARES: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
/// Wanted number of rounds.
const ROUNDS: u32 = 8;
/// The part of the time that making the chain of pointers may take.
const CHAIN_PART: u32 = 2;
/// Loads between two looks at the clock.
const LOADS: u64 = 128;

/// Observations at a level of load: for each window the bytes per second, and the picoseconds of a
/// load.
#[derive(Clone, Debug, Default, PartialEq)]
struct Level {
    threads: usize,
    bytes_per_s: Vec<u64>,
    latency_ps: Vec<u64>,
}

/// Measures until only the reserve is left. The first thread's pointers are spread over four times
/// what the caches hold, or over as many bytes as there is memory and time for, while the others
/// read. Returns the levels of load with enough windows.
///
/// # Errors
/// The pointers lie in less than twice what the caches hold, in a sentence.
pub(super) fn measure(
    hands: &Hands<'_>,
    budget: &mut Budget<'_>,
    reserve: Duration,
) -> Result<Vec<LoadedLatency>, String> {
    let time = budget.left().saturating_sub(reserve);
    if time <= LENGTH.0 {
        return Ok(Vec::new());
    }
    let Setup { cpus, buffer_bytes, cache_bytes, .. } = hands.setup;
    let bytes = buffer_bytes.min(4 * cache_bytes);
    let mapped = Mapped::new(bytes, Pages::Huge).map_err(|error| error.to_string())?;
    let pinned = Pinned::to(cpus[0]);
    let mut cycle = Cycle::new(&mapped, place_packed, 1);
    let mut quiet = drop::<f64>;
    cycle.grow(bytes / SLOT, &Budget::new(time / CHAIN_PART, budget.interrupted(), &mut quiet));
    drop(pinned);
    far_enough(cycle.slots() * SLOT, cache_bytes)?;
    let cycle = Mutex::new(cycle);
    let time = budget.left().saturating_sub(reserve);
    let others = cpus.len() - 1;
    let counts = BTreeSet::from(SHARES.map(|share| (share * others as f64).ceil() as usize));
    let length = (time / (ROUNDS * counts.len() as u32)).clamp(LENGTH.0, LENGTH.1);
    let mut levels: Vec<Level> =
        counts.into_iter().map(|threads| Level { threads, ..Level::default() }).collect();
    in_turns(&mut levels, budget, reserve + length, |level| {
        level.add(&hands.run(1 + level.threads, |index, hand| {
            if index > 0 {
                return hand.stream(Traffic::Read, length);
            }
            let mut cycle = hands::lock(&cycle);
            hand.chunks(LOADS as usize, length, |_| {
                cycle.batch_ns(LOADS);
            });
        }));
    });
    Ok(levels.into_iter().filter_map(|level| level.found(others)).collect())
}

fn far_enough(chased_bytes: usize, cache_bytes: usize) -> Result<(), String> {
    let (chased, cache) = (chased_bytes >> 20, cache_bytes >> 20);
    let why = format!(
        "there was time for pointers over {chased} MiB, less than twice the {cache} MiB of the \
         caches"
    );
    if chased_bytes < 2 * cache_bytes { Err(why) } else { Ok(()) }
}

impl Level {
    fn add(&mut self, windows: &Windows) {
        for done in &windows.kept {
            let bytes: f64 = done[1..].iter().sum();
            self.bytes_per_s.push((bytes * 1e9 / WINDOW_NS as f64) as u64);
            self.latency_ps.push((WINDOW_NS as f64 * 1e3 / done[0].max(1.0)) as u64);
        }
    }

    /// Returns the medians over all windows; `None` if those are too few.
    fn found(mut self, others: usize) -> Option<LoadedLatency> {
        let parts_ps = parts(&self.latency_ps, 0.5, LEAST_WINDOWS);
        let quartiles = quartiles(&mut self.latency_ps)?.map(|ps| ps as f64 / 1e3);
        let found = LoadedLatency {
            threads: self.threads as u32,
            asked_share: self.threads as f64 / others as f64,
            bytes_per_s: quantile(&mut self.bytes_per_s, 0.5)? as f64,
            latency_ns: quartiles[1],
            spread_ns: Some([quartiles[0], quartiles[2]]),
            parts_ns: parts_ps.into_iter().map(|ps| ps as f64 / 1e3).collect(),
            windows_kept: self.latency_ps.len() as u64,
        };
        Some(found).filter(|_| self.latency_ps.len() >= LEAST_WINDOWS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pointers_that_lie_in_caches_say_so() {
        assert!(far_enough(16 << 20, 16 << 20).unwrap_err().contains("pointers over 16 MiB"));
        assert_eq!(far_enough(32 << 20, 16 << 20), Ok(()));
    }

    #[test]
    fn a_level_is_the_median_of_its_windows() {
        let mut level = Level { threads: 1, ..Level::default() };
        let kept: Vec<Vec<f64>> =
            [5000.0, 10_000.0, 8000.0, 1.0, 10_000.0].map(|loads| vec![loads, 1e6, 3e6]).to_vec();
        level.add(&Windows { kept: kept[..3].to_vec(), seen: 9 });
        assert_eq!(level.clone().found(2), None);
        level.add(&Windows { kept: kept[3..].to_vec(), seen: 2 });
        let found = level.found(2).unwrap();
        assert_eq!((found.threads, found.asked_share), (1, 0.5));
        assert_eq!((found.latency_ns, found.bytes_per_s, found.windows_kept), (62.5, 8e9, 5));
        assert_eq!(found.spread_ns, Some([50.0, 100.0]));
        assert_eq!(Level::default().found(2), None);
    }
}
