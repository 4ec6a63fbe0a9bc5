//! Core to core latency: how long a cache line takes from one CPU to another.
//!
//! Two threads, each pinned to a CPU, pass a line to and fro. A batch of round trips takes about
//! 8 us, so that most batches see no interruption even on a busy machine; a round's reading of a
//! pair is the lower quartile of its batches, and a latency is half a round trip. Rounds visit the
//! pairs in random order and are spread over the whole budget, because a hypervisor moves virtual
//! CPUs: what a pair reads then has several modes, which `tiebreak-stats` tells apart.
//!
//! That both threads really ran at the same time needs no further proof: no round trip ends
//! without the partner's answer, and a batch in which either side was away shows it, because its
//! time is longer by what that side lost. Such batches are counted and not used.

mod advertised;
mod board;
mod pass;
mod plan;
mod segment;
mod tally;
mod visit;

pub use advertised::Advertised;

use crate::tools::*;
use crate::{Cores as Found, Kernel, Shared};
use board::{Board, Lines};
use pass::{CompareExchange, Pass, Patience, Stores, answer, trips};
use plan::Plan;
use segment::Observation;
use tally::Tally;
use visit::KernelObservation;

/// Nanoseconds that a batch of round trips should take.
const BATCH_NS: u64 = 8000;
/// The most that a step of the clock may be of a batch: a twentieth.
const STEPS_A_BATCH: u64 = 20;
/// A latency below this, in nanoseconds, is less than one cycle of any CPU.
const LEAST_PLAUSIBLE_NS: f64 = 0.2;

/// The probe.
#[derive(Debug)]
pub struct Cores {
    cpus: Vec<usize>,
    advertised: Vec<Advertised>,
}

/// What it saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// What is said of it, without latencies and groups; the CPUs are sorted.
    pub found: Found,
    /// Sets of the CPUs that share something, as the machine says.
    pub advertised: Vec<Advertised>,
    /// Each pair and way of passing of which enough was seen.
    pub seen: Vec<PairObservation>,
}

/// What was seen of a pair by one way of passing.
#[derive(Clone, Debug, PartialEq)]
pub struct PairObservation {
    /// The way.
    pub kernel: Kernel,
    /// The CPUs, the smaller number first.
    pub cpus: [usize; 2],
    /// Of each visit the latency in nanoseconds (half a round trip, lower quartile of the batches)
    /// that the first, and that the second CPU timed; absent if too few batches could be used.
    pub visits: Vec<[Option<f64>; 2]>,
    /// Batches that were timed.
    pub batches: u64,
    /// Batches that took over 2 us longer than the quick ones: a side was away.
    pub invalid: u64,
    /// How often a thread was taken off its CPU while it passed lines.
    pub preemptions: u64,
}

impl Cores {
    /// A probe of the pairs of these CPUs.
    ///
    /// # Errors
    /// There are no two CPUs.
    pub fn new(cpus: &[usize]) -> Result<Cores, Unavailable> {
        let mut cpus = cpus.to_vec();
        cpus.sort_unstable();
        cpus.dedup();
        if cpus.len() < 2 {
            let list = tiebreak_machine::cpus::format_list(&cpus);
            let said = match cpus.len() {
                0 => "none are known".to_owned(),
                _ => format!("only CPU {list}, and a pair needs two"),
            };
            return Err(lacks("core to core latency", "the CPUs that may be used", said));
        }
        let advertised = advertised::read(&Tree::at(Path::new("/")), &cpus);
        Ok(Cores { cpus, advertised })
    }

    /// Visits the pairs round by round, spread over the budget.
    ///
    /// Inconclusive if the clock is too coarse, if nothing plausible was seen, or if the threads of
    /// no pair ran together often enough; degraded if that is so of some pairs, or if the user
    /// stopped it.
    pub fn measure(&self, budget: &mut Budget<'_>) -> Probed<Reading> {
        let step_ns = clock::step_ns();
        if step_ns * STEPS_A_BATCH > BATCH_NS {
            let why =
                format!("the clock moves in steps of {step_ns} ns, too coarse for {BATCH_NS}");
            return Probed::inconclusive(why);
        }
        let plan = Plan::of(&self.cpus, &self.advertised, budget.length());
        let mut tally = Tally::of(&plan);
        let begin = Instant::now();
        let rounds = rounds(&plan, &mut tally, step_ns, budget);
        let span_ns = begin.elapsed().as_nanos() as u64;
        if let Some(least) = tally.least_ns().filter(|least| *least < LEAST_PLAUSIBLE_NS) {
            let why = format!("a line seems to arrive within {least} ns, which cannot be");
            return Probed::inconclusive(why);
        }
        let (seen, reasons) = tally.finish(&plan, rounds, budget.is_interrupted());
        if seen.is_empty() {
            return Probed::inconclusive(reasons.join("; "));
        }
        let count = self.cpus.len() as u64;
        let found = Found {
            cpus: self.cpus.clone(),
            rounds,
            span_ns,
            pairs: count * (count - 1) / 2,
            pairs_chosen: plan.pairs.len() as u64,
            ..Found::default()
        };
        Probed::of(Reading { found, advertised: self.advertised.clone(), seen }, reasons)
    }
}

/// Visits all pairs in each round; gives the number of rounds that were begun.
fn rounds(plan: &Plan, tally: &mut Tally, step_ns: u64, budget: &mut Budget<'_>) -> u64 {
    let begin = Instant::now();
    let slot = budget.left().mul_f64(0.98) / plan.rounds as u32;
    let visits = (plan.rounds as usize * plan.pairs.len()) as f64;
    let mut visited = 0.0;
    for round in 0..plan.rounds {
        while budget.nap(begin + slot * round as u32) {
            budget.tell(0.0);
        }
        let mut order: Vec<usize> = (0..plan.pairs.len()).collect();
        Random::new(round).shuffle(&mut order);
        for place in order {
            // A visit that begins now could not end.
            if budget.left() < plan.least_visit {
                return if visited > 0.0 { round + 1 } else { 0 };
            }
            match visit::visit(plan, plan.pairs[place], step_ns, budget) {
                Ok(seen) => tally.add(place, seen),
                Err(error) => tally.fail(place, &error),
            }
            visited += 1.0;
            budget.tell(visited / visits);
        }
    }
    plan.rounds
}

#[cfg(test)]
mod tests;
