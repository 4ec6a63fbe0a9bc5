//! The probe of timers: what reading a clock costs, how finely it moves, whether clocks agree, and
//! whether the kernel lets them be read without a system call.

mod cost;
mod drift;
mod handoff;
mod kernel;
pub(crate) mod ticks;

use crate::tools::*;
use crate::{Clock, ClockOrder, Drift, TickCounter, Timers as Reading, Vdso};
use drift::{Rate, Sandwich};
use kernel::KernelClock;

/// The shortest watch of a drift of which anything is told: a quarter of a second gives about a
/// tenth of a millionth.
const DRIFT_LEAST: Duration = Duration::from_millis(250);
/// The longest.
const DRIFT_MOST: Duration = Duration::from_millis(2000);
/// What the system call must cost over the library's call for the library to be without one.
const VDSO_RATIO_LEAST: f64 = 2.0;

/// A clock by its name.
type Named = (&'static str, fn() -> u64);

/// The probe.
#[derive(Debug)]
pub struct Timers {
    cpus: Vec<usize>,
    tree: Tree,
    has_ticks: bool,
}

impl Timers {
    /// Finds out which clocks there are. Stamps are handed between these CPUs.
    ///
    /// # Errors
    /// There is no monotonic clock, so nothing can be timed.
    pub fn new(cpus: &[usize]) -> Result<Timers, Unavailable> {
        if !kernel::ALL[0].is_there() {
            let error = std::io::Error::last_os_error();
            return Err(lacks("a monotonic clock", "clock_gettime(CLOCK_MONOTONIC)", error));
        }
        let tree = Tree::at(Path::new("/"));
        Ok(Timers { cpus: cpus.to_vec(), tree, has_ticks: ticks::is_there() })
    }

    /// Measures, for as long as the budget lasts. All that is told are medians and quantiles of
    /// batches, and least values, of the probe's own.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let begin = Instant::now();
        let length = budget.length();
        let mut reasons = Vec::new();
        let first = |(name, read): Named| (name, read, Sandwich::take(read));
        let watched: Vec<_> = self.watched().into_iter().map(first).collect();
        let mut found = Reading {
            clock_source: self.tree.text(&source("current")),
            clock_sources: self.clock_sources(),
            missing: kernel::ALL.iter().filter(|clock| !clock.is_there()).map(named).collect(),
            ..Reading::default()
        };
        let ns_a_tick = self.ns_a_tick();
        found.clocks = self.clocks(budget, length.mul_f64(0.4), ns_a_tick);
        found.vdso = vdso(&found.clocks, length.mul_f64(0.05));
        self.orders(budget, length.mul_f64(0.4), ns_a_tick, &mut found, &mut reasons);
        let watch = length.mul_f64(0.7).clamp(DRIFT_LEAST, DRIFT_MOST).min(length);
        while budget.nap(begin + watch) {}
        let rate = |(name, read, first): &(&'static str, fn() -> u64, Sandwich)| {
            Some((*name, Sandwich::take(read).rate_since(first)?))
        };
        self.drifts(&watched.iter().filter_map(rate).collect::<Vec<_>>(), &mut found);
        if budget.is_interrupted() {
            reasons.push("it was stopped before its end".to_owned());
        }
        if found.clocks.is_empty() {
            Probed::inconclusive("there was no time to read a clock")
        } else {
            Probed::of(found, reasons)
        }
    }

    fn clock_sources(&self) -> Vec<String> {
        let text = self.tree.text(&source("available")).unwrap_or_default();
        text.split_whitespace().map(str::to_owned).collect()
    }

    /// The clocks whose rate is watched: those that go on by themselves and are fine enough.
    fn watched(&self) -> Vec<Named> {
        let mut watched: Vec<Named> = vec![
            ("REALTIME", || kernel::ALL[1].now_ns()),
            ("MONOTONIC_RAW", || kernel::ALL[2].now_ns()),
            ("BOOTTIME", || kernel::ALL[3].now_ns()),
        ];
        if self.has_ticks {
            watched.push((ticks::NAME, ticks::now_in_order));
        }
        watched
    }

    /// A first estimate of how long a tick is, good to a thousandth.
    fn ns_a_tick(&self) -> f64 {
        if !self.has_ticks {
            return 1.0;
        }
        let begin = Sandwich::take(ticks::now_in_order);
        std::thread::sleep(Duration::from_millis(5));
        let rate = Sandwich::take(ticks::now_in_order).rate_since(&begin);
        rate.filter(|rate| rate.units_a_ns > 0.0).map_or(1.0, |rate| 1.0 / rate.units_a_ns)
    }

    /// Cost and steps of each clock.
    fn clocks(&self, budget: &mut Budget<'_>, length: Duration, ns_a_tick: f64) -> Vec<Clock> {
        let mut clocks = Vec::new();
        let each = length / (kernel::ALL.len() as u32 + 2) / 2;
        for clock in kernel::ALL.into_iter().filter(|clock| clock.is_there()) {
            let read = || clock.now_ns();
            clocks.extend(one(clock.name, read, clock.resolution_ns(), 1.0, each, budget));
        }
        if self.has_ticks {
            clocks.extend(one(ticks::INSTRUCTION, ticks::now, None, ns_a_tick, each, budget));
        }
        if let Some(read) = ticks::waiting().filter(|_| self.has_ticks) {
            clocks.extend(one("rdtscp", read, None, ns_a_tick, each, budget));
        }
        clocks
    }

    /// Hands stamps around, a clock each, for half of `length` each.
    fn orders(
        &self,
        budget: &mut Budget<'_>,
        length: Duration,
        ns_a_tick: f64,
        found: &mut Reading,
        reasons: &mut Vec<String>,
    ) {
        let mut clocks: Vec<(Named, f64)> = vec![(("MONOTONIC", || kernel::ALL[0].now_ns()), 1.0)];
        if self.has_ticks {
            clocks.push(((ticks::NAME, ticks::now_in_order), ns_a_tick));
        }
        let each = length / clocks.len() as u32;
        for ((name, read), ns_a_unit) in clocks {
            match self.order(name, read, ns_a_unit, each, budget) {
                Ok(order) => found.order.extend(order),
                Err(error) => {
                    reasons.push(format!("clocks of different CPUs are not compared: {error}"));
                    return;
                }
            }
        }
        let backwards = found.order.iter().filter(|order| order.least_ns < 0.0);
        reasons.extend(backwards.map(|order| {
            format!("{} goes backwards from CPU to CPU by {} ns", order.clock, -order.least_ns)
        }));
    }

    /// One clock from CPU to CPU: pairs near each other in the list first, as far as time allows.
    fn order(
        &self,
        name: &str,
        read: fn() -> u64,
        ns_a_unit: f64,
        length: Duration,
        budget: &mut Budget<'_>,
    ) -> std::io::Result<Option<ClockOrder>> {
        let pairs = pairs(&self.cpus);
        let end = Instant::now() + length;
        let each_ns = (length.as_nanos() as u64 / pairs.len().max(1) as u64).max(2_000_000);
        let mut order = ClockOrder { clock: name.to_owned(), ..ClockOrder::default() };
        for pair in &pairs {
            if Instant::now() >= end || budget.is_spent() {
                break;
            }
            let at_most_ns = each_ns.min(budget.left().as_nanos() as u64);
            let found = handoff::between(*pair, read, ns_a_unit, at_most_ns, budget.interrupted())?;
            if let [there, back] = found[..] {
                let bound = (there.least_ns + back.least_ns) / 2.0;
                let apart = ((there.least_ns - back.least_ns) / 2.0).abs() + bound.max(0.0);
                order.offset_bound_ns = order.offset_bound_ns.max(apart);
            }
            order.pairs.extend(found);
        }
        order.pairs_left_out = (2 * pairs.len() - order.pairs.len()) as u64;
        order.hand_offs = order.pairs.iter().map(|pair| pair.count).sum();
        let least_ns = order.pairs.iter().map(|pair| pair.least_ns).min_by(f64::total_cmp);
        Ok(least_ns.map(|least_ns| ClockOrder { least_ns, ..order }))
    }

    fn drifts(&self, rates: &[(&str, Rate)], found: &mut Reading) {
        let others = rates.iter().filter(|(name, _)| *name != ticks::NAME);
        let drift = |(name, rate): &(&str, Rate)| Drift {
            clock: (*name).to_owned(),
            against: "MONOTONIC".to_owned(),
            ppm: (rate.units_a_ns - 1.0) * 1e6,
            uncertainty_ppm: rate.uncertainty * 1e6,
            seconds: rate.seconds,
        };
        found.drifts = others.map(drift).collect();
        let rate_of = |wanted: &str| rates.iter().find(|(name, _)| *name == wanted);
        // Against the raw clock: nobody steers it.
        let raw = rate_of("MONOTONIC_RAW").filter(|(_, raw)| raw.units_a_ns > 0.0);
        found.counter = rate_of(ticks::NAME).zip(raw).map(|((_, rate), (_, raw))| {
            let flags = tick_flags(&self.tree);
            TickCounter {
                name: ticks::NAME.to_owned(),
                hertz: rate.units_a_ns / raw.units_a_ns * 1e9,
                uncertainty_ppm: (rate.uncertainty + raw.uncertainty) * 1e6,
                is_invariant: is_invariant(&flags),
                flags,
            }
        });
    }
}

