//! The pilot: how long a batch must be, and how many rounds a unit should have.
//!
//! Nothing of it is evidence: it has seeds of its own, and what it finds is fixed, the same for all
//! contestants, before the first coin of the run.

mod told;

use crate::error::LabError;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{Sampler, UnitFailure, UnitRequest};
use tiebreak_core::study::Pilot;
use tiebreak_core::verdict::Fault;
use tiebreak_measure::workers::calls_a_batch;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::unit;
use told::{Ran, least, measured, median, round_cost_ns, unit_cost_ns, variances};

/// A batch is at least this long.
const BATCH_NS_MIN: f64 = 50e3;
/// Where each call is timed by itself, the slowest contestant's batch is at most this long if more
/// than one call is in it.
const RESET_BATCH_NS_MAX: f64 = 5e6;
/// Units and rounds that the pilot would like to have, and what it takes if they cost too much.
const SIZES: [(u32, u32); 3] = [(4, 8), (4, 4), (2, 2)];
/// The share of a workload's part of the budget that the pilot may use.
const SHARE: f64 = 0.1;
/// A batch is planned to be so much longer than it must be.
const HEADROOM: f64 = 1.05;
/// A call, or a preparation, that takes longer hangs.
const TIMEOUT_NS: u64 = 120_000_000_000;
/// The batch is made longer at most so often.
const CALIBRATIONS_MAX: u32 = 8;

/// What the pilot is told.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The seed of its coins, as text.
    pub seed: String,
    /// What a unit draws.
    pub scope: Scope,
    /// Contestants by their index in the plan, those that are void left out.
    pub contestants: Vec<usize>,
    /// For each contestant of the plan, whether its contract is exact.
    pub is_exact: Vec<bool>,
    /// The one that the others are compared with, if it takes part.
    pub reference: usize,
    /// Whether each call is timed by itself.
    pub times_each_call: bool,
    /// The workload's part of the budget.
    pub seconds: f64,
    /// So many units should fit into it.
    pub units_wanted: u64,
    /// The shortest batch that is long for the clock, in nanoseconds.
    pub batch_ns: f64,
}

/// What the pilot found.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// Variances and costs.
    pub pilot: Pilot,
    /// Rounds of a unit.
    pub rounds_a_unit: u32,
    /// Calls of a batch.
    pub calls_a_batch: u64,
    /// The fastest contestant, with what one call of it takes.
    pub fastest: Option<(usize, f64)>,
    /// What every contestant's samples tell.
    pub measured: Vec<Metric>,
    /// Contestants that turned out to be void.
    pub void: Vec<(usize, Fault)>,
}

impl Piloted {
    /// What is planned where nothing can be compared.
    fn nothing(void: Vec<(usize, Fault)>) -> Piloted {
        Piloted {
            pilot: Pilot::default(),
            rounds_a_unit: unit::ROUNDS_MIN,
            calls_a_batch: 1,
            fastest: None,
            measured: Metric::ALL.to_vec(),
            void,
        }
    }
}

struct Flight {
    brief: Brief,
    seed: Seed,
    next: u64,
    void: Vec<(usize, Fault)>,
}

/// Runs the pilot. `make` gives what runs units of so many calls a batch.
///
/// # Errors
/// What `make` says; the machine fails; [`LabError::Interrupted`].
pub fn run<S: Sampler>(
    brief: Brief,
    make: &mut dyn FnMut(u64) -> Result<S, LabError>,
) -> Result<Piloted, LabError> {
    let seed = Seed::from_text(&brief.seed);
    let mut flight = Flight { brief, seed, next: 0, void: Vec::new() };
    let Some((mut sampler, calls, first)) = flight.calibrate(make)? else {
        return Ok(Piloted::nothing(flight.void));
    };
    let round_ns = round_cost_ns(&first, &flight.brief.contestants, calls);
    let unit_ns = unit_cost_ns(&first, round_ns);
    let share_ns = SHARE * flight.brief.seconds * 1e9;
    let costs =
        |(units, rounds): (u32, u32)| f64::from(units) * (unit_ns + f64::from(rounds) * round_ns);
    let (units, rounds) = SIZES.into_iter().find(|size| costs(*size) <= share_ns).unwrap_or((2, 2));
    // A unit that was run to find the batch counts, if it is as the others.
    let mut all = if (units, rounds) == (2, 2) { vec![first] } else { Vec::new() };
    // Where one unit alone is too much, nothing can be afforded to choose by.
    while all.len() < units as usize && (all.is_empty() || costs((1, 2)) <= share_ns) {
        match flight.unit(&mut sampler, rounds)? {
            Some(ran) => all.push(ran),
            None => return Ok(Piloted::nothing(flight.void)),
        }
    }
    Ok(flight.conclude(&all, calls))
}

