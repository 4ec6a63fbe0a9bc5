//! The probe of energy: measures the power of whole packages, idle and under known loads.
//!
//! Idle, the loads, and idle again: each for at least a hundred moves of the meter, as a reading
//! may miss one move at either end. The loads are sums over an array that a level-1 cache holds, so
//! that only the core works.

#[cfg(test)]
mod tests;

use crate::tools::*;
use std::hint::black_box;
use tiebreak_machine::meters::{self, EnergyPart, EnergyReading};

/// A reading over fewer moves of the meter is off by more than a hundredth.
const MOVES_MIN: u64 = 100;
/// Longest reading: more time adds no precision.
const SPAN_MAX: Duration = Duration::from_secs(2);
/// Longest look for the period of the meter, as a share of the budget.
const LOOK_SHARE: f64 = 0.15;
/// How often a wait looks at the flag.
const NAP: Duration = Duration::from_millis(20);
/// Values of the array: 16 KiB.
const VALUES: usize = 2048;
/// Sums between two looks at the clock: some 20 to 100 us.
const SUMS: u64 = 64;

/// A kind of load: its name, with the registers that are used here, and the sum.
pub(super) type Kernel = (&'static str, fn(&[u64]) -> u64);

/// The probe.
#[derive(Debug)]
pub(super) struct Probe {
    meter: meters::Energy,
    cpus: Vec<usize>,
}

/// What the probe measured.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Reading {
    /// Source of the numbers.
    pub source: &'static str,
    /// What each gauge covers.
    pub parts: Vec<EnergyPart>,
    /// How many of the parts, from the first, make the whole.
    pub headline: usize,
    /// Time from one move of the meter to the next, in nanoseconds.
    pub period_ns: u64,
    /// The idle machine, before the loads.
    pub idle_before: Span,
    /// The loads, in the order in which they ran.
    pub loads: Vec<Load>,
    /// As `idle_before`, after the loads; absent if the probe was stopped.
    pub idle_after: Option<Span>,
}

/// Energy in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Span {
    /// Its length, in nanoseconds.
    pub elapsed_ns: u64,
    /// The whole, in nanojoules.
    pub whole_nj: u64,
    /// Each part, in nanojoules; `None` of a counter that went back.
    pub parts_nj: Vec<Option<u64>>,
}

/// A load that ran for some time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Load {
    /// What ran.
    pub name: &'static str,
    /// On how many CPUs, a thread each.
    pub cpus: usize,
    /// Energy in that time.
    pub span: Span,
    /// Values that all threads together added.
    pub values: u64,
    /// CPU time of all threads together.
    pub run_ns: u64,
}

impl Probe {
    /// Opens the meter; the loads will run on these CPUs.
    ///
    /// # Errors
    /// There is no meter; the error names every way that was tried.
    pub(super) fn new(cpus: &[usize]) -> Result<Probe, Unavailable> {
        let meter = meters::Energy::open();
        let meter = meter.map_err(|reason| Unavailable { what: "energy", ..reason })?;
        Ok(Probe { meter, cpus: cpus.to_vec() })
    }

