//! Watching on and on: the last minute of what disturbs this machine.

use super::summary;
use crate::probes::{Wish, empty, unavailable};
use std::collections::VecDeque;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
use tiebreak_core::machine::{MachinePrint, Noise, Probed};
use tiebreak_machine::probes::noise;

/// One watch, and one piece of the time lines.
const WATCH: Duration = Duration::from_secs(1);
/// What is shown.
const SHOWN_NS: u64 = 60_000_000_000;

/// A watch that goes on until somebody stops it.
#[derive(Debug)]
pub struct NoiseWatch {
    probe: noise::Noise,
    watches: VecDeque<noise::Watch>,
    turn: usize,
    begin: Instant,
}

impl NoiseWatch {
    /// Gets ready to watch the wish's CPUs.
    ///
    /// # Errors
    /// They cannot be watched; the outcome says why.
    pub fn new(wish: &Wish) -> Result<NoiseWatch, Probed<Noise>> {
        let probe = noise::Noise::new(&wish.cpus).map_err(unavailable)?;
        Ok(NoiseWatch { probe, watches: VecDeque::new(), turn: 0, begin: Instant::now() })
    }

    /// Watches for a second at most; nothing is to be drawn meanwhile. Says what was seen within
    /// the last minute.
    ///
    /// # Errors
    /// The CPUs could not be watched; the outcome says why.
    pub fn next(&mut self, at_most: Duration, stop: &AtomicBool) -> Result<Noise, Probed<Noise>> {
        let watch = self.probe.watch(self.turn, WATCH.min(at_most), stop).map_err(|error| {
            Probed::inconclusive(format!("the CPUs could not be watched: {error}"))
        })?;
        self.turn += 1;
        let end_ns = watch.end_ns;
        self.watches.push_back(watch);
        while self.watches.front().is_some_and(|old| old.begin_ns + SHOWN_NS < end_ns) {
            self.watches.pop_front();
        }
        Ok(self.found())
    }

    fn found(&mut self) -> Noise {
        let piece_ns = WATCH.as_nanos() as u64;
        summary::of(self.watches.make_contiguous(), &self.probe, Some(piece_ns))
    }

    /// The print of the last minute.
    pub fn finish(mut self, wish: &Wish) -> MachinePrint {
        let found = match self.watches.is_empty() {
            true => Probed::inconclusive("it was stopped before a CPU was watched"),
            false => Probed::of(self.found(), Vec::new()),
        };
        let took_ns = self.begin.elapsed().as_nanos() as u64;
        MachinePrint { noise: Some(found), took_ns, ..empty(wish) }
    }
}
