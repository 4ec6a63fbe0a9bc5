//! The probe of energy: measures the power of whole packages, idle and under known loads.
//!
//! Idle, the loads, and idle again: each for at least a hundred moves of the meter, as a reading
//! may miss one move at either end. The loads are sums over an array that a level-1 cache holds, so
//! that only the core works.

#[cfg(test)]
mod tests;

use crate::tools::*;
use crate::{Energy, EnergyLoad, EnergyPart};
use std::hint::black_box;
use tiebreak_machine::meters::{self, EnergyReading};

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
/// Two idle spans that differ by more than this share of their mean saw other work.
const IDLE_SHARE_MAX: f64 = 0.1;
/// A load that ran for less than this share of the time is not the named one.
const RAN_SHARE_MIN: f64 = 0.9;

/// A kind of load: its name, with the registers that are used here, and the sum.
type Kernel = (&'static str, fn(&[u64]) -> u64);

/// The meter, and the CPUs on which the loads run.
#[derive(Debug)]
struct Probe {
    meter: meters::Energy,
    cpus: Vec<usize>,
}

/// Power in a stretch of time.
#[derive(Clone, Debug, Default, PartialEq)]
struct Span {
    /// Its length, in nanoseconds.
    elapsed_ns: u64,
    /// Power of the whole.
    watts: f64,
    /// Power of each part; `None` of a counter that went back.
    part_watts: Vec<Option<f64>>,
}

/// A load that ran for some time.
#[derive(Clone, Debug, PartialEq)]
struct Load {
    /// What ran.
    name: &'static str,
    /// On how many CPUs, a thread each.
    cpus: usize,
    /// Power in that time.
    span: Span,
    /// Values that all threads together added.
    values: u64,
    /// CPU time of all threads together.
    run_ns: u64,
}

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Energy> {
    let meter = meters::Energy::open();
    let meter = meter.map_err(|reason| Unavailable { what: "energy", ..reason });
    probed(meter, |meter| Probe { meter, cpus: options.cpus.clone() }.measure(budget))
}

impl Probe {
    /// Measures within the budget, though no longer than a few seconds for each load.
    fn measure(&self, budget: &mut Budget<'_>) -> Probed<Energy> {
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
        let parts = self.meter.parts().into_iter().enumerate().map(|(index, part)| EnergyPart {
            name: part.to_string(),
            is_counted: index < self.meter.headline(),
            idle_watts: idle_before.part_watts[index],
            busy_watts: loads.last().and_then(|load: &Load| load.span.part_watts[index]),
        });
        let after = idle_after.map(|span| span.watts);
        let found = Energy {
            source: self.meter.source().to_owned(),
            period_ns,
            parts: parts.collect(),
            ..finding(idle_before.watts, after, &loads, &mut reasons)
        };
        Probed::of(found, reasons)
    }

    fn nothing(&self, budget: &Budget<'_>, what: &str) -> Probed<Energy> {
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
        let elapsed_ns = (end.duration_since(*begin).as_nanos() as u64).max(1);
        // Nanojoules per nanosecond are watts.
        let parts = self.meter.each_since_nj(&now, then).into_iter();
        Some(Span {
            elapsed_ns,
            watts: self.meter.since_nj(&now, then)? as f64 / elapsed_ns as f64,
            part_watts: parts.map(|nj| nj.map(|nj| nj as f64 / elapsed_ns as f64)).collect(),
        })
    }
}

/// Returns what is known of the idle machine and of the loads above it, and adds what speaks
/// against them.
fn finding(before: f64, after: Option<f64>, loads: &[Load], reasons: &mut Vec<String>) -> Energy {
    let idle = after.map_or(before, |after| (before + after) / 2.0);
    if let Some(after) = after.filter(|after| (after - before).abs() > IDLE_SHARE_MAX * idle) {
        reasons.push(format!(
            "idle, the machine took {before:.1} W before the loads and {after:.1} W after them: \
             others were at work"
        ));
    }
    let loads: Vec<EnergyLoad> = loads.iter().map(|load| above(load, idle)).collect();
    for load in &loads {
        let name = format!("the {} load on {} of the CPUs", load.name, load.cpus);
        if load.ran_share < RAN_SHARE_MIN {
            reasons.push(format!("{name} ran for {:.0}% of the time", load.ran_share * 100.0));
        } else if load.value_nj.is_none() {
            reasons.push(format!("{name} is lost in what others take"));
        }
    }
    Energy {
        idle_before_watts: before,
        idle_after_watts: after,
        idle_watts: idle,
        loads,
        ..Energy::default()
    }
}

fn above(load: &Load, idle_watts: f64) -> EnergyLoad {
    let Span { elapsed_ns, watts, .. } = load.span;
    let above_nj = (watts - idle_watts) * elapsed_ns as f64;
    EnergyLoad {
        name: load.name.to_owned(),
        cpus: load.cpus as u32,
        elapsed_ns,
        joules: watts * (elapsed_ns as f64 / 1e9),
        watts,
        above_idle_watts: watts - idle_watts,
        value_nj: (above_nj > 0.0 && load.values > 0).then(|| above_nj / load.values as f64),
        ran_share: (load.run_ns as f64 / (elapsed_ns * load.cpus as u64) as f64).min(1.0),
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
