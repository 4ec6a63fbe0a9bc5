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
use crate::ahead;
use crate::error::Result;
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::Scope;
use tiebreak_core::sample::BatchTime;
use tiebreak_core::sampler::{FunctionSampler, UnitRan, UnitRequest};
use tiebreak_core::study::{BatchCalls, Pilot, Untimed};
use tiebreak_core::verdict::Fault;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_stats::observation::log;
use tiebreak_stats::unit::{self, Noise};

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
/// A round in which contestants take this much longer than later on, as a natural logarithm, is one
/// of warming up.
const SLOWER: f64 = 0.03;
/// The median over a contestant's units of what a round takes longer is beyond noise if it is more
/// than this number of usual distances, over the root of the number of units.
const NOISE: f64 = 6.0;
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
        let share_ns = SHARE * self.brief.seconds * 1e9;
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
        let Brief { contestants, seconds, units_wanted, is_exact, .. } = &self.brief;
        let pairs = self.pairs();
        let unit_ns = seconds * 1e9 / (*units_wanted).max(1) as f64;
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
        let seconds = self.brief.seconds / pairs.len().max(1) as f64;
        Piloted {
            pilot,
            rounds_a_unit: match self.brief.scope {
                Scope::Layout => 1,
                _ => unit::best_rounds(known, of_two, self.brief.units_wanted, seconds),
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

/// A unit of the pilot.
struct Ran {
    /// Its contestants.
    order: Vec<usize>,
    /// The number of calls in a batch of each.
    calls: Vec<u64>,
    /// The unit's results.
    unit: UnitRan,
    /// The number of its rounds.
    rounds: u32,
    /// Its duration, with its links and the wait for quiet.
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

    /// Counts the first rounds as part of the unit's own cost.
    fn forget(&mut self, rounds: usize) {
        self.unit.batches.iter_mut().for_each(|of| drop(of.drain(..rounds.min(of.len()))));
    }

    /// Returns the time of a call of a contestant while no other process uses its CPU: in the
    /// shortest batch, or on average without the thread's waits for a CPU, whichever is less.
    /// Infinite if it took no part.
    fn quiet_call_ns(&self, contestant: usize) -> f64 {
        let calls = self.position(contestant).map_or(1, |at| self.calls[at]) as f64;
        let batches = self.batches(contestant);
        let walls = batches.iter().map(|time| time.high_ns as f64);
        let shortest_ns = walls.fold(f64::INFINITY, f64::min);
        let quiet_ns = self.quiet_ns(contestant).map(|ns| ns as f64 / batches.len().max(1) as f64);
        quiet_ns.map_or(shortest_ns, |quiet_ns| shortest_ns.min(quiet_ns)) / calls
    }

    /// Returns the time of all batches of a contestant without its thread's waits for a CPU.
    fn quiet_ns(&self, contestant: usize) -> Option<u64> {
        let sample = self.unit.samples.get(self.position(contestant)?)?;
        let wall_ns = sample.wall_ns;
        // It also waits outside the timed span; the time that it ran is at least its own.
        let ran_ns = sample.meters.run_ns?.min(wall_ns);
        Some(wall_ns.saturating_sub(sample.beside.run_delay_ns?).max(ran_ns))
    }

    /// Returns the cost of a round: each contestant's batch, and what lies between batches, which
    /// may be far more: untimed calls, resets, a thread that must be asleep again.
    fn round_cost_ns(&self) -> f64 {
        self.unit.rounds_ns as f64 / self.rounds.max(1) as f64
    }

    /// Returns the cost of a unit without its rounds, but with those that were forgotten.
    fn unit_cost_ns(&self) -> f64 {
        let rounds = self.unit.batches.first().map_or(0, Vec::len) as f64;
        (self.took_ns as f64 - rounds * self.round_cost_ns()).max(0.0)
    }
}

/// Returns the number of rounds for which units warm up: twice as many as those in which one of the
/// contestants is slower than in the second half of the unit, by more than noise explains, at least
/// in three of four of its units; at most that half.
fn warm_rounds(all: &[Ran], contestants: &[usize]) -> usize {
    let rounds = all.iter().flat_map(|ran| ran.unit.batches.first()).map(Vec::len).max();
    let half = rounds.unwrap_or(0) / 2;
    // The log times of each unit of a contestant, from the median of its second half.
    let of = |contestant: usize| {
        let traces = all.iter().map(move |ran| ran.batches(contestant));
        let full = traces.filter(|trace| Some(trace.len()) == rounds);
        full.filter_map(|trace| {
            let later = unit::median(trace[half..].iter().map(log_of))?;
            Some(trace.iter().map(|time| log_of(time) - later).collect::<Vec<f64>>())
        })
    };
    let of: Vec<Vec<Vec<f64>>> = contestants.iter().map(|one| of(*one).collect()).collect();
    let later = of.iter().flatten().flat_map(|trace| &trace[half..]);
    let Some(distance) = unit::median(later.map(|log| log.abs())) else { return 0 };
    let is_slow = |traces: &Vec<Vec<f64>>, round: usize| {
        let slower = traces.iter().filter(|trace| trace[round] > SLOWER).count();
        let usual = unit::median(traces.iter().map(|trace| trace[round])).unwrap_or(0.0);
        let noise = NOISE * distance / (traces.len() as f64).sqrt();
        4 * slower >= 3 * traces.len() && traces.len() > 1 && usual > noise
    };
    let is_cold = |round: &usize| of.iter().any(|traces| is_slow(traces, *round));
    (2 * (0..half).take_while(is_cold).count()).min(half)
}

/// Returns the noise of the log ratios of pairs that had two units or more. Pairs with a contestant
/// that is not exact count only if there are no others. `None` if no pair has two units.
fn noise(all: &[Ran], pairs: &[[usize; 2]], is_exact: &[bool]) -> Option<Noise> {
    let of = |pairs: &[[usize; 2]]| {
        unit::noise(&pairs.iter().map(|pair| units_of(all, *pair)).collect::<Vec<_>>())
    };
    let (exact, others): (Vec<_>, Vec<_>) =
        pairs.iter().partition(|pair| pair.iter().all(|one| is_exact[*one]));
    of(&exact).or_else(|| of(&others))
}

/// Returns the log ratios of the rounds of each unit of a pair.
fn units_of(all: &[Ran], [left, right]: [usize; 2]) -> Vec<Vec<f64>> {
    let units = all.iter().map(|ran| {
        let rounds = ran.batches(left).iter().zip(ran.batches(right));
        rounds.map(|(left, right)| log_of(right) - log_of(left)).collect::<Vec<f64>>()
    });
    let mut units: Vec<_> = units.filter(|ratios| !ratios.is_empty()).collect();
    // The first unit may have more rounds than was found to be affordable.
    let fewest = units.iter().map(Vec::len).min().unwrap_or(0);
    units.iter_mut().for_each(|ratios| ratios.truncate(fewest));
    units
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
