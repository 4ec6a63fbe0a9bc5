//! The windows of time in which all threads ran together, and what each did in them.
//!
//! The sum of the rates of threads on their own is no bandwidth: on a busy machine they take turns,
//! and each is alone with the memory while the others wait for a CPU (the result was 1.8 times too
//! high). The time from the first start to the last end includes the waits (3 to 6 times too low).
//! So time is cut into windows, and only those count in which no thread had a gap.

use super::*;

/// The log of a thread: the moments between its chunks, all of one size.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Log {
    /// When the first chunk began, and when each of them ended, in nanoseconds.
    pub stamps: Vec<u64>,
    /// Size of a chunk: bytes, or loads.
    pub chunk: u64,
}

impl Log {
    /// A chunk has a gap, because the CPU was lost, if it takes longer than this multiple of one of
    /// the shortest, plus these nanoseconds. A tick of the kernel's clock alone takes less.
    const GAP: (u64, u64) = (3, 20_000);

    /// With fewer chunks, each may have a gap, and then none shows.
    const LEAST: usize = 8;

    /// Returns the length from which on a chunk has a gap; `None` with too few chunks. On a busy
    /// machine most chunks may have one, so the first decile is the measure, not the median.
    fn gap_ns(&self) -> Option<u64> {
        let mut lengths: Vec<u64> =
            self.stamps.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        let (times, beyond_ns) = Log::GAP;
        let decile = quantile(&mut lengths, 0.1).filter(|_| lengths.len() >= Log::LEAST)?;
        Some(decile * times + beyond_ns)
    }

    /// Returns the work between two moments; `None` if there was a gap, or if the log does not
    /// cover all of the time.
    fn done(&self, from_ns: u64, to_ns: u64, gap_ns: u64) -> Option<f64> {
        let first = self.stamps.partition_point(|stamp| *stamp <= from_ns).checked_sub(1)?;
        let mut done = 0.0;
        for pair in self.stamps[first..].windows(2) {
            let (start, end) = (pair[0], pair[1]);
            if end - start > gap_ns {
                return None;
            }
            let overlap = end.min(to_ns).saturating_sub(start.max(from_ns));
            done += self.chunk as f64 * overlap as f64 / (end - start).max(1) as f64;
            if end >= to_ns {
                return Some(done);
            }
        }
        None
    }
}

/// The windows of a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Windows {
    /// For each that was kept, the work of each thread in it, in the order of the logs.
    pub kept: Vec<Vec<f64>>,
    /// The number of windows, kept or not.
    pub seen: u64,
}

/// Cuts the time from the last first stamp to the first last one into windows. Cost: linear.
pub(super) fn common(logs: &[Log], window_ns: u64) -> Windows {
    let mut windows = Windows::default();
    let gaps: Option<Vec<u64>> = logs.iter().map(Log::gap_ns).collect();
    let start = logs.iter().filter_map(|log| log.stamps.first().copied()).max();
    let end = logs.iter().filter_map(|log| log.stamps.last().copied()).min();
    let (Some(gaps), Some(mut at), Some(end)) = (gaps, start, end) else { return windows };
    while at + window_ns <= end {
        let done = logs.iter().zip(&gaps).map(|(log, gap)| log.done(at, at + window_ns, *gap));
        windows.kept.extend(done.collect::<Option<Vec<f64>>>());
        windows.seen += 1;
        at += window_ns;
    }
    windows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chunks of 10 bytes that end at these moments, in microseconds.
    fn log(stamps: &[u64]) -> Log {
        Log { stamps: stamps.iter().map(|us| us * 1000).collect(), chunk: 10 }
    }

    fn every(step: u64, from: u64, to: u64) -> Vec<u64> {
        (from..=to).step_by(step as usize).collect()
    }

    #[test]
    fn only_windows_in_which_all_ran_are_kept() {
        fn check(other: &Log, kept: usize, seen: u64, done: f64) {
            let steady = log(&every(10, 0, 400));
            let windows = common(&[steady, other.clone()], 100_000);
            assert_eq!((windows.kept.len(), windows.seen), (kept, seen), "{other:?}");
            for window in windows.kept {
                assert!((window[0] - 100.0).abs() < 1e-9 && (window[1] - done).abs() < 1e-9);
            }
        }
        // Half as fast, and its chunks end in the middle of the other's.
        check(&log(&every(20, 0, 400)), 4, 4, 50.0);
        // It lost its CPU from 150 to 250, and for as long as a window.
        let gap = [every(10, 0, 150), every(10, 250, 400)].concat();
        check(&log(&gap), 2, 4, 100.0);
        // It came late and went early.
        check(&log(&every(10, 120, 340)), 2, 2, 100.0);
        check(&log(&[]), 0, 0, 0.0);
        check(&log(&[50]), 0, 0, 0.0);
        // Each of its chunks waited for the CPU: that is no rate.
        check(&log(&every(100, 0, 400)), 0, 0, 0.0);
        // Most of them did.
        let most = [every(10, 0, 40), every(60, 100, 400)].concat();
        check(&log(&most), 0, 4, 0.0);
    }

    #[test]
    fn threads_that_take_turns_have_no_common_window() {
        fn turns(first: u64) -> Log {
            let stamps =
                (0..4).flat_map(|turn| every(10, first + turn * 200, first + turn * 200 + 90));
            log(&stamps.collect::<Vec<_>>())
        }
        let windows = common(&[turns(0), turns(100)], 50_000);
        assert!(windows.seen > 8);
        assert_eq!(windows.kept.len(), 0);
    }

    #[test]
    fn no_logs_give_no_windows() {
        assert_eq!(common(&[], 100), Windows::default());
    }
}
