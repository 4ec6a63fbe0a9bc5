//! The pilot: determines how long a batch must be, and how many rounds a unit should have.
//!
//! Nothing of it is evidence: it has its own seeds, and its results are fixed before the first coin
//! of the run. Batches last equally long for all contestants (`even`).

mod even;
#[cfg(test)]
mod load;
mod told;

use crate::error::LabError;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{FunctionSampler, UnitFailure, UnitRequest};
use tiebreak_core::study::{Pilot, Untimed};
use tiebreak_core::verdict::Fault;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::unit;
use told::{Ran, measured, median, round_cost_ns, unit_cost_ns, variances};

/// The least length of a batch.
const BATCH_NS_MIN: f64 = 50e3;
/// Batches may be made this long to be equally long, whatever the budget.
const EVEN_NS_MAX: f64 = 5e6;
/// A batch that lasts more than this many times as long as another is reported.
const UNEVEN_MAX: f64 = 2.0;
/// The pilot's batches are good enough when their unevenness is within this factor of the best
/// possible.
const NEAR: f64 = 1.25;
/// The number of pairs that the pilot runs more than once, for the noise of their ratios.
const PAIRS_MAX: usize = 3;
/// The preferred numbers of units of such a pair, and of rounds of each, and the alternatives if
/// they cost too much.
const SIZES: [(u32, u32); 3] = [(4, 8), (4, 4), (2, 2)];
/// The share of a workload's part of the budget that the pilot may use.
const SHARE: f64 = 0.1;
/// The factor by which a batch is planned to be longer than necessary.
const HEADROOM: f64 = 1.05;
/// A call, or a preparation, that takes longer hangs.
const TIMEOUT_NS: u64 = 120_000_000_000;
/// The most times that the batch is made longer.
const CALIBRATIONS_MAX: u32 = 8;

/// The input of the pilot.
#[derive(Clone, Debug)]
pub struct Brief {
    /// The seed of its coins, as text.
    pub seed: String,
    /// What a unit draws.
    pub scope: Scope,
    /// Contestants by their index in the plan: those that a claim or a cell needs and that are not
    /// void.
    pub contestants: Vec<usize>,
    /// The pairs of them that the run races, those of claims first.
    pub pairs: Vec<[usize; 2]>,
    /// For each contestant of the plan, whether its contract is exact.
    pub is_exact: Vec<bool>,
    /// Whether each call is timed separately.
    pub times_each_call: bool,
    /// The workload's part of the budget.
    pub seconds: f64,
    /// The number of units that should fit into it.
    pub units_wanted: u64,
    /// The shortest batch that is long enough for the clock, in nanoseconds.
    pub batch_ns: f64,
}

/// The results of the pilot.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// Variances and costs.
    pub pilot: Pilot,
    /// The number of rounds in a unit.
    pub rounds_a_unit: u32,
    /// The number of calls in a batch of each contestant of the plan; 1 for those that take no
    /// part.
    pub calls_a_batch: Vec<u64>,
    /// The shortest and the longest of those batches: the contestant, and the length in
    /// nanoseconds.
    pub batches: Option<[(usize, f64); 2]>,
    /// The fastest contestant, and the time of one call of it.
    pub fastest: Option<(usize, f64)>,
    /// The time of a call, by contestant: its index and nanoseconds.
    pub calls_ns: Vec<(usize, f64)>,
    /// The work of each contestant of the plan outside of its timed calls, if it was measured.
    pub untimed: Vec<Option<Untimed>>,
    /// The metrics that every contestant's samples have.
    pub measured: Vec<Metric>,
    /// Contestants that became void.
    pub void: Vec<(usize, Fault)>,
}

impl Piloted {
    /// Returns the shortest and the longest batch, if they are far from equally long.
    pub fn uneven(&self) -> Option<[(usize, f64); 2]> {
        self.batches.filter(|[shortest, longest]| longest.1 > UNEVEN_MAX * shortest.1)
    }

    /// Returns the results if nothing can be compared.
    fn nothing(void: Vec<(usize, Fault)>) -> Piloted {
        Piloted {
            pilot: Pilot::default(),
            rounds_a_unit: unit::ROUNDS_MIN,
            calls_a_batch: vec![1],
            batches: None,
            fastest: None,
            calls_ns: Vec::new(),
            untimed: Vec::new(),
            measured: Metric::ALL.to_vec(),
            void,
        }
    }
}

struct PilotRun {
    brief: Brief,
    seed: Seed,
    next: u64,
    void: Vec<(usize, Fault)>,
}

