//! The probe of cores: measures how long a cache line takes from one CPU to another.
//!
//! Two threads, each pinned to a CPU, pass a line to and fro. A batch of round trips takes about
//! 8 us, so that most batches see no interruption even on a busy machine. A round's reading of a
//! pair is the lower quartile of its batches, and a latency is half a round trip. Rounds visit the
//! pairs in random order and are spread over the whole budget, because a hypervisor moves virtual
//! CPUs: the readings of a pair then have several modes, which `tiebreak-stats` separates.
//!
//! No further proof is needed that both threads ran at the same time: each round trip needs the
//! partner's answer, and a batch in which either thread was off its CPU takes longer by the lost
//! time. Such batches are counted and not used.

mod pass;

use crate::tools::*;
use crate::topology::measure::advertised as topology;
use crate::{CacheKind, Cores, Kernel, Shared};
pub use pass::Observation;
use pass::visit;
use std::collections::BTreeSet;

/// Wanted duration of a batch of round trips, in nanoseconds.
const BATCH_NS: u64 = 8000;
/// A step of the clock is at most this part of a batch: a twentieth.
const STEPS_A_BATCH: u64 = 20;
/// A latency below this, in nanoseconds, is less than one cycle of any CPU.
const LEAST_PLAUSIBLE_NS: f64 = 0.2;
/// From this many CPUs on, not all pairs are visited.
const ALL_PAIRS_MOST: usize = 64;
/// Number of pairs that represent two groups whose pairs are not all visited.
const REPRESENTATIVES: usize = 4;
/// Number of consecutive CPUs taken for a group where the machine advertises none.
const UNKNOWN_GROUP: usize = 8;
/// Nanoseconds to start two threads, and for them to meet and find their number of round trips.
const START_NS: u64 = 300_000;
const MEET_NS: u64 = 100_000;
/// The fewest and the most batches of a segment.
const BATCHES: [u64; 2] = [40, 250];
/// The least and the most time of a segment, in nanoseconds: threads that wait for their CPUs have
/// a time slice or two to meet.
const LIMITS_NS: [u64; 2] = [4_000_000, 60_000_000];
/// At least one in this many batches of a pair must be without a gap.
const VALID_ONE_IN: u64 = 20;

/// What the probe measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The finding, without latencies and groups; the CPUs are sorted.
    pub found: Cores,
    /// Sets of CPUs that share something, as advertised.
    pub advertised: Vec<Advertised>,
    /// Observations of each pair and way of passing with enough batches.
    pub seen: Vec<PairObservation>,
}

/// Observations of a pair by one way of passing.
#[derive(Clone, Debug, PartialEq)]
pub struct PairObservation {
    /// The way of passing.
    pub kernel: Kernel,
    /// The CPUs, the smaller number first.
    pub cpus: [usize; 2],
    /// For each visit what the first, and what the second CPU timed.
    pub visits: Vec<[Observation; 2]>,
}

/// A set of CPUs that share something, as advertised.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Advertised {
    /// What they share.
    pub shares: Shared,
    /// The CPUs, sorted; at least one.
    pub cpus: Vec<usize>,
}

/// Returns the CPUs sorted, each once.
///
/// # Errors
/// There are fewer than two CPUs.
pub fn several(cpus: &[usize]) -> Result<Vec<usize>, Unavailable> {
    let cpus: Vec<usize> = BTreeSet::from_iter(cpus.iter().copied()).into_iter().collect();
    let why = match cpus[..] {
        [] => "none are known".to_owned(),
        [one] => format!("only CPU {one}, and a pair needs two"),
        _ => return Ok(cpus),
    };
    Err(lacks("core to core latency", "the CPUs that may be used", why))
}

