//! The pilot: determines how long a batch must be, and how many rounds a unit should have.
//!
//! Nothing of it is evidence: it has its own seeds, and its results are fixed before the first coin
//! of the run.
//!
//! Batches last equally long for all contestants. An interruption by other processes makes a batch
//! longer by the time that they took, and a longer batch is interrupted more often. The factor by
//! which batches become longer has the same distribution only if they last equally long: then it
//! has no effect on the sign of a log ratio.

mod ran;

use self::ran::{Ran, measured, noise, warm_rounds};
use super::fault;
use crate::ahead;
use crate::error::Result;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sampler::{FunctionSampler, UnitRequest};
use tiebreak_core::study::{BatchCalls, Pilot, Untimed};
use tiebreak_core::verdict::Fault;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::unit::{self, Goal};

/// The least length of a batch.
const BATCH_NS_MIN: f64 = 50e3;
/// Batches may be made this long to be equally long, whatever the budget.
const EVEN_NS_MAX: f64 = 5e6;
/// A batch that lasts more than this many times as long as another is reported.
const UNEVEN_MAX: f64 = 2.0;
/// The pilot's batches are good enough when their unevenness is within this factor of the best
/// possible.
const NEAR: f64 = 1.25;
/// The number of units that pairs have together, at least, for the noise of their ratios; each pair
/// has between [`PAIR_UNITS_MIN`] and [`PAIR_UNITS_MAX`].
const UNITS_MIN: usize = 12;
const PAIR_UNITS_MIN: usize = 2;
const PAIR_UNITS_MAX: usize = 4;
/// The preferred number of rounds of such a unit, and the alternatives if it costs too much.
const ROUNDS: [u32; 3] = [8, 4, 2];
/// The share of a workload's part of the budget that the pilot may use.
const SHARE: f64 = 0.1;
/// The factor by which a batch is planned to be longer than necessary.
const HEADROOM: f64 = 1.05;
/// A call, or a preparation, that takes longer hangs.
const TIMEOUT_NS: u64 = 120_000_000_000;
/// The most times that the batch is made longer.
const CALIBRATIONS_MAX: u32 = 8;
/// If equal batches are impossible, their lengths should be within this factor of one another.
const UNEVEN: f64 = 1.1;
/// The number of lengths of the slowest contestant's batch that are tried.
const TRIES: u64 = 20;

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
    /// What the units of each pair are to find out, in the workload's part of the budget.
    pub goal: Goal,
    /// The shortest batch that is long enough for the clock, in nanoseconds.
    pub batch_ns: f64,
    /// The calls of a batch, if the study gives them.
    pub calls: Option<u64>,
    /// Whether contestants are warm before their first round, as those of runners are.
    pub is_warm: bool,
}

