//! The energy of whole packages, including other tenants.

mod gauge;
mod hwmon;
mod msr;
mod power;
mod powercap;
#[cfg(test)]
mod tests;

pub use gauge::{Domain, Part};
pub(super) use gauge::{Input, read_register};
pub(super) use msr::explain_msr;

use super::Unavailable;
use crate::tree::Tree;
use gauge::Gauge;
use std::time::{Duration, Instant};

/// The number of moves of a meter by which its period is found.
const MOVES: usize = 24;
/// The least number of moves that gives a period.
const MOVES_MIN: usize = 4;
/// The time without a move under a known load after which a meter counts as dead.
const DEAD: Duration = Duration::from_millis(250);
/// The additions between two looks at a meter under load: about 10 to 100 us.
const ADDITIONS: u64 = 20_000;
/// The time between two looks at a meter while its period is measured.
const LOOK: Duration = Duration::from_micros(50);

/// An open energy meter: one gauge per package, whose sum is the headline, and gauges of parts.
/// Parts are never added to the headline, because they lie within a package or outside all
/// packages.
#[derive(Debug)]
pub struct Energy {
    source: &'static str,
    /// The gauges, those of the headline first.
    gauges: Vec<Gauge>,
    headline: usize,
    /// The first values of the headline's gauges, if they are not proven to move.
    unproven: Option<Vec<Option<u64>>>,
}

/// An energy meter's value at one moment, one number per gauge.
#[derive(Clone, Debug)]
pub struct Reading {
    counts: Vec<u64>,
    at: Instant,
}

type Open = fn(&Tree) -> Result<Vec<Gauge>, String>;

/// The sources in the order in which they are tried: the place, the name, and the function that
/// opens it.
const SOURCES: [(&str, &str, Open); 4] = [
    (power::FOLDER, "perf power events", power::open),
    (powercap::FOLDER, "powercap", powercap::open),
    (hwmon::FOLDER, "hwmon", hwmon::open),
    (msr::FILE, "MSR", msr::open),
];

impl Energy {
    /// Opens the meter: perf's `power` events, else the powercap tree, else a hwmon sensor, else
    /// the processor's registers. Guests of some hypervisors have gauges that never move. So the
    /// calling thread works until each gauge of the headline has moved twice: a few milliseconds,
    /// or a quarter of a second where one is dead.
    ///
    /// # Errors
    /// Fails if no meter is present, permitted and alive; the error gives the reason for each.
    pub fn open() -> Result<Energy, Unavailable> {
        Energy::find(&Tree::here(), Energy::prove_alive)
    }

    /// Opens the meter without that proof, for callers that show energy and make no claim about it.
    /// It costs no time. A dead meter may hide a working one behind it, and the values are unknown
    /// until all gauges of the headline have moved.
    ///
    /// # Errors
    /// Fails if no meter is present and permitted; the error gives the reason for each.
    pub fn open_unproven() -> Result<Energy, Unavailable> {
        Energy::find(&Tree::here(), |_| Ok(())).map(Energy::doubted)
    }

    fn doubted(mut self) -> Energy {
        self.unproven =
            Some(self.gauges[..self.headline].iter().map(|gauge| gauge.input.read()).collect());
        self
    }

    /// Finds the first source that is present and that `prove` accepts.
    ///
    /// # Errors
    /// Fails with every way that was tried, and the reason why it failed.
    pub fn find(
        tree: &Tree,
        prove: impl Fn(&Energy) -> Result<(), String>,
    ) -> Result<Energy, Unavailable> {
        let mut tried = Vec::new();
        for (place, source, open) in SOURCES {
            let opened = open(tree).map(|gauges| Energy::of(source, gauges));
            match opened.and_then(|energy| prove(&energy).map(|()| energy)) {
                Ok(energy) => return Ok(energy),
                Err(error) => tried.push((format!("{source} ({place})"), error)),
            }
        }
        Err(Unavailable { what: "energy meter", tried })
    }

    fn of(source: &'static str, mut gauges: Vec<Gauge>) -> Energy {
        let has_packages = gauges.iter().any(|gauge| gauge.part.domain == Domain::Package);
        let domain = if has_packages { Domain::Package } else { Domain::Board };
        gauges.sort_by_key(|gauge| gauge.part.domain != domain);
        let headline = gauges.iter().filter(|gauge| gauge.part.domain == domain).count();
        Energy { source, gauges, headline, unproven: None }
    }