/// Visits the pairs of several CPUs round by round, spread over the budget.
///
/// Inconclusive if the clock is too coarse, if nothing plausible was seen, or if the threads of no
/// pair ran together often enough; degraded if that holds for some pairs, or if the user stopped
/// the probe.
pub fn measure(cpus: Vec<usize>, budget: &mut Budget<'_>) -> Probed<Reading> {
    let step_ns = clock::step_ns();
    if step_ns * STEPS_A_BATCH > BATCH_NS {
        return Probed::inconclusive(format!(
            "the clock moves in steps of {step_ns} ns, too coarse for {BATCH_NS}"
        ));
    }
    let advertised = advertised(&Tree::at(Path::new("/")), &cpus);
    let plan = Plan::of(&cpus, &advertised, budget.length());
    let mut tally = Tally::of(&plan);
    let begin = Instant::now();
    let rounds = rounds(&mut tally, step_ns, budget);
    let span_ns = begin.elapsed().as_nanos() as u64;
    if let Some(least) = tally.least_ns().filter(|least| *least < LEAST_PLAUSIBLE_NS) {
        let why = format!("a line seems to arrive within {least} ns, which cannot be");
        return Probed::inconclusive(why);
    }
    let (seen, reasons) = tally.finish(rounds, budget.is_interrupted());
    if seen.is_empty() {
        return Probed::inconclusive(reasons.join("; "));
    }
    let (count, pairs_chosen) = (cpus.len() as u64, plan.pairs.len() as u64);
    let pairs = count * (count - 1) / 2;
    let found = Cores { cpus, rounds, span_ns, pairs, pairs_chosen, ..Cores::default() };
    Probed::of(Reading { found, advertised, seen }, reasons)
}

/// Visits all pairs in each round; returns the number of rounds that were begun.
fn rounds(tally: &mut Tally<'_>, step_ns: u64, budget: &mut Budget<'_>) -> u64 {
    let plan = tally.plan;
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
            // A visit that begins now could not end in time.
            if budget.left() < plan.least_visit {
                return if visited > 0.0 { round + 1 } else { 0 };
            }
            tally.add(place, visit(plan, plan.pairs[place], step_ns, budget));
            visited += 1.0;
            budget.tell(visited / visits);
        }
    }
    plan.rounds
}

/// Reads the sets that the kernel lists, restricted to these CPUs (sorted) and without repetition,
/// in the order of what is shared.
fn advertised(tree: &Tree, cpus: &[usize]) -> Vec<Advertised> {
    let mut sets: BTreeMap<(Shared, usize), Vec<usize>> = BTreeMap::new();
    for cpu in topology::cpus(tree, cpus).0.iter().filter(|cpu| cpus.contains(&cpu.cpu)) {
        for (shares, set) in [(Shared::Core, cpu.core), (Shared::Socket, cpu.package)] {
            if let Some(set) = set {
                sets.entry((shares, set)).or_default().push(cpu.cpu);
            }
        }
    }
    let sets = sets.into_iter().map(|((shares, _), cpus)| Advertised { shares, cpus });
    let mut found: BTreeSet<Advertised> = sets.collect();
    for mut cache in topology::caches(tree, cpus) {
        let shares = match cache.level {
            _ if cache.kind == CacheKind::Instruction => continue,
            2 => Shared::L2,
            3 => Shared::L3,
            _ => continue,
        };
        cache.cpus.retain(|cpu| cpus.contains(cpu));
        found.insert(Advertised { shares, cpus: cache.cpus });
    }
    found.into_iter().collect()
}

/// Returns for each CPU the number of the set that it is in; `None` if one is in none.
pub(super) fn partition(
    shares: Shared,
    cpus: &[usize],
    advertised: &[Advertised],
) -> Option<Vec<usize>> {
    let sets: Vec<_> = advertised.iter().filter(|set| set.shares == shares).collect();
    cpus.iter().map(|cpu| sets.iter().position(|set| set.cpus.contains(cpu))).collect()
}

/// Which pairs are visited, how often and for how long.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// The pairs, the smaller number first, sorted.
    pairs: Vec<[usize; 2]>,
    /// The ways of passing, the headline first.
    kernels: &'static [Kernel],
    /// Visits to each pair.
    rounds: u64,
    /// Batches of each way of passing and side in a visit.
    batches: usize,
    /// Limit of the time of these batches, in nanoseconds.
    segment_limit_ns: u64,
    /// Least duration of a visit.
    least_visit: Duration,
    /// Least number of batches without a gap that a pair must have.
    valid_least: u64,
}