impl Flight {
    /// Finds how many calls make a batch, and the first unit of such batches.
    fn calibrate<S: Sampler>(
        &mut self,
        make: &mut dyn FnMut(u64) -> Result<S, LabError>,
    ) -> Result<Option<(S, u64, Ran)>, LabError> {
        let mut calls = 1;
        let mut left = CALIBRATIONS_MAX;
        loop {
            let mut sampler = make(calls)?;
            let Some(ran) = self.unit(&mut sampler, unit::ROUNDS_MIN)? else { return Ok(None) };
            let wanted = self.calls(&ran, calls);
            left -= 1;
            if wanted <= calls || left == 0 {
                return Ok(Some((sampler, calls, ran)));
            }
            calls = wanted;
        }
    }

    /// How many calls a batch should have, as far as this unit tells.
    fn calls(&self, ran: &Ran, calls: u64) -> u64 {
        let each = self.brief.contestants.iter().map(|one| least(ran.batches(*one)));
        let (fastest, slowest) = each
            .fold((f64::INFINITY, 0.0_f64), |(low, high), batch| (low.min(batch), high.max(batch)));
        let wanted_ns = match self.brief.times_each_call {
            true => BATCH_NS_MIN,
            false => BATCH_NS_MIN.max(self.brief.batch_ns),
        };
        if fastest >= wanted_ns {
            return calls;
        }
        // A little more than is needed, so that the next unit is long enough.
        let wanted = calls_a_batch(fastest / calls as f64, HEADROOM * wanted_ns);
        let most = match self.brief.times_each_call {
            true => (RESET_BATCH_NS_MAX * calls as f64 / slowest.max(1.0)) as u64,
            false => u64::MAX,
        };
        wanted.min(most).max(1)
    }

    /// A unit with all contestants that are not void; `None` if nothing is left to compare.
    fn unit<S: Sampler>(&mut self, sampler: &mut S, rounds: u32) -> Result<Option<Ran>, LabError> {
        while self.brief.contestants.len() > 1 {
            let mut coins = coins::draw(self.seed, self.next, 0, &self.brief.contestants);
            let drawn = coins::draw_unit(self.seed, &coins, self.brief.scope);
            let orders = coins::unit_orders(drawn.orders_seed, rounds, &coins.order);
            let placements: Vec<_> =
                coins.order.iter().copied().zip(drawn.placements.iter().copied()).collect();
            coins.unit = Some(drawn);
            self.next += 1;
            let started_ns = sampler.now_ns();
            if self.brief.scope == Scope::Code {
                sampler.expect(&placements);
            }
            let timeout_ns = TIMEOUT_NS;
            let members = &coins.order;
            let request = UnitRequest { coins: &coins, members, orders: &orders, timeout_ns };
            let ran = sampler.run_unit(&request);
            match ran {
                Ok(unit) => {
                    let took_ns = sampler.now_ns().saturating_sub(started_ns);
                    return Ok(Some(Ran { order: coins.order, unit, took_ns }));
                }
                Err(UnitFailure::Fault(contestant, fault)) => {
                    self.brief.contestants.retain(|one| *one != contestant);
                    self.void.push((contestant, fault));
                }
                Err(UnitFailure::Interrupted) => return Err(LabError::Interrupted),
                Err(UnitFailure::Broken(why)) => return Err(LabError::Broken(why)),
            }
        }
        Ok(None)
    }

    fn conclude(self, all: &[Ran], calls: u64) -> Piloted {
        let contestants = &self.brief.contestants;
        let mut pilot = variances(all, &self.brief);
        pilot.units = all.len() as u32;
        let rounds: Vec<f64> =
            all.iter().map(|ran| round_cost_ns(ran, contestants, calls)).collect();
        let units = all.iter().zip(&rounds).map(|(ran, round)| unit_cost_ns(ran, *round)).collect();
        pilot.round_cost_ns = median(rounds);
        pilot.unit_cost_ns = median(units);
        let call_ns = |one: &usize| {
            let batches = all.iter().map(|ran| least(ran.batches(*one)));
            (*one, batches.fold(f64::INFINITY, f64::min) / calls as f64)
        };
        // Without two units nothing is known of their noise: as much as that of rounds, say.
        let alike = Pilot { variance_within: 1.0, variance_between: 1.0, ..pilot };
        let noise = if all.len() < 2 { &alike } else { &pilot };
        let rounds_a_unit = match self.brief.scope {
            Scope::Layout => 1,
            _ => unit::best_rounds(noise, self.brief.units_wanted, self.brief.seconds),
        };
        Piloted {
            pilot,
            rounds_a_unit,
            calls_a_batch: calls,
            fastest: contestants.iter().map(call_ns).min_by(|a, b| a.1.total_cmp(&b.1)),
            measured: measured(all),
            void: self.void,
        }
    }
}

#[cfg(test)]
mod tests;