/// The results of the pilot.
#[derive(Clone, Debug, PartialEq)]
pub struct Piloted {
    /// Variances and costs.
    pub pilot: Pilot,
    /// The number of rounds in a unit.
    pub rounds_a_unit: u32,
    /// The number of calls in a batch of each contestant of the plan.
    pub calls_a_batch: BatchCalls,
    /// The pairs that the run races.
    pub pairs: Vec<[usize; 2]>,
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
    /// Returns the fastest contestant, and the time of one call of it.
    pub fn fastest(&self) -> Option<(usize, f64)> {
        self.calls_ns.iter().copied().min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Returns the shorter and the longer batch of each pair: the contestant, and the length in
    /// nanoseconds.
    pub fn batches(&self) -> impl Iterator<Item = [(usize, f64); 2]> {
        self.pairs.iter().filter_map(|pair| {
            let mut both = pair.map(|one| {
                let call_ns = self.calls_ns.iter().find(|(other, _)| *other == one);
                let calls = self.calls_a_batch.of(one, pair) as f64;
                (one, call_ns.map_or(f64::NAN, |(_, ns)| ns * calls))
            });
            both.sort_by(|a, b| a.1.total_cmp(&b.1));
            both.iter().all(|(_, ns)| ns.is_finite()).then_some(both)
        })
    }

    /// Returns the shorter and the longer batch of the pair that is furthest from equal, if it is
    /// far from that.
    pub fn uneven(&self) -> Option<[(usize, f64); 2]> {
        let uneven = |[shorter, longer]: &[(usize, f64); 2]| longer.1 / shorter.1;
        let worst = self.batches().max_by(|a, b| uneven(a).total_cmp(&uneven(b)));
        worst.filter(|pair| uneven(pair) > UNEVEN_MAX)
    }

    /// Returns the results if nothing can be compared.
    fn nothing(void: Vec<(usize, Fault)>) -> Piloted {
        Piloted {
            pilot: Pilot::default(),
            rounds_a_unit: unit::ROUNDS_MIN,
            calls_a_batch: BatchCalls::Alike(1),
            pairs: Vec::new(),
            calls_ns: Vec::new(),
            untimed: Vec::new(),
            measured: Metric::ALL.to_vec(),
            void,
        }
    }
}

struct PilotRun {
    brief: Brief,
    /// The number of calls in a batch of each contestant of the plan.
    calls: BatchCalls,
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
    make: &mut dyn FnMut(&BatchCalls) -> Result<S>,
) -> Result<Piloted> {
    let seed = Seed::from_text(&brief.seed);
    let calls = BatchCalls::Alike(1);
    let mut pilot = PilotRun { brief, calls, seed, next: 0, void: Vec::new() };
    let Some((all, first)) = pilot.calibrate(make)? else {
        return Ok(Piloted::nothing(pilot.void));
    };
    pilot.calls = pilot.wanted(std::slice::from_ref(&first));
    let mut sampler = make(&pilot.calls)?;
    let (ran, is_first_one) = pilot.run_pairs(&mut sampler, &first)?;
    if pilot.brief.contestants.len() < 2 {
        return Ok(Piloted::nothing(pilot.void));
    }
    let from = usize::from(!is_first_one && !ran.is_empty());
    let seen: Vec<Ran> = std::iter::once(first).chain(ran).collect();
    let contestants = 0..pilot.brief.is_exact.len();
    let untimed = contestants.map(|one| sampler.untimed(one).or_else(|| all.untimed(one)));
    let untimed = untimed.collect();
    Ok(pilot.conclude(seen, from, untimed))
}

impl PilotRun {
    /// Determines how many calls make a batch of each, and returns the first unit of such batches.
    fn calibrate<S: FunctionSampler>(
        &mut self,
        make: &mut dyn FnMut(&BatchCalls) -> Result<S>,
    ) -> Result<Option<(S, Ran)>> {
        let mut left = CALIBRATIONS_MAX;
        let all = self.brief.contestants.clone();
        loop {
            let mut sampler = make(&self.calls)?;
            let Some(ran) = self.unit(&mut sampler, [&all, &[]], unit::ROUNDS_MIN)? else {
                return Ok(None);
            };
            let wanted = self.wanted(std::slice::from_ref(&ran));
            left -= 1;
            if left == 0 || wanted == self.calls || self.is_good(&ran, &wanted) {
                return Ok(Some((sampler, ran)));
            }
            self.calls = wanted;
        }
    }

    /// Returns the pairs without void contestants; if none is left, the first contestant with each
    /// other one.
    fn pairs(&self) -> Vec<[usize; 2]> {
        let all = &self.brief.contestants;
        let mut pairs = self.brief.pairs.clone();
        pairs.retain(|pair| pair.iter().all(|one| all.contains(one)));
        match all.split_first() {
            Some((first, others)) if pairs.is_empty() => {
                others.iter().map(|one| [*first, *one]).collect()
            }
            _ => pairs,
        }
    }