    /// Measures within the budget, though no longer than a few seconds for each load.
    pub(super) fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let look = budget.length().mul_f64(LOOK_SHARE).min(budget.left());
        let interrupted = budget.interrupted();
        let period_ns = self.meter.period_ns(look, &|| interrupted.load(Ordering::Relaxed));
        let Some(period_ns) = period_ns else {
            return self.nothing(budget, &format!("hardly moved in {look:.1?}"));
        };
        let mut reasons = Vec::new();
        let mut counts = vec![1, self.cpus.len()];
        counts.dedup();
        let kernels = [("integer", integer as fn(&[u64]) -> u64), vector()];
        let plan: Vec<(Kernel, usize)> =
            counts.iter().flat_map(|count| kernels.map(|kernel| (kernel, *count))).collect();
        let length = (budget.left() / (plan.len() as u32 + 2)).min(SPAN_MAX);
        let moves = length.as_nanos() as u64 / period_ns.max(1);
        if moves < MOVES_MIN {
            reasons.push(format!(
                "each reading covers {moves} moves of the meter, and {MOVES_MIN} are wanted: give \
                 it a longer --budget"
            ));
        }
        let Some(idle_before) = self.idle(length, budget) else {
            return self.nothing(budget, "went back");
        };
        let mut loads = Vec::new();
        for (index, (kernel, count)) in plan.iter().enumerate() {
            budget.tell((index + 1) as f64 / (plan.len() + 2) as f64);
            match self.load(*kernel, *count, length, budget) {
                Ok(Some(load)) => loads.push(load),
                Ok(None) if budget.is_interrupted() => break,
                Ok(None) => reasons.push("the meter went back under a load".to_owned()),
                Err(error) => reasons.push(format!("a load could not run: {error}")),
            }
        }
        let idle_after = self.idle(length, budget);
        if idle_after.is_none() {
            reasons.push("the idle machine was read before the loads only".to_owned());
        }
        let (source, parts) = (self.meter.source(), self.meter.parts());
        let headline = self.meter.headline();
        let reading =
            Reading { source, parts, headline, period_ns, idle_before, loads, idle_after };
        Probed::of(reading, reasons)
    }

    fn nothing(&self, budget: &Budget<'_>, what: &str) -> Probed<Reading> {
        if budget.is_interrupted() {
            return Probed::inconclusive("stopped before anything was measured");
        }
        Probed::inconclusive(format!("the meter ({}) {what}", self.meter.source()))
    }

    /// Adds values on the first CPUs at once; the first of them reads the meter at both ends.
    /// `None` if it was stopped, or the meter went back.
    ///
    /// # Errors
    /// A thread cannot be started or pinned.
    fn load(
        &self,
        (name, sum): Kernel,
        cpus: usize,
        length: Duration,
        budget: &Budget<'_>,
    ) -> io::Result<Option<Load>> {
        let (length_ns, interrupted) = (length.as_nanos() as u64, budget.interrupted());
        let each = together(&self.cpus[..cpus], |place| {
            let values: Vec<u64> = (0..VALUES as u64).collect();
            place.meet();
            let first = (place.index == 0).then(|| self.now());
            let (begin_ns, begin_run_ns) = (monotonic_ns(), thread_cpu_ns());
            let mut sums = 0;
            while monotonic_ns() - begin_ns < length_ns && !interrupted.load(Ordering::Relaxed) {
                for _ in 0..SUMS {
                    black_box(sum(black_box(&values)));
                }
                sums += SUMS;
            }
            let run_ns = thread_cpu_ns().saturating_sub(begin_run_ns);
            (sums * VALUES as u64, run_ns, first.and_then(|first| self.since(&first)))
        })?;
        let values = each.iter().map(|one| one.0).sum();
        let run_ns = each.iter().map(|one| one.1).sum();
        let span = each.into_iter().find_map(|one| one.2).filter(|_| !budget.is_interrupted());
        Ok(span.map(|span| Load { name, cpus, span, values, run_ns }))
    }

    /// Sleeps for this long; `None` if it was stopped, or the meter went back.
    fn idle(&self, length: Duration, budget: &Budget<'_>) -> Option<Span> {
        let first = self.now();
        while first.1.elapsed() < length && !budget.is_interrupted() {
            std::thread::sleep(NAP.min(length.saturating_sub(first.1.elapsed())));
        }
        self.since(&first).filter(|_| !budget.is_interrupted())
    }

    fn now(&self) -> (Option<EnergyReading>, Instant) {
        (self.meter.read_parts(), Instant::now())
    }

    fn since(&self, (then, begin): &(Option<EnergyReading>, Instant)) -> Option<Span> {
        let (now, end) = self.now();
        let (then, now) = (then.as_ref()?, now?);
        Some(Span {
            elapsed_ns: end.duration_since(*begin).as_nanos() as u64,
            whole_nj: self.meter.since_nj(&now, then)?,
            parts_nj: self.meter.each_since_nj(&now, then),
        })
    }
}

/// Returns the sum of as many values at a time as the widest registers of this CPU hold.
fn vector() -> Kernel {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        // SAFETY: the CPU has the feature.
        return ("vector (AVX-512)", |values| unsafe { avx512(values) });
    }
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") {
        // SAFETY: the same.
        return ("vector (AVX2)", |values| unsafe { avx2(values) });
    }
    ("vector", plain)
}

/// Adds a value at a time, each waiting for the one before; the rotation keeps the compiler from
/// adding several at once.
fn integer(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum: u64, value| sum.rotate_left(1).wrapping_add(*value))
}

/// Adds the values with the registers of the function into which the compiler inlines this.
#[inline(always)]
fn plain(values: &[u64]) -> u64 {
    values.iter().fold(0, |sum, value| sum.wrapping_add(*value))
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(values: &[u64]) -> u64 {
    plain(values)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
fn avx512(values: &[u64]) -> u64 {
    plain(values)
}