    /// Works until each gauge of the headline has moved twice, since one move may be the end of an
    /// earlier period.
    fn prove_alive(&self) -> Result<(), String> {
        let gauges = &self.gauges[..self.headline];
        let mut last: Vec<Option<u64>> = gauges.iter().map(|gauge| gauge.input.read()).collect();
        let mut moves = vec![0; gauges.len()];
        let begin = Instant::now();
        while begin.elapsed() < DEAD {
            let sum = (0..ADDITIONS).fold(0, |sum: u64, value| std::hint::black_box(sum ^ value));
            std::hint::black_box(sum);
            for ((gauge, last), moves) in gauges.iter().zip(&mut last).zip(&mut moves) {
                let now = gauge.input.read();
                *moves += u32::from(now != *last);
                *last = now;
            }
            if moves.iter().all(|moves| *moves >= 2) {
                return Ok(());
            }
        }
        let dead = gauges.iter().zip(moves).find(|(_, moves)| *moves < 2);
        let part = dead.map_or(String::new(), |(gauge, _)| gauge.part.to_string());
        Err(format!("{part} is dead: it stood still while a CPU worked for {DEAD:?}"))
    }

    /// Returns the source of the numbers: `perf power events`, `powercap`, `hwmon` or `MSR`.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// Returns what each gauge covers, those whose sum is the headline first.
    pub fn parts(&self) -> Vec<Part> {
        self.gauges.iter().map(|gauge| gauge.part.clone()).collect()
    }

    /// Returns how many of the parts make the headline.
    pub fn headline(&self) -> usize {
        self.headline
    }

    /// Reads the headline; `None` if it can no longer be read. Cost: one system call per package,
    /// which may interrupt that package.
    pub fn read(&self) -> Option<Reading> {
        self.read_first(self.headline)
    }

    /// Reads all gauges; `None` if one can no longer be read.
    pub fn read_parts(&self) -> Option<Reading> {
        self.read_first(self.gauges.len())
    }

    fn read_first(&self, gauges: usize) -> Option<Reading> {
        let counts: Option<Vec<u64>> =
            self.gauges[..gauges].iter().map(|gauge| gauge.input.read()).collect();
        Some(Reading { counts: counts?, at: Instant::now() })
    }

    /// Returns the nanojoules of the headline between two readings. Returns `None` if they are
    /// unknown: a counter went back, may have wrapped more than once, or may be dead. The meters
    /// move about every millisecond, so a shorter interval may read 0.
    pub fn since_nj(&self, now: &Reading, then: &Reading) -> Option<u64> {
        let firsts = self.unproven.iter().flatten();
        if firsts.zip(&now.counts).any(|(first, now)| *first == Some(*now)) {
            return None;
        }
        self.each_since_nj(now, then).into_iter().take(self.headline).sum()
    }

    /// Returns the nanojoules of each gauge between two readings, in the order of
    /// [`Energy::parts`], for the gauges that were read.
    pub fn each_since_nj(&self, now: &Reading, then: &Reading) -> Vec<Option<u64>> {
        let apart = now.at.duration_since(then.at);
        let counts = now.counts.iter().zip(&then.counts);
        let each = self.gauges.iter().zip(counts);
        each.map(|(gauge, (now, then))| gauge.used_nj(*now, *then, apart)).collect()
    }

    /// Returns the time from one move of the meter to the next, in nanoseconds: the median of
    /// several moves. Returns `None` if the meter hardly moved within `at_most`, or `stop` ended
    /// the measurement early.
    pub fn period_ns(&self, at_most: Duration, stop: &dyn Fn() -> bool) -> Option<u64> {
        let begin = Instant::now();
        let mut last = self.read()?;
        let mut moved: Option<Instant> = None;
        let mut gaps_ns = Vec::with_capacity(MOVES);
        while gaps_ns.len() < MOVES && begin.elapsed() < at_most && !stop() {
            std::thread::sleep(LOOK);
            let now = self.read()?;
            if now.counts != last.counts {
                gaps_ns.extend(moved.map(|then| now.at.duration_since(then).as_nanos() as u64));
                moved = Some(now.at);
                last = now;
            }
        }
        if gaps_ns.len() < MOVES_MIN {
            return None;
        }
        gaps_ns.sort_unstable();
        Some(gaps_ns[gaps_ns.len() / 2])
    }
}