    /// Runs units of two contestants each, as the run will. Every pair runs once, so that the time
    /// of a call is known with one other contestant in the process, and then again, within the
    /// pilot's share of the budget. There is at least one unit. Also returns whether `first` is
    /// such a unit.
    fn run_pairs<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        first: &Ran,
    ) -> Result<(Vec<Ran>, bool)> {
        let pairs = self.pairs();
        if pairs.is_empty() {
            return Ok((Vec::new(), false));
        }
        let share_ns = SHARE * self.brief.goal.seconds * 1e9;
        let units = UNITS_MIN.clamp(PAIR_UNITS_MIN * pairs.len(), PAIR_UNITS_MAX * pairs.len());
        let affordable = |units: usize, unit_ns: f64, round_ns: f64| {
            let cost_ns = |rounds: u32| units as f64 * (unit_ns + f64::from(rounds) * round_ns);
            let fitting = ROUNDS.into_iter().find(|rounds| cost_ns(*rounds) <= share_ns);
            fitting.unwrap_or(unit::ROUNDS_MIN)
        };
        let is_of_two = first.order.len() == 2;
        // A unit of more costs more than one of two.
        let wanted = if is_of_two { units } else { PAIR_UNITS_MIN };
        let round_ns = first.round_cost_ns() * 2.0 / first.order.len() as f64;
        let mut rounds = affordable(wanted, first.unit_cost_ns(), round_ns);
        let is_one = rounds == unit::ROUNDS_MIN && is_of_two;
        // The first pair comes twice before any other: otherwise nothing is known about noise.
        let again = pairs[1..].iter().chain(pairs.iter().cycle());
        let turns = pairs[..1].iter().chain(&pairs[..1]).chain(again);
        let turns = turns.take(units).skip(usize::from(is_one));
        let mut turns = turns.peekable();
        let (mut all, mut spent_ns): (Vec<Ran>, f64) = (Vec::new(), 0.0);
        while let Some(pair) = turns.next() {
            let cost_ns = match all.last() {
                Some(ran) => ran.took_ns as f64,
                None => first.unit_cost_ns() + f64::from(rounds) * round_ns,
            };
            if (is_one || !all.is_empty()) && spent_ns + cost_ns > share_ns {
                break;
            }
            let next: &[usize] = turns.peek().map_or(&[], |next| next.as_slice());
            let Some(ran) = self.unit(sampler, [pair, next], rounds)? else {
                // One of them is void: the pairs of the others may have changed.
                return self.run_pairs(sampler, first);
            };
            spent_ns += ran.took_ns as f64;
            if all.is_empty() && !is_of_two {
                rounds = affordable(units, ran.unit_cost_ns(), ran.round_cost_ns());
            }
            all.push(ran);
        }
        Ok((all, is_one))
    }

    /// Returns the time of a call of each contestant of the plan in the quickest of these units;
    /// infinite for those that took no part.
    fn call_ns(&self, all: &[Ran]) -> Vec<f64> {
        let quickest = (0..self.brief.is_exact.len())
            .map(|one| all.iter().map(|ran| ran.quiet_call_ns(one)).fold(f64::INFINITY, f64::min));
        quickest.collect()
    }

    /// Returns the shortest batch that is long enough for what is read at its ends.
    fn shortest_ns(&self) -> f64 {
        let meters_ns = if self.brief.times_each_call { 0.0 } else { self.brief.batch_ns };
        BATCH_NS_MIN.max(meters_ns)
    }

    /// Returns how many calls a batch of each should have, according to these units: those of a
    /// pair last about equally long, and so do those of all together.
    fn wanted(&self, all: &[Ran]) -> BatchCalls {
        if let Some(calls) = self.brief.calls {
            return BatchCalls::Alike(calls);
        }
        let Brief { contestants, goal, is_exact, .. } = &self.brief;
        let pairs = self.pairs();
        let unit_ns = goal.seconds * 1e9 / goal.units.max(1) as f64;
        // Batches of one slow contestant may set the length of others, if enough units still fit.
        let batches = f64::from(unit::ROUNDS_MIN) * 2.0 * pairs.len().max(1) as f64;
        let longest_ns = EVEN_NS_MAX.max(unit_ns / batches);
        // A little more than necessary, so that the next unit is long enough.
        let shortest_ns = HEADROOM * self.shortest_ns();
        let call_ns = self.call_ns(all);
        // Resets before each call are not in a batch's time, but take time too.
        let took_ns = all.iter().map(|ran| ran.took_ns).max().unwrap_or(1).max(1);
        let growth = (unit_ns / took_ns as f64).max(1.0);
        let growth = if self.brief.times_each_call { growth } else { f64::INFINITY };
        let limits = Limits { shortest_ns, longest_ns, growth };
        let mut each = vec![1; is_exact.len()];
        for (one, calls) in contestants.iter().zip(self.even(contestants, &call_ns, limits)) {
            each[*one] = calls;
        }
        let of_pairs = pairs.iter().filter_map(|pair| {
            let calls = self.even(pair, &call_ns, limits);
            Some((*pair, calls.try_into().ok()?))
        });
        BatchCalls::Pairs { each, pairs: of_pairs.collect() }
    }