/// Runs the pilot. `make` returns the sampler that runs units of batches with this many calls of
/// each contestant.
///
/// # Errors
/// Fails if `make` or the machine fails; also with [`LabError::Interrupted`].
pub fn run<S: FunctionSampler>(
    brief: Brief,
    make: &mut dyn FnMut(&[u64]) -> Result<S, LabError>,
) -> Result<Piloted, LabError> {
    let seed = Seed::from_text(&brief.seed);
    let mut flight = PilotRun { brief, seed, next: 0, void: Vec::new() };
    let Some((mut sampler, calls, first)) = flight.calibrate(make)? else {
        return Ok(Piloted::nothing(flight.void));
    };
    let (flown, is_first_one) = flight.fly(&mut sampler, &first, &calls)?;
    if flight.brief.contestants.len() < 2 {
        return Ok(Piloted::nothing(flight.void));
    }
    let from = usize::from(!is_first_one && !flown.is_empty());
    let seen: Vec<Ran> = std::iter::once(first).chain(flown).collect();
    let count = flight.brief.is_exact.len();
    let untimed = (0..count).map(|contestant| sampler.untimed(contestant)).collect();
    Ok(Piloted { untimed, ..flight.conclude(&seen, from, &calls) })
}

impl PilotRun {
    /// Determines how many calls make a batch of each, and returns them with the first unit of such
    /// batches.
    fn calibrate<S: FunctionSampler>(
        &mut self,
        make: &mut dyn FnMut(&[u64]) -> Result<S, LabError>,
    ) -> Result<Option<(S, Vec<u64>, Ran)>, LabError> {
        let mut calls = vec![1; self.brief.is_exact.len()];
        let mut left = CALIBRATIONS_MAX;
        loop {
            let mut sampler = make(&calls)?;
            let all = self.brief.contestants.clone();
            let Some(ran) = self.unit(&mut sampler, &all, unit::ROUNDS_MIN)? else {
                return Ok(None);
            };
            let wanted = self.wanted(std::slice::from_ref(&ran), &calls);
            left -= 1;
            if left == 0 || wanted == calls || self.is_good(&ran, &calls, &wanted) {
                return Ok(Some((sampler, calls, ran)));
            }
            calls = wanted;
        }
    }