impl Plan {
    /// Makes a plan that fits into the time: all ways of passing if there is time for them, else
    /// the headline; all pairs if there is time and there are not too many CPUs, else those within
    /// a group and some that represent two groups, as many of these as there is time for.
    fn of(cpus: &[usize], advertised: &[Advertised], length: Duration) -> Plan {
        let is_long = length >= LONG_LOOK;
        let [rounds_least, rounds_most] = if is_long { [20, 60] } else { [3, 12] };
        let length_ns = length.as_nanos() as u64;
        let usable_ns = length_ns / 10 * 9;
        // The number of pairs that there is time for with the headline, and with all kernels.
        let [most_of_one, most_of_all] = [1, Kernel::ALL.len()]
            .map(|kernels| usable_ns / (rounds_least * visit_ns(kernels, BATCHES[0])));
        let mut pairs = all_pairs(cpus);
        let count = pairs.len() as u64;
        let most = if count <= most_of_all { most_of_all } else { most_of_one };
        if cpus.len() > ALL_PAIRS_MOST || count > most {
            pairs = chosen_pairs(cpus, advertised, most.max(1) as usize);
        }
        let count = pairs.len() as u64;
        let kernels = if count <= most_of_all { &Kernel::ALL[..] } else { &Kernel::ALL[..1] };
        let least_visit_ns = visit_ns(kernels.len(), BATCHES[0]);
        let rounds = (length_ns / 2 / (count * least_visit_ns)).clamp(rounds_least, rounds_most);
        let segments = 2 * kernels.len() as u64;
        let each_ns = (length_ns / 2 / (count * rounds)).saturating_sub(START_NS) / segments;
        let batches = each_ns.saturating_sub(MEET_NS) / BATCH_NS;
        let limit_ns = usable_ns / (count * rounds * segments);
        Plan {
            pairs,
            kernels,
            rounds,
            batches: batches.clamp(BATCHES[0], BATCHES[1]) as usize,
            segment_limit_ns: limit_ns.clamp(LIMITS_NS[0], LIMITS_NS[1]),
            least_visit: Duration::from_nanos(least_visit_ns),
            valid_least: if is_long { 200 } else { 60 },
        }
    }
}

/// Returns the duration of a visit on a machine that is not busy, in nanoseconds.
fn visit_ns(kernels: usize, batches: u64) -> u64 {
    START_NS + 2 * kernels as u64 * (MEET_NS + batches * BATCH_NS)
}

fn all_pairs(cpus: &[usize]) -> Vec<[usize; 2]> {
    let firsts = cpus.iter().enumerate();
    firsts.flat_map(|(at, a)| cpus[at + 1..].iter().map(move |b| [*a, *b])).collect()
}

/// Chooses the threads of each core, then some pairs for each two groups, then the pairs within
/// groups, as many as `most` allows; which ones is drawn.
fn chosen_pairs(cpus: &[usize], advertised: &[Advertised], most: usize) -> Vec<[usize; 2]> {
    let cores = partition(Shared::Core, cpus, advertised);
    let cores = cores.unwrap_or_else(|| (0..cpus.len()).collect());
    let sets: Vec<_> = cores.into_iter().zip(groups(cpus, advertised)).collect();
    let set_of: BTreeMap<usize, (usize, usize)> = cpus.iter().copied().zip(sets).collect();
    let mut pairs = all_pairs(cpus);
    Random::new(0).shuffle(&mut pairs);
    let mut between: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    let mut ranked: [Vec<[usize; 2]>; 3] = Default::default();
    for pair in pairs {
        let [(core, group), (other_core, other)] = pair.map(|cpu| set_of[&cpu]);
        if core == other_core {
            ranked[0].push(pair);
        } else if group == other {
            ranked[2].push(pair);
        } else {
            let chosen = between.entry((group.min(other), group.max(other))).or_default();
            *chosen += 1;
            ranked[1].extend((*chosen <= REPRESENTATIVES).then_some(pair));
        }
    }
    let mut chosen = ranked.concat();
    chosen.truncate(most);
    chosen.sort_unstable();
    chosen
}

/// Groups the CPUs by the outermost cache that they share, or else in runs of some CPUs; returns
/// the number of each one's group.
fn groups(cpus: &[usize], advertised: &[Advertised]) -> Vec<usize> {
    let known = [Shared::L3, Shared::L2].into_iter();
    let mut known = known.filter_map(|shares| partition(shares, cpus, advertised));
    known.next().unwrap_or_else(|| (0..cpus.len()).map(|place| place / UNKNOWN_GROUP).collect())
}