    /// Returns the numbers of calls with which the batches of these contestants last about equally
    /// long. `call_ns` has the time of a call of each contestant of the plan.
    fn even(&self, company: &[usize], call_ns: &[f64], limits: Limits) -> Vec<u64> {
        let Limits { shortest_ns, longest_ns, growth } = limits;
        let of: Vec<f64> = company.iter().map(|one| call_ns[*one]).collect();
        let calls = even_calls(&of, shortest_ns, longest_ns);
        let most = company.iter().map(|one| self.calls.of(*one, company) as f64 * growth);
        calls.into_iter().zip(most).map(|(calls, most)| calls.min(most as u64)).collect()
    }

    /// Returns whether the batches of a unit are long enough and about as even as those that are
    /// wanted.
    fn is_good(&self, ran: &Ran, wanted: &BatchCalls) -> bool {
        let call_ns = self.call_ns(std::slice::from_ref(ran));
        let all = &self.brief.contestants;
        let of = |calls: &BatchCalls| all.iter().map(|one| calls.of(*one, all)).collect();
        let (now, wanted): (Vec<u64>, Vec<u64>) = (of(&self.calls), of(wanted));
        let call_ns: Vec<f64> = all.iter().map(|one| call_ns[*one]).collect();
        let mut batches = now.iter().zip(&call_ns).map(|(calls, ns)| *calls as f64 * ns);
        batches.all(|ns| ns >= self.shortest_ns())
            && unevenness(&now, &call_ns) <= NEAR * unevenness(&wanted, &call_ns)
    }

    /// Runs a unit with the contestants of a company that are not void, after a wait for quiet as
    /// in the run; `None` if nothing is left to compare. The company of the next unit is announced
    /// with it, so that a unit costs what it will cost in the run.
    fn unit<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        companies: [&[usize]; 2],
        rounds: u32,
    ) -> Result<Option<Ran>> {
        loop {
            let mut units = Vec::new();
            for (round, company) in (self.next..).zip(companies) {
                let mut there = company.to_vec();
                there.retain(|one| self.brief.contestants.contains(one));
                if there.len() >= 2 {
                    units.push(ahead::unit(self.seed, round, 0, &there, self.brief.scope));
                } else if round == self.next {
                    return Ok(None);
                }
            }
            let coins = &units[0];
            let orders_seed = coins.unit.as_ref().map_or(0, |unit| unit.orders_seed);
            let orders = coins::unit_orders(orders_seed, rounds, &coins.order);
            self.next += 1;
            let started_ns = sampler.now_ns();
            if self.brief.scope != Scope::Layout {
                sampler.expect(&units);
            }
            sampler.wait_for_quiet(TIMEOUT_NS);
            let members = &coins.order;
            let (orders, timeout_ns) = (&orders, TIMEOUT_NS);
            let ran = sampler.run_unit(&UnitRequest { coins, members, orders, timeout_ns });
            match fault(ran)? {
                Ok(unit) => {
                    let took_ns = sampler.now_ns().saturating_sub(started_ns);
                    let order = coins.order.clone();
                    let calls = order.iter().map(|one| self.calls.of(*one, &order)).collect();
                    return Ok(Some(Ran { order, calls, unit, rounds, took_ns }));
                }
                Err((contestant, fault)) => {
                    self.brief.contestants.retain(|one| *one != contestant);
                    self.void.push((contestant, fault));
                }
            }
        }
    }

    /// Returns the results from all units; those from index `from` on are as in the run.
    fn conclude(self, mut seen: Vec<Ran>, from: usize, untimed: Vec<Option<Untimed>>) -> Piloted {
        let calls_a_batch = self.wanted(&seen);
        let (contestants, call_ns) = (self.brief.contestants.iter().copied(), self.call_ns(&seen));
        let measured = measured(&seen);
        let (all, pairs) = (&mut seen[from..], self.pairs());
        // A process that stays warms up only once.
        let is_warm = self.brief.is_warm || self.brief.scope == Scope::Layout;
        let warm_rounds = if is_warm { 0 } else { warm_rounds(all, &self.brief.contestants) };
        all.iter_mut().for_each(|ran| ran.forget(warm_rounds));
        let noise = noise(all, &pairs, &self.brief.is_exact);
        let pilot = Pilot {
            // With fewer than two units nothing is known about noise.
            units: noise.map_or(1, |_| all.len() as u32),
            warm_rounds: warm_rounds as u32,
            variance_within: noise.map_or(0.0, |noise| noise.within),
            variance_between: noise.map_or(0.0, |noise| noise.between),
            round_cost_ns: median(all.iter().map(Ran::round_cost_ns)),
            unit_cost_ns: median(all.iter().map(Ran::unit_cost_ns)),
        };
        // If the noise of units is unknown, it is assumed equal to that of rounds.
        let alike = Pilot { variance_within: 1.0, variance_between: 1.0, ..pilot };
        let (known, of_two) = noise.map_or((&alike, 0.5), |noise| (&pilot, noise.of_two));
        Piloted {
            pilot,
            rounds_a_unit: match self.brief.scope {
                Scope::Layout => 1,
                _ => unit::best_rounds(known, of_two, &self.brief.goal),
            },
            calls_ns: contestants.map(|one| (one, call_ns[one])).collect(),
            untimed,
            calls_a_batch,
            pairs,
            measured,
            void: self.void,
        }
    }
}