    /// Returns the pairs without void contestants; if none is left, the first contestant with each
    /// other one.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let all = &self.brief.contestants;
        let is_there = |pair: &&[usize; 2]| pair.iter().all(|one| all.contains(one));
        let pairs: Vec<_> = self.brief.pairs.iter().filter(is_there).copied().collect();
        match (pairs.is_empty(), all.split_first()) {
            (true, Some((first, others))) => others.iter().map(|one| [*first, *one]).collect(),
            _ => pairs,
        }
    }

    /// Runs units of two contestants each, as the run will. Every pair runs once, so that the time
    /// of a call is known with one other contestant in the process. The first pairs run more often,
    /// within the pilot's share of the budget. There is at least one unit. Also returns whether
    /// `first` is such a unit.
    fn fly<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        first: &Ran,
        calls: &[u64],
    ) -> Result<(Vec<Ran>, bool), LabError> {
        let pairs = self.pairs();
        if pairs.is_empty() {
            return Ok((Vec::new(), false));
        }
        let (round_ns, share_ns) = (round_cost_ns(first, calls), SHARE * self.brief.seconds * 1e9);
        let unit_ns = unit_cost_ns(first, round_ns);
        let of_two = 2.0 / first.order.len() as f64;
        let again = pairs.len().min(PAIRS_MAX);
        let costs = |rounds: u32| unit_ns + f64::from(rounds) * round_ns * of_two;
        let all_cost = |(units, rounds): (u32, u32)| {
            (pairs.len() + (units as usize - 1) * again) as f64 * costs(rounds)
        };
        let size = SIZES.into_iter().find(|size| all_cost(*size) <= share_ns);
        let (units, rounds) = size.unwrap_or((2, 2));
        let is_one = rounds == unit::ROUNDS_MIN && first.order.len() == 2;
        // The first pair comes twice before any other: otherwise nothing is known about noise.
        let more = (2..units).flat_map(|_| &pairs[..again]).chain(&pairs[1..again.max(1)]);
        let turns = pairs[..1].iter().chain(&pairs).chain(more).skip(usize::from(is_one));
        let (mut flown, mut spent_ns): (Vec<Ran>, f64) = (Vec::new(), 0.0);
        for pair in turns {
            let costs_ns = flown.last().map_or(costs(rounds), |ran: &Ran| ran.took_ns as f64);
            if (is_one || !flown.is_empty()) && spent_ns + costs_ns > share_ns {
                break;
            }
            match self.unit(sampler, pair, rounds)? {
                Some(ran) => {
                    spent_ns += ran.took_ns as f64;
                    flown.push(ran);
                }
                // One of them is void: the pairs of the others may have changed.
                None => return self.fly(sampler, first, calls),
            }
        }
        Ok((flown, is_one))
    }

    /// Returns the time of a call of each contestant in the quickest of these units.
    fn call_ns(&self, all: &[Ran], calls: &[u64]) -> Vec<f64> {
        let of_one = |one: &usize| {
            let batches = all.iter().map(|ran| ran.quiet_batch_ns(*one));
            batches.fold(f64::INFINITY, f64::min) / calls[*one] as f64
        };
        self.brief.contestants.iter().map(of_one).collect()
    }

    /// Returns the shortest batch that is long enough for what is read at its ends.
    fn shortest_ns(&self) -> f64 {
        if self.brief.times_each_call {
            BATCH_NS_MIN
        } else {
            BATCH_NS_MIN.max(self.brief.batch_ns)
        }
    }

    /// Returns how many calls a batch of each should have, according to these units.
    fn wanted(&self, all: &[Ran], calls: &[u64]) -> Vec<u64> {
        let Brief { contestants, seconds, units_wanted, .. } = &self.brief;
        let pairs = self.pairs().len().max(1) as f64;
        let unit_ns = seconds * 1e9 / (*units_wanted).max(1) as f64;
        // Batches of one slow contestant may set the length of all, if enough units still fit.
        let batches = f64::from(unit::ROUNDS_MIN) * 2.0 * pairs;
        let longest_ns = EVEN_NS_MAX.max(unit_ns / batches);
        // A little more than necessary, so that the next unit is long enough.
        let shortest_ns = HEADROOM * self.shortest_ns();
        let each = even::calls(&self.call_ns(all, calls), shortest_ns, longest_ns);
        // Resets before each call are not in a batch's time, but take time too.
        let took_ns = all.iter().map(|ran| ran.took_ns).max().unwrap_or(1).max(1);
        let growth = if self.brief.times_each_call {
            (unit_ns / took_ns as f64).max(1.0)
        } else {
            f64::INFINITY
        };
        let mut wanted = vec![1; calls.len()];
        for (one, each) in contestants.iter().zip(each) {
            wanted[*one] = each.min((calls[*one] as f64 * growth) as u64);
        }
        wanted
    }

    /// Returns whether the batches of a unit are long enough and about as even as those that are
    /// wanted.
    fn is_good(&self, ran: &Ran, calls: &[u64], wanted: &[u64]) -> bool {
        let call_ns = self.call_ns(std::slice::from_ref(ran), calls);
        let of = |all: &[u64]| -> Vec<u64> {
            self.brief.contestants.iter().map(|one| all[*one]).collect()
        };
        let mut batches = of(calls).into_iter().zip(&call_ns).map(|(calls, ns)| calls as f64 * ns);
        let uneven = |all: &[u64]| even::unevenness(&of(all), &call_ns);
        batches.all(|ns| ns >= self.shortest_ns()) && uneven(calls) <= NEAR * uneven(wanted)
    }

    /// Runs a unit with the contestants of a company that are not void; `None` if nothing is left
    /// to compare.
    fn unit<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        company: &[usize],
        rounds: u32,
    ) -> Result<Option<Ran>, LabError> {
        loop {
            let is_there = |one: &usize| self.brief.contestants.contains(one);
            let there: Vec<usize> = company.iter().copied().filter(is_there).collect();
            if there.len() < 2 {
                return Ok(None);
            }
            let mut coins = coins::draw(self.seed, self.next, 0, &there);
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
    }

    /// Returns the results from all units; those from index `from` on are as in the run.
    fn conclude(self, seen: &[Ran], from: usize, calls: &[u64]) -> Piloted {
        let contestants = &self.brief.contestants;
        let (all, pairs) = (&seen[from..], self.pairs());
        let noise = variances(all, &pairs, &self.brief.is_exact);
        let mut pilot = noise.unwrap_or_default();
        // With fewer than two units nothing is known about noise.
        pilot.units = noise.map_or(1, |_| all.len() as u32);
        let rounds: Vec<f64> = all.iter().map(|ran| round_cost_ns(ran, calls)).collect();
        let units = all.iter().zip(&rounds).map(|(ran, round)| unit_cost_ns(ran, *round)).collect();
        pilot.round_cost_ns = median(rounds);
        pilot.unit_cost_ns = median(units);
        let wanted = self.wanted(seen, calls);
        let call_ns = self.call_ns(seen, calls);
        let calls_ns: Vec<(usize, f64)> = contestants.iter().copied().zip(call_ns).collect();
        let batch = |(one, ns): &(usize, f64)| (*one, *ns * wanted[*one] as f64);
        let shortest = calls_ns.iter().map(batch).min_by(|a, b| a.1.total_cmp(&b.1));
        let longest = calls_ns.iter().map(batch).max_by(|a, b| a.1.total_cmp(&b.1));
        // If the noise of units is unknown, it is assumed equal to that of rounds.
        let alike = Pilot { variance_within: 1.0, variance_between: 1.0, ..pilot };
        let noise = if noise.is_none() { &alike } else { &pilot };
        let rounds_a_unit = match self.brief.scope {
            Scope::Layout => 1,
            _ => {
                let seconds = self.brief.seconds / pairs.len().max(1) as f64;
                unit::best_rounds(noise, self.brief.units_wanted, seconds)
            }
        };
        Piloted {
            pilot,
            rounds_a_unit,
            fastest: calls_ns.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1)),
            batches: shortest.zip(longest).map(<[(usize, f64); 2]>::from),
            calls_ns,
            untimed: Vec::new(),
            calls_a_batch: wanted,
            measured: measured(seen),
            void: self.void,
        }
    }
}

#[cfg(test)]
mod tests;