/// Collects what the visits saw, pair by pair.
struct Tally<'a> {
    plan: &'a Plan,
    /// For each pair its observations by each way of passing.
    pairs: Vec<Vec<PairObservation>>,
    /// Why pairs could not be visited, by their place in the plan.
    failed: BTreeMap<usize, String>,
}

impl Tally<'_> {
    fn of(plan: &Plan) -> Tally<'_> {
        let pairs = plan.pairs.iter().map(|&cpus| {
            let kernels = plan.kernels.iter();
            kernels.map(|&kernel| PairObservation { kernel, cpus, visits: Vec::new() }).collect()
        });
        Tally { plan, pairs: pairs.collect(), failed: BTreeMap::new() }
    }

    /// Adds a visit to a pair, by its place in the plan: what each side timed by each way, or why
    /// it could not be made.
    fn add(&mut self, place: usize, visit: io::Result<Vec<[Observation; 2]>>) {
        match visit {
            Ok(visit) => {
                let all = self.pairs[place].iter_mut().zip(visit);
                all.for_each(|(seen, sides)| seen.visits.push(sides));
            }
            Err(error) => {
                self.failed.entry(place).or_insert_with(|| error.to_string());
            }
        }
    }

    /// Returns the least latency of all.
    fn least_ns(&self) -> Option<f64> {
        let visits = self.pairs.iter().flatten().flat_map(|seen| &seen.visits);
        visits.flatten().filter_map(|side| side.latency_ns).min_by(f64::total_cmp)
    }

    /// Returns the observations that suffice, and the reasons against the rest.
    fn finish(self, rounds: u64, is_interrupted: bool) -> (Vec<PairObservation>, Vec<String>) {
        let chosen = self.pairs.len();
        let (begun, untouched): (Vec<usize>, Vec<usize>) =
            (0..chosen).partition(|at| self.pairs[*at].iter().any(|seen| !seen.visits.is_empty()));
        // A pair may fail after visits that went well.
        let missing = untouched.iter().filter(|place| !self.failed.contains_key(place)).count();
        let mut reasons = Vec::new();
        if is_interrupted {
            let (planned, begun) = (self.plan.rounds, begun.len());
            reasons.push(format!(
                "stopped in round {rounds} of {planned}, when {begun} of {chosen} pairs had been \
                 visited"
            ));
        } else if missing > 0 {
            reasons.push(format!("there was no time for {missing} of {chosen} pairs"));
        }
        if let Some((place, error)) = self.failed.first_key_value() {
            let ([a, b], count) = (self.plan.pairs[*place], self.failed.len());
            reasons.push(format!("{count} of {chosen} pairs failed; CPUs {a} and {b}: {error}"));
        }
        let poor = begun
            .iter()
            .filter_map(|place| self.pairs[*place].iter().find(|seen| !seen.is_enough(self.plan)));
        let poor: Vec<&PairObservation> = poor.collect();
        if let Some(seen) = poor.first() {
            let ([a, b], kernel, count) = (seen.cpus, seen.kernel.words(), poor.len());
            let (valid, batches) = (seen.valid(), seen.sum(|side| side.batches));
            reasons.push(format!(
                "the threads of {count} of {chosen} pairs hardly ran together; CPUs {a} and {b}, \
                 {kernel}: {valid} of {batches} batches without a gap"
            ));
        }
        let all = self.pairs.into_iter().flatten();
        (all.filter(|seen| seen.is_enough(self.plan)).collect(), reasons)
    }
}

impl PairObservation {
    /// Returns a sum over all visits and both sides.
    pub fn sum(&self, of: fn(&Observation) -> u64) -> u64 {
        self.visits.iter().flatten().map(of).sum()
    }

    fn valid(&self) -> u64 {
        self.sum(|side| side.batches - side.invalid)
    }

    /// Returns whether enough batches were without a gap.
    fn is_enough(&self, plan: &Plan) -> bool {
        let has_value = self.visits.iter().flatten().any(|side| side.latency_ns.is_some());
        let is_share = self.valid() * VALID_ONE_IN >= self.sum(|side| side.batches);
        has_value && self.valid() >= plan.valid_least && is_share
    }
}

#[cfg(test)]
mod tests;
