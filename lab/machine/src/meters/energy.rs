//! Energy of whole packages, other tenants included.

mod gauge;
mod hwmon;
mod msr;
mod part;
mod power;
mod powercap;
#[cfg(test)]
mod tests;

pub(super) use gauge::read_register;
pub(super) use msr::explain_msr;
pub use part::{Domain, Part};

use super::Unavailable;
use crate::tree::Tree;
use gauge::Gauge;
use std::path::Path;
use std::time::{Duration, Instant};

/// Moves of a meter by which its period is found.
const MOVES: usize = 24;
/// Fewer do not tell it.
const MOVES_MIN: usize = 4;
/// A meter that stands still for so long under a known load is dead.
const DEAD: Duration = Duration::from_millis(250);
/// Additions between two looks at a meter under load: some 10 to 100 us.
const ADDITIONS: u64 = 20_000;
/// Time between two looks at a meter whose period is wanted.
const LOOK: Duration = Duration::from_micros(50);

/// An open energy meter: a gauge a package, whose sum is the headline, and gauges of parts, which
/// are never added to it as they lie within a package or beside it.
#[derive(Debug)]
pub struct Energy {
    source: &'static str,
    /// Those of the headline first.
    gauges: Vec<Gauge>,
    headline: usize,
    /// What those of the headline said first, where nobody has proven that they move.
    unproven: Option<Vec<Option<u64>>>,
}

/// An energy meter's value at one moment, a number a gauge.
#[derive(Clone, Debug)]
pub struct Reading {
    counts: Vec<u64>,
    at: Instant,
}

type Open = fn(&Tree) -> Result<Vec<Gauge>, String>;

/// The sources, in the order in which they are tried: where it is tried, what it is called, how.
const SOURCES: [(&str, &str, Open); 4] = [
    (power::FOLDER, "perf power events", power::open),
    (powercap::FOLDER, "powercap", powercap::open),
    (hwmon::FOLDER, "hwmon", hwmon::open),
    (msr::FILE, "MSR", msr::open),
];

impl Energy {
    /// Opens the meter: perf's `power` events, else the powercap tree, else a sensor of hwmon, else
    /// the processor's registers. Guests of some hypervisors have gauges that never move, so the
    /// calling thread works until each of the headline has moved twice: some milliseconds, and a
    /// quarter of a second where one is dead.
    ///
    /// # Errors
    /// None is there, permitted and alive; the error names what each said.
    pub fn open() -> Result<Energy, Unavailable> {
        Energy::open_below(&Tree::at(Path::new("/")))
    }

    /// The same without that proof, for those who show energy and make no claim about it: it costs
    /// no time, a dead meter may hide a living one behind it, and what a gauge says is not known
    /// until all of the headline have moved.
    ///
    /// # Errors
    /// None is there and permitted; the error names what each said.
    pub fn open_unproven() -> Result<Energy, Unavailable> {
        Energy::find(&Tree::at(Path::new("/")), |_| Ok(())).map(Energy::doubted)
    }

    fn doubted(mut self) -> Energy {
        self.unproven = Some(self.gauges[..self.headline].iter().map(Gauge::read).collect());
        self
    }

    /// The meter of the machine whose files lie below a root.
    ///
    /// # Errors
    /// Every way that was tried, and why it failed.
    pub fn open_below(tree: &Tree) -> Result<Energy, Unavailable> {
        Energy::find(tree, Energy::prove_alive)
    }

    /// The first source that is there and that `prove` accepts.
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

    /// Works until each gauge of the headline has moved twice, as one move may be the end of
    /// something else.
    fn prove_alive(&self) -> Result<(), String> {
        let gauges = &self.gauges[..self.headline];
        let mut last: Vec<Option<u64>> = gauges.iter().map(Gauge::read).collect();
        let mut moves = vec![0; gauges.len()];
        let begin = Instant::now();
        while begin.elapsed() < DEAD {
            let sum = (0..ADDITIONS).fold(0, |sum: u64, value| std::hint::black_box(sum ^ value));
            std::hint::black_box(sum);
            for ((gauge, last), moves) in gauges.iter().zip(&mut last).zip(&mut moves) {
                let now = gauge.read();
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

    /// Where the numbers come from: `perf power events`, `powercap`, `hwmon` or `MSR`.
    pub fn source(&self) -> &'static str {
        self.source
    }

    /// What each gauge covers, those whose sum is the headline first.
    pub fn parts(&self) -> Vec<Part> {
        self.gauges.iter().map(|gauge| gauge.part.clone()).collect()
    }

    /// How many of the parts make the headline.
    pub fn headline(&self) -> usize {
        self.headline
    }

    /// The headline now; `None` if it can no longer be read. Cost: a system call a package, which
    /// may interrupt that package.
    pub fn read(&self) -> Option<Reading> {
        self.read_first(self.headline)
    }

    /// All gauges now; `None` if one can no longer be read.
    pub fn read_parts(&self) -> Option<Reading> {
        self.read_first(self.gauges.len())
    }

    fn read_first(&self, gauges: usize) -> Option<Reading> {
        let counts: Option<Vec<u64>> = self.gauges[..gauges].iter().map(Gauge::read).collect();
        Some(Reading { counts: counts?, at: Instant::now() })
    }

    /// Nanojoules of the headline between two readings; `None` if that is not known: a counter went
    /// back, or may have started again more than once, or may be dead. The meters move about every
    /// millisecond, so a shorter interval may well read 0.
    pub fn since_nj(&self, now: &Reading, then: &Reading) -> Option<u64> {
        let firsts = self.unproven.iter().flatten();
        if firsts.zip(&now.counts).any(|(first, now)| *first == Some(*now)) {
            return None;
        }
        self.each_since_nj(now, then).into_iter().take(self.headline).sum()
    }

    /// Nanojoules of each gauge between two readings, in the order of [`Energy::parts`]; as many as
    /// were read.
    pub fn each_since_nj(&self, now: &Reading, then: &Reading) -> Vec<Option<u64>> {
        let apart = now.at.duration_since(then.at);
        let counts = now.counts.iter().zip(&then.counts);
        let each = self.gauges.iter().zip(counts);
        each.map(|(gauge, (now, then))| gauge.used_nj(*now, *then, apart)).collect()
    }

    /// The time from one move of the meter to the next, in nanoseconds: the median of some moves.
    /// `None` if it hardly moved in this time, or `stop` said so.
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