/// How long batches may last, and how many times as many calls as now they may have.
#[derive(Clone, Copy, Debug)]
struct Limits {
    shortest_ns: f64,
    longest_ns: f64,
    growth: f64,
}

/// Returns the middle value, or the larger of the two middle values of an even number; 0 for none.
fn median(values: impl Iterator<Item = f64>) -> f64 {
    middle(values.collect()).unwrap_or(0.0)
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// Returns the calls of a batch of each contestant, from the time of a call of each in nanoseconds.
///
/// Every batch is at least `shortest_ns` long. All last as long as the shortest batch of the
/// slowest contestant with which their lengths are within a tenth of one another, at most
/// `longest_ns`. A contestant whose single call is longer than that has batches of one call, longer
/// than the others'. Costs some microseconds for a hundred contestants.
fn even_calls(call_ns: &[f64], shortest_ns: f64, longest_ns: f64) -> Vec<u64> {
    let slowest_ns = call_ns.iter().copied().fold(1.0, f64::max);
    let step_ns = slowest_ns.min(longest_ns.max(1.0));
    let least = (shortest_ns / step_ns).ceil().max(1.0) as u64;
    let most = ((longest_ns / step_ns) as u64).clamp(least, least.saturating_add(TRIES));
    let mut best = (f64::INFINITY, Vec::new());
    for times in least..=most {
        let target_ns = times as f64 * step_ns;
        let each = call_ns.iter().map(|ns| nearest(ns.max(0.1), target_ns, shortest_ns));
        let calls: Vec<u64> = each.collect();
        let uneven = unevenness(&calls, call_ns);
        if uneven < best.0 || best.1.is_empty() {
            best = (uneven, calls);
        }
        if uneven <= UNEVEN {
            break;
        }
    }
    best.1
}

/// Returns the ratio of the longest batch to the shortest.
fn unevenness(calls: &[u64], call_ns: &[f64]) -> f64 {
    let batches = calls.iter().zip(call_ns).map(|(calls, ns)| *calls as f64 * ns.max(0.1));
    batches.clone().fold(1.0, f64::max) / batches.fold(f64::INFINITY, f64::min)
}

/// Returns the number of calls whose batch is nearest to the target as a factor, and not shorter
/// than a batch must be.
fn nearest(call_ns: f64, target_ns: f64, shortest_ns: f64) -> u64 {
    let wanted = target_ns / call_ns;
    let below = wanted.floor().max(1.0);
    let calls = if wanted * wanted > below * (below + 1.0) { below + 1.0 } else { below };
    calls.max((shortest_ns / call_ns).ceil()).max(1.0) as u64
}

#[cfg(test)]
mod tests;
