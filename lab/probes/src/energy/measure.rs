//! The probe of energy: what whole packages take while idle and under a known load.
//!
//! Idle, the loads, and idle again: each for at least a hundred moves of the meter, as a reading
//! may miss one move at either end.

mod load;
#[cfg(test)]
mod tests;

pub use load::Kernel;

use crate::tools::*;
use tiebreak_machine::meters::{self, EnergyPart, EnergyReading};

/// A reading over fewer moves of the meter is off by more than a hundredth.
const MOVES_MIN: u64 = 100;
/// A reading over more than this says no more.
const SPAN_MAX: Duration = Duration::from_secs(2);
/// How long the meter is looked at for its period, at most, as a share of the budget.
const LOOK_SHARE: f64 = 0.15;
/// How often a wait looks at the flag.
const NAP: Duration = Duration::from_millis(20);
const STOPPED: &str = "stopped before anything was measured";

/// The probe.
#[derive(Debug)]
pub struct Energy {
    meter: meters::Energy,
    cpus: Vec<usize>,
}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Where the numbers come from.
    pub source: &'static str,
    /// What each gauge covers.
    pub parts: Vec<EnergyPart>,
    /// How many of the parts, from the first, make the whole.
    pub headline: usize,
    /// The time from one move of the meter to the next, in nanoseconds.
    pub period_ns: u64,
    /// While nothing was asked of the machine, before the loads.
    pub idle_before: Span,
    /// The loads, in the order in which they ran.
    pub loads: Vec<Load>,
    /// As `idle_before`, after the loads; absent if the probe was stopped.
    pub idle_after: Option<Span>,
}

/// What was taken in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// How long it was, in nanoseconds.
    pub elapsed_ns: u64,
    /// The whole, in nanojoules.
    pub whole_nj: u64,
    /// Each part, in nanojoules; `None` of a counter that went back.
    pub parts_nj: Vec<Option<u64>>,
}

/// A load that ran for some time.
#[derive(Clone, Debug, PartialEq)]
pub struct Load {
    /// What ran.
    pub kernel: Kernel,
    /// On how many CPUs, a thread each.
    pub cpus: usize,
    /// What was taken meanwhile.
    pub span: Span,
    /// Values that all threads together added up.
    pub values: u64,
    /// CPU time of all threads together.
    pub run_ns: u64,
}

/// A meter's state at the end of a stretch of time.
type End = (Option<EnergyReading>, Instant);

impl Energy {
    /// Opens the meter; the loads will run on these CPUs.
    ///
    /// # Errors
    /// There is no meter; the error names every way that was tried.
    pub fn new(cpus: &[usize]) -> Result<Energy, Unavailable> {
        let named = |reason| Unavailable { what: "energy", ..reason };
        let meter = meters::Energy::open().map_err(named)?;
        Ok(Energy { meter, cpus: cpus.to_vec() })
    }

    /// Measures, for as long as the budget lasts, though no longer than a few seconds for each
    /// load.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let look = budget.length().mul_f64(LOOK_SHARE).min(budget.left());
        let interrupted = budget.interrupted();
        let is_stopped = || interrupted.load(std::sync::atomic::Ordering::Relaxed);
        let Some(period_ns) = self.meter.period_ns(look, &is_stopped) else {
            return self.nothing(is_stopped(), &format!("hardly moved in {look:.1?}"));
        };
        let mut reasons = Vec::new();
        let loads = self.plan(budget.left(), period_ns);
        let length = (budget.left() / (loads.len() as u32 + 2)).min(SPAN_MAX);
        let moves = length.as_nanos() as u64 / period_ns.max(1);
        if moves < MOVES_MIN {
            reasons.push(format!(
                "each reading covers {moves} moves of the meter, and {MOVES_MIN} are wanted: give \
                 it a longer --budget"
            ));
        }
        let Some(idle_before) = self.idle(length, budget) else {
            return self.nothing(budget.is_interrupted(), "went back");
        };
        let (loads, idle_after) = self.run(&loads, length, budget, &mut reasons);
        let (source, parts) = (self.meter.source(), self.meter.parts());
        let headline = self.meter.headline();
        let reading =
            Reading { source, parts, headline, period_ns, idle_before, loads, idle_after };
        Probed::of(reading, reasons)
    }

    fn nothing(&self, is_stopped: bool, what: &str) -> Probed<Reading> {
        let why = format!("the meter ({}) {what}", self.meter.source());
        Probed::inconclusive(if is_stopped { STOPPED.to_owned() } else { why })
    }

    /// The loads that there is time for: each kernel on one CPU and on all; else the vectors alone.
    fn plan(&self, left: Duration, period_ns: u64) -> Vec<(Kernel, usize)> {
        let mut counts = vec![1, self.cpus.len()];
        counts.dedup();
        let of = |kernels: &[Kernel]| -> Vec<(Kernel, usize)> {
            counts.iter().flat_map(|count| kernels.iter().map(|one| (*one, *count))).collect()
        };
        let all = of(&[Kernel::Integer, Kernel::Vector]);
        let wanted_ns = MOVES_MIN.saturating_mul(period_ns).saturating_mul(all.len() as u64 + 2);
        if left >= Duration::from_nanos(wanted_ns) { all } else { of(&[Kernel::Vector]) }
    }

    /// Runs the loads and waits through the last idle span; what was stopped midway is left out.
    fn run(
        &self,
        plan: &[(Kernel, usize)],
        length: Duration,
        budget: &mut Budget<'_>,
        reasons: &mut Vec<String>,
    ) -> (Vec<Load>, Option<Span>) {
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
        (loads, idle_after)
    }

    /// `None` if it was stopped, or the meter went back.
    fn load(
        &self,
        kernel: Kernel,
        count: usize,
        length: Duration,
        budget: &Budget<'_>,
    ) -> std::io::Result<Option<Load>> {
        let cpus = &self.cpus[..count.min(self.cpus.len())];
        let length_ns = length.as_nanos() as u64;
        let flag = budget.interrupted();
        let (work, ends) = load::run(kernel, cpus, length_ns, flag, || self.end())?;
        let span = ends.filter(|_| !budget.is_interrupted());
        let span = span.and_then(|[first, last]| self.span(&first, &last));
        let load::Work { values, run_ns } = work;
        Ok(span.map(|span| Load { kernel, cpus: count, span, values, run_ns }))
    }

    /// Sleeps for so long; `None` if it was stopped, or the meter went back.
    fn idle(&self, length: Duration, budget: &Budget<'_>) -> Option<Span> {
        let first = self.end();
        while first.1.elapsed() < length && !budget.is_interrupted() {
            std::thread::sleep(NAP.min(length.saturating_sub(first.1.elapsed())));
        }
        if budget.is_interrupted() {
            return None;
        }
        self.span(&first, &self.end())
    }

    fn end(&self) -> End {
        (self.meter.read_parts(), Instant::now())
    }

    fn span(&self, first: &End, last: &End) -> Option<Span> {
        let (then, now) = (first.0.as_ref()?, last.0.as_ref()?);
        Some(Span {
            elapsed_ns: last.1.duration_since(first.1).as_nanos() as u64,
            whole_nj: self.meter.since_nj(now, then)?,
            parts_nj: self.meter.each_since_nj(now, then),
        })
    }
}
