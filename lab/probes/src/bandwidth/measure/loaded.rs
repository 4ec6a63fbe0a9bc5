//! Latency beside bandwidth: one thread follows pointers while the others read, in turns without a
//! load, with a brake, and without one.

use super::*;

/// The load that is asked for, as a share of what the other threads can read.
const ASKED: [f64; 7] = [0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0];
/// Wanted number of rounds.
const ROUNDS: u32 = 8;
/// The part of the time that pointers may take.
const WEAVE_PART: u32 = 2;

/// Observations at a level of load: for each window the bytes per second, and the picoseconds of a
/// load.
#[derive(Clone, Debug, Default, PartialEq)]
struct Level {
    bytes_per_s: Vec<u64>,
    latency_ps: Vec<u64>,
}

/// Measures until only the reserve is left. The first thread's pointers are spread over `bytes`, or
/// over as many as there is time for, and `others` threads read. Returns the levels of load with
/// enough windows, and over how many bytes the pointers are spread.
pub(super) fn measure(
    team: &Team,
    bytes: usize,
    others: usize,
    budget: &mut Budget<'_>,
    reserve: Duration,
) -> (Vec<LoadedLatency>, u64) {
    if budget.left() <= reserve + LENGTH.0 {
        return (Vec::new(), 0);
    }
    let for_pointers = budget.left().saturating_sub(reserve) / WEAVE_PART;
    let woven = team.run(&[Job::Weave(bytes)], true, for_pointers);
    let chased_bytes = woven.first().map_or(0, |log| log.chunk);
    if chased_bytes == 0 {
        return (Vec::new(), 0);
    }
    let time = budget.left().saturating_sub(reserve);
    let length = (time / (ROUNDS * ASKED.len() as u32)).clamp(LENGTH.0, LENGTH.1);
    let mut levels = vec![Level::default(); ASKED.len()];
    // The first stretch is without a brake and shows what can be asked for.
    let mut full = None;
    'rounds: loop {
        for index in (0..ASKED.len()).rev() {
            if budget.left() <= reserve + length {
                break 'rounds;
            }
            let Some(jobs) = jobs(ASKED[index], others, full) else { continue };
            levels[index].add(&common(&team.run(&jobs, true, length), WINDOW_NS));
            if index == ASKED.len() - 1 {
                full = quantile(&mut levels[index].bytes_per_s, 0.5);
            }
            budget.tell(0.0);
        }
    }
    let levels = levels.into_iter().zip(ASKED);
    (levels.filter_map(|(level, asked)| level.found(asked, others)).collect(), chased_bytes)
}

/// Returns the job of each thread; `None` if it is not known yet how much can be asked for.
fn jobs(asked: f64, others: usize, full: Option<u64>) -> Option<Vec<Job>> {
    let other = match asked {
        0.0 => return Some(vec![Job::Chase]),
        1.0 => Job::Stream(Traffic::Read),
        share => {
            let wanted = full.filter(|full| *full > 0)? as f64 * share / others as f64;
            Job::Trickle((PIECE_BYTES as f64 / wanted * 1e9) as u64)
        }
    };
    Some([Job::Chase].into_iter().chain(std::iter::repeat_n(other, others)).collect())
}

impl Level {
    fn add(&mut self, windows: &Windows) {
        for done in &windows.kept {
            let Some((loads, bytes)) = done.split_first() else { continue };
            let bytes: f64 = bytes.iter().sum();
            self.bytes_per_s.push((bytes * 1e9 / WINDOW_NS as f64) as u64);
            self.latency_ps.push((WINDOW_NS as f64 * 1e3 / loads.max(1.0)) as u64);
        }
    }

    /// Returns the medians over all windows; `None` if those are too few.
    fn found(mut self, asked_share: f64, others: usize) -> Option<LoadedLatency> {
        let windows_kept = self.latency_ps.len() as u64;
        let parts = parts(&self.latency_ps, 0.5, LEAST_WINDOWS);
        let [low, latency, high] = [0.25, 0.5, 0.75]
            .map(|share| quantile(&mut self.latency_ps, share).map(|ps| ps as f64 / 1e3));
        (windows_kept >= LEAST_WINDOWS as u64).then_some(LoadedLatency {
            threads: if asked_share > 0.0 { others as u32 } else { 0 },
            asked_share,
            bytes_per_s: quantile(&mut self.bytes_per_s, 0.5)? as f64,
            latency_ns: latency?,
            spread_ns: Some([low?, high?]),
            parts_ns: parts.into_iter().map(|ps| ps as f64 / 1e3).collect(),
            windows_kept,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brake_asks_for_a_share() {
        assert_eq!(jobs(0.0, 3, None), Some(vec![Job::Chase]));
        assert_eq!(jobs(0.5, 3, None), None);
        let read = Job::Stream(Traffic::Read);
        assert_eq!(jobs(1.0, 2, None), Some(vec![Job::Chase, read, read]));
        // Two threads at half of 32 GB/s: each reads 16 KiB in 2048 ns.
        let trickle = Job::Trickle(2048);
        assert_eq!(jobs(0.5, 2, Some(32_000_000_000)), Some(vec![Job::Chase, trickle, trickle]));
    }

    #[test]
    fn a_level_is_the_median_of_its_windows() {
        let mut level = Level::default();
        let kept: Vec<Vec<f64>> =
            [5000.0, 10_000.0, 8000.0, 1.0, 10_000.0].map(|loads| vec![loads, 1e6, 3e6]).to_vec();
        level.add(&Windows { kept: kept[..3].to_vec(), seen: 9 });
        assert_eq!(level.clone().found(0.5, 2), None);
        level.add(&Windows { kept: kept[3..].to_vec(), seen: 2 });
        let found = level.found(0.5, 2).unwrap();
        assert_eq!((found.latency_ns, found.bytes_per_s, found.windows_kept), (62.5, 8e9, 5));
        assert_eq!(found.spread_ns, Some([50.0, 100.0]));
        assert_eq!(Level::default().found(0.0, 2), None);
    }
}
