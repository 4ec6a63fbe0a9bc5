//! The pilot: determines how long a batch must be, and how many rounds a unit should have.
//!
//! Nothing of it is evidence: it has its own seeds, and its results are fixed before the first coin
//! of the run.
//!
//! Batches last equally long for all contestants. An interruption by other processes makes a batch
//! longer by the time that they took, and a longer batch is interrupted more often. The factor by
//! which batches become longer has the same distribution only if they last equally long: then it
//! has no effect on the sign of a log ratio.

use super::fault;
use crate::error::Result;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::BatchTime;
use tiebreak_core::sampler::{FunctionSampler, UnitRan, UnitRequest};
use tiebreak_core::study::{Pilot, Untimed};
use tiebreak_core::verdict::Fault;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::observation::log;
use tiebreak_stats::unit;

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
    /// The workload's part of the budget.
    pub seconds: f64,
    /// The number of units that should fit into it.
    pub units_wanted: u64,
    /// The shortest batch that is long enough for the clock, in nanoseconds.
    pub batch_ns: f64,
}

/// The results of the pilot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Piloted {
    /// Variances and costs.
    pub pilot: Pilot,
    /// The number of rounds in a unit.
    pub rounds_a_unit: u32,
    /// The number of calls in a batch of each contestant of the plan; 1 for those that take no
    /// part.
    pub calls_a_batch: Vec<u64>,
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

    /// Returns the shortest and the longest batch: the contestant, and the length in nanoseconds.
    pub fn batches(&self) -> Option<[(usize, f64); 2]> {
        let calls_ns = self.calls_ns.iter();
        let batches = calls_ns.map(|(one, ns)| (*one, ns * self.calls_a_batch[*one] as f64));
        let shortest = batches.clone().min_by(|a, b| a.1.total_cmp(&b.1));
        Some([shortest?, batches.max_by(|a, b| a.1.total_cmp(&b.1))?])
    }

    /// Returns the shortest and the longest batch, if they are far from equally long.
    pub fn uneven(&self) -> Option<[(usize, f64); 2]> {
        self.batches().filter(|[shortest, longest]| longest.1 > UNEVEN_MAX * shortest.1)
    }

    /// Returns the results if nothing can be compared.
    fn nothing(void: Vec<(usize, Fault)>) -> Piloted {
        let (rounds_a_unit, calls_a_batch) = (unit::ROUNDS_MIN, vec![1]);
        let measured = Metric::ALL.to_vec();
        Piloted { rounds_a_unit, calls_a_batch, measured, void, ..Piloted::default() }
    }
}

struct PilotRun {
    brief: Brief,
    /// The number of calls in a batch of each contestant of the plan.
    calls: Vec<u64>,
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
    make: &mut dyn FnMut(&[u64]) -> Result<S>,
) -> Result<Piloted> {
    let seed = Seed::from_text(&brief.seed);
    let calls = vec![1; brief.is_exact.len()];
    let mut pilot = PilotRun { brief, calls, seed, next: 0, void: Vec::new() };
    let Some((mut sampler, first)) = pilot.calibrate(make)? else {
        return Ok(Piloted::nothing(pilot.void));
    };
    let (ran, is_first_one) = pilot.run_pairs(&mut sampler, &first)?;
    if pilot.brief.contestants.len() < 2 {
        return Ok(Piloted::nothing(pilot.void));
    }
    let from = usize::from(!is_first_one && !ran.is_empty());
    let seen: Vec<Ran> = std::iter::once(first).chain(ran).collect();
    let untimed = (0..pilot.calls.len()).map(|contestant| sampler.untimed(contestant)).collect();
    Ok(pilot.conclude(&seen, from, untimed))
}