fn source(which: &str) -> String {
    format!("/sys/devices/system/clocksource/clocksource0/{which}_clocksource")
}

fn named(clock: &KernelClock) -> String {
    clock.name.to_owned()
}

/// Cost and steps of one clock; nothing once the budget is spent.
fn one(
    name: &str,
    read: impl Fn() -> u64,
    told_resolution_ns: Option<u64>,
    ns_a_unit: f64,
    each: Duration,
    budget: &mut Budget<'_>,
) -> Option<Clock> {
    if budget.is_spent() {
        return None;
    }
    let found = cost::cost(&read, each)?;
    let steps = cost::steps(&read, ns_a_unit, each);
    budget.tell(0.0);
    Some(Clock { name: name.to_owned(), told_resolution_ns, steps, ..found })
}

/// The monotonic clock by a system call, against what the library's call was found to cost.
fn vdso(clocks: &[Clock], at_most: Duration) -> Option<Vdso> {
    let vdso_ns = clocks.iter().find(|clock| clock.name == "MONOTONIC")?.cost_ns;
    // A clock of coarse steps tells no cost, and so no ratio.
    if vdso_ns <= 0.0 {
        return None;
    }
    let Clock { cost_ns: system_call_ns, parts_ns, .. } =
        cost::cost(|| kernel::ALL[0].now_by_system_call_ns(), at_most)?;
    let ratio = system_call_ns / vdso_ns;
    Some(Vdso { vdso_ns, system_call_ns, parts_ns, ratio, works: ratio >= VDSO_RATIO_LEAST })
}

/// All pairs of CPUs, those first whose places in the list are near each other.
fn pairs(cpus: &[usize]) -> Vec<[usize; 2]> {
    let mut pairs = Vec::new();
    for distance in 1..cpus.len() {
        pairs.extend(cpus.iter().zip(&cpus[distance..]).map(|(a, b)| [*a, *b]));
    }
    pairs
}

/// What `/proc/cpuinfo` says of the counter of ticks.
fn tick_flags(tree: &Tree) -> Vec<String> {
    let flags = cpuinfo(tree, "flags");
    let wanted = ["constant_tsc", "nonstop_tsc", "tsc_known_freq", "tsc_reliable", "rdtscp"];
    flags.split_whitespace().filter(|flag| wanted.contains(flag)).map(str::to_owned).collect()
}

/// The generic counter of AArch64 ticks at one rate by its architecture.
fn is_invariant(flags: &[String]) -> Option<bool> {
    if cfg!(target_arch = "aarch64") {
        return Some(true);
    }
    let has = |name: &str| flags.iter().any(|flag| flag == name);
    (!flags.is_empty()).then(|| has("constant_tsc") && has("nonstop_tsc"))
}

#[cfg(test)]
mod tests;