impl PilotRun {
    /// Determines how many calls make a batch of each, and returns the first unit of such batches.
    fn calibrate<S: FunctionSampler>(
        &mut self,
        make: &mut dyn FnMut(&[u64]) -> Result<S>,
    ) -> Result<Option<(S, Ran)>> {
        let mut left = CALIBRATIONS_MAX;
        let all = self.brief.contestants.clone();
        loop {
            let mut sampler = make(&self.calls)?;
            let Some(ran) = self.unit(&mut sampler, &all, unit::ROUNDS_MIN)? else {
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
    /// of a call is known with one other contestant in the process. The first pairs run more often,
    /// within the pilot's share of the budget. There is at least one unit. Also returns whether
    /// `first` is such a unit.
    fn run_pairs<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        first: &Ran,
    ) -> Result<(Vec<Ran>, bool)> {
        let pairs = self.pairs();
        if pairs.is_empty() {
            return Ok((Vec::new(), false));
        }
        let share_ns = SHARE * self.brief.seconds * 1e9;
        let again = pairs.len().min(PAIRS_MAX);
        let size = SIZES.into_iter().find(|(units, rounds)| {
            let all = pairs.len() + (*units as usize - 1) * again;
            all as f64 * self.pair_cost_ns(first, *rounds) <= share_ns
        });
        let (units, rounds) = size.unwrap_or((2, 2));
        let is_one = rounds == unit::ROUNDS_MIN && first.order.len() == 2;
        // The first pair comes twice before any other: otherwise nothing is known about noise.
        let more = (2..units).flat_map(|_| &pairs[..again]).chain(&pairs[1..again.max(1)]);
        let turns = pairs[..1].iter().chain(&pairs).chain(more).skip(usize::from(is_one));
        let (mut all, mut spent_ns): (Vec<Ran>, f64) = (Vec::new(), 0.0);
        for pair in turns {
            let cost_ns = match all.last() {
                Some(ran) => ran.took_ns as f64,
                None => self.pair_cost_ns(first, rounds),
            };
            if (is_one || !all.is_empty()) && spent_ns + cost_ns > share_ns {
                break;
            }
            let Some(ran) = self.unit(sampler, pair, rounds)? else {
                // One of them is void: the pairs of the others may have changed.
                return self.run_pairs(sampler, first);
            };
            spent_ns += ran.took_ns as f64;
            all.push(ran);
        }
        Ok((all, is_one))
    }

    /// Returns the cost of a unit of two contestants with this many rounds, as far as the first
    /// unit shows it.
    fn pair_cost_ns(&self, first: &Ran, rounds: u32) -> f64 {
        let of_two = 2.0 / first.order.len() as f64;
        let rounds_ns = f64::from(rounds) * first.round_cost_ns(&self.calls) * of_two;
        first.unit_cost_ns(&self.calls) + rounds_ns
    }

    /// Returns the time of a call of each contestant in the quickest of these units.
    fn call_ns(&self, all: &[Ran]) -> Vec<f64> {
        let contestants = self.brief.contestants.iter();
        let quickest = contestants.map(|one| {
            let batches = all.iter().map(|ran| ran.quiet_batch_ns(*one));
            batches.fold(f64::INFINITY, f64::min) / self.calls[*one] as f64
        });
        quickest.collect()
    }

    /// Returns the shortest batch that is long enough for what is read at its ends.
    fn shortest_ns(&self) -> f64 {
        let meters_ns = if self.brief.times_each_call { 0.0 } else { self.brief.batch_ns };
        BATCH_NS_MIN.max(meters_ns)
    }

    /// Returns how many calls a batch of each should have, according to these units.
    fn wanted(&self, all: &[Ran]) -> Vec<u64> {
        let Brief { contestants, seconds, units_wanted, .. } = &self.brief;
        let pairs = self.pairs().len().max(1) as f64;
        let unit_ns = seconds * 1e9 / (*units_wanted).max(1) as f64;
        // Batches of one slow contestant may set the length of all, if enough units still fit.
        let batches = f64::from(unit::ROUNDS_MIN) * 2.0 * pairs;
        let longest_ns = EVEN_NS_MAX.max(unit_ns / batches);
        // A little more than necessary, so that the next unit is long enough.
        let shortest_ns = HEADROOM * self.shortest_ns();
        let each = even_calls(&self.call_ns(all), shortest_ns, longest_ns);
        // Resets before each call are not in a batch's time, but take time too.
        let took_ns = all.iter().map(|ran| ran.took_ns).max().unwrap_or(1).max(1);
        let growth = (unit_ns / took_ns as f64).max(1.0);
        let growth = if self.brief.times_each_call { growth } else { f64::INFINITY };
        let mut wanted = vec![1; self.calls.len()];
        for (one, each) in contestants.iter().zip(each) {
            wanted[*one] = each.min((self.calls[*one] as f64 * growth) as u64);
        }
        wanted
    }

    /// Returns whether the batches of a unit are long enough and about as even as those that are
    /// wanted.
    fn is_good(&self, ran: &Ran, wanted: &[u64]) -> bool {
        let call_ns = self.call_ns(std::slice::from_ref(ran));
        let contestants = self.brief.contestants.iter();
        let (now, wanted): (Vec<u64>, Vec<u64>) =
            contestants.map(|one| (self.calls[*one], wanted[*one])).unzip();
        let mut batches = now.iter().zip(&call_ns).map(|(calls, ns)| *calls as f64 * ns);
        batches.all(|ns| ns >= self.shortest_ns())
            && unevenness(&now, &call_ns) <= NEAR * unevenness(&wanted, &call_ns)
    }

    /// Runs a unit with the contestants of a company that are not void; `None` if nothing is left
    /// to compare.
    fn unit<S: FunctionSampler>(
        &mut self,
        sampler: &mut S,
        company: &[usize],
        rounds: u32,
    ) -> Result<Option<Ran>> {
        loop {
            let mut there = company.to_vec();
            there.retain(|one| self.brief.contestants.contains(one));
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
            let ran = sampler.run_unit(&UnitRequest {
                coins: &coins,
                members: &coins.order,
                orders: &orders,
                timeout_ns: TIMEOUT_NS,
            });
            match fault(ran)? {
                Ok(unit) => {
                    let took_ns = sampler.now_ns().saturating_sub(started_ns);
                    return Ok(Some(Ran { order: coins.order, unit, took_ns }));
                }
                Err((contestant, fault)) => {
                    self.brief.contestants.retain(|one| *one != contestant);
                    self.void.push((contestant, fault));
                }
            }
        }
    }

    /// Returns the results from all units; those from index `from` on are as in the run.
    fn conclude(self, seen: &[Ran], from: usize, untimed: Vec<Option<Untimed>>) -> Piloted {
        let (all, pairs) = (&seen[from..], self.pairs());
        let noise = variances(all, &pairs, &self.brief.is_exact);
        let mut pilot = noise.unwrap_or_default();
        // With fewer than two units nothing is known about noise.
        pilot.units = noise.map_or(1, |_| all.len() as u32);
        pilot.round_cost_ns = median(all.iter().map(|ran| ran.round_cost_ns(&self.calls)));
        pilot.unit_cost_ns = median(all.iter().map(|ran| ran.unit_cost_ns(&self.calls)));
        let calls_a_batch = self.wanted(seen);
        let contestants = self.brief.contestants.iter().copied();
        // If the noise of units is unknown, it is assumed equal to that of rounds.
        let alike = Pilot { variance_within: 1.0, variance_between: 1.0, ..pilot };
        let noise = if noise.is_none() { &alike } else { &pilot };
        let seconds = self.brief.seconds / pairs.len().max(1) as f64;
        Piloted {
            pilot,
            rounds_a_unit: match self.brief.scope {
                Scope::Layout => 1,
                _ => unit::best_rounds(noise, self.brief.units_wanted, seconds),
            },
            calls_ns: contestants.zip(self.call_ns(seen)).collect(),
            untimed,
            calls_a_batch,
            measured: measured(seen),
            void: self.void,
        }
    }
}

/// A unit of the pilot.
struct Ran {
    /// Its contestants.
    order: Vec<usize>,
    /// The unit's results.
    unit: UnitRan,
    /// Its duration, with its links.
    took_ns: u64,
}

impl Ran {
    fn position(&self, contestant: usize) -> Option<usize> {
        self.order.iter().position(|other| *other == contestant)
    }

    /// Returns the wall times of a contestant's batches; none if it took no part.
    fn batches(&self, contestant: usize) -> &[BatchTime] {
        let batches = self.position(contestant).and_then(|at| self.unit.batches.get(at));
        batches.map_or(&[], Vec::as_slice)
    }

    /// Returns the time of a batch of a contestant while no other process uses its CPU: the
    /// shortest one, or the mean without the thread's waits for a CPU, whichever is less. Infinite
    /// if it took no part.
    fn quiet_batch_ns(&self, contestant: usize) -> f64 {
        let batches = self.batches(contestant);
        let walls = batches.iter().map(|time| time.high_ns as f64);
        let shortest_ns = walls.fold(f64::INFINITY, f64::min);
        let quiet_ns = self.quiet_ns(contestant).map(|ns| ns as f64 / batches.len().max(1) as f64);
        quiet_ns.map_or(shortest_ns, |quiet_ns| shortest_ns.min(quiet_ns))
    }

    /// Returns the time of all batches of a contestant without its thread's waits for a CPU.
    fn quiet_ns(&self, contestant: usize) -> Option<u64> {
        let sample = self.unit.samples.get(self.position(contestant)?)?;
        let wall_ns = sample.wall_ns;
        // It also waits outside the timed span; the time that it ran is at least its own.
        let ran_ns = sample.meters.run_ns?.min(wall_ns);
        Some(wall_ns.saturating_sub(sample.beside.run_delay_ns?).max(ran_ns))
    }

    /// Returns the cost of a round: each contestant's batch of this many calls, and the untimed
    /// call before it.
    fn round_cost_ns(&self, calls: &[u64]) -> f64 {
        let each = self.order.iter().map(|one| {
            let batches = self.batches(*one);
            let sum_ns = batches.iter().map(|time| time.high_ns).sum::<u64>();
            let batch = sum_ns as f64 / batches.len().max(1) as f64;
            batch * (1.0 + 1.0 / calls[*one] as f64)
        });
        each.sum()
    }

    /// Returns the cost of a unit without its rounds.
    fn unit_cost_ns(&self, calls: &[u64]) -> f64 {
        let rounds = self.unit.batches.first().map_or(0, Vec::len) as f64;
        (self.took_ns as f64 - rounds * self.round_cost_ns(calls)).max(0.0)
    }
}

/// Returns the medians, over the pairs that had two units or more, of the variances of their log
/// ratios. Pairs with a contestant that is not exact count only if there are no others. `None` if
/// no pair has two units.
fn variances(all: &[Ran], pairs: &[[usize; 2]], is_exact: &[bool]) -> Option<Pilot> {
    let known = pairs.iter().filter_map(|pair| Some((pair, pair_variances(all, *pair)?)));
    let known: Vec<_> = known.collect();
    let mut exact = known.clone();
    exact.retain(|(pair, _)| pair.iter().all(|one| is_exact[*one]));
    let counted = if exact.is_empty() { known } else { exact };
    let (within, between): (Vec<_>, Vec<_>) = counted.into_iter().map(|(_, both)| both).unzip();
    let (variance_within, variance_between) = (middle(within)?, middle(between)?);
    Some(Pilot { variance_within, variance_between, ..Pilot::default() })
}

/// Returns the variances within and between the units of a pair.
fn pair_variances(all: &[Ran], [left, right]: [usize; 2]) -> Option<(f64, f64)> {
    let units = all.iter().map(|ran| {
        let rounds = ran.batches(left).iter().zip(ran.batches(right));
        rounds.map(|(left, right)| log_of(right) - log_of(left)).collect::<Vec<f64>>()
    });
    unit::variances(&units.filter(|ratios| !ratios.is_empty()).collect::<Vec<_>>())
}

fn log_of(time: &BatchTime) -> f64 {
    log(time.high_ns.max(1) as f64)
}

/// Returns the metrics that every sample has. No process uses 0 bytes of memory, so that value was
/// not measured.
fn measured(all: &[Ran]) -> Vec<Metric> {
    let mut metrics = Metric::ALL.to_vec();
    metrics.retain(|metric| {
        all.iter().flat_map(|ran| &ran.unit.samples).all(|sample| match metric {
            Metric::PeakMemory => sample.peak_memory_bytes > 0,
            _ => sample.value(*metric).is_some(),
        })
    });
    metrics
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
