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
use crate::topology::{grouped, measure::advertised as topology};
use crate::{CacheKind, Cores, Kernel, Shared};
pub use pass::Observation;
use pass::{Visit, visit};
use std::collections::BTreeSet;

/// Wanted duration of a batch of round trips, in nanoseconds.
const BATCH_NS: u64 = 8000;
/// A step of the clock is at most this part of a batch: a twentieth.
const STEPS_A_BATCH: u64 = 20;
/// A latency below this, in nanoseconds, is less than one cycle of any CPU.
const LEAST_PLAUSIBLE_NS: f64 = 0.2;
/// The most pairs that are visited: those of 64 CPUs.
const PAIRS_MOST: u64 = 64 * 63 / 2;
/// What makes a group of CPUs, the first that is advertised.
const GROUPS: [Shared; 3] = [Shared::L3, Shared::L2, Shared::Socket];
/// Pairs that represent two groups, before all others between groups.
const REPRESENTATIVES: usize = 4;
/// Batches of each way of passing and side in a visit.
const BATCHES: u64 = 40;
/// Ways of passing and sides, a segment each.
const SEGMENTS: u64 = 2 * Kernel::ALL.len() as u64;
/// Duration of a visit on a machine that is not busy, in nanoseconds: to start two threads, for
/// them to meet and find their number of round trips, and for the batches.
const VISIT_NS: u64 = 300_000 + SEGMENTS * (100_000 + BATCHES * BATCH_NS);
/// The least and the most time of a segment, in nanoseconds: threads that wait for their CPUs have
/// a time slice or two to meet.
const LIMITS_NS: [u64; 2] = [4_000_000, 60_000_000];
/// A pair must have this many batches without a gap, and one in so many of all its batches.
const VALID_LEAST: u64 = 60;
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
    let begin = Instant::now();
    let (rounds, visits) = rounds(&plan, step_ns, budget);
    let span_ns = begin.elapsed().as_nanos() as u64;
    let (seen, reasons) = judged(&plan, &visits, rounds, budget.is_interrupted());
    if seen.is_empty() {
        return Probed::inconclusive(reasons.join("; "));
    }
    let mut timed = seen.iter().flat_map(|seen| &seen.visits).flatten();
    if let Some(odd) = timed.find_map(|it| it.latency_ns.filter(|ns| *ns < LEAST_PLAUSIBLE_NS)) {
        let why = format!("a line seems to arrive within {odd} ns, which cannot be");
        return Probed::inconclusive(why);
    }
    let (pairs, pairs_chosen) = (all_pairs(&cpus).len() as u64, plan.pairs.len() as u64);
    let found = Cores { cpus, rounds, span_ns, pairs, pairs_chosen, ..Cores::default() };
    Probed::of(Reading { found, advertised, seen }, reasons)
}

/// Visits all pairs in each round; returns the number of rounds with a visit, and the visits to
/// each pair.
fn rounds(plan: &Plan, step_ns: u64, budget: &mut Budget<'_>) -> (u64, Vec<Visits>) {
    let mut visits: Vec<Visits> = plan.pairs.iter().map(|_| Visits::default()).collect();
    let (begin, slot) = (Instant::now(), budget.left().mul_f64(0.98) / plan.rounds as u32);
    let mut order: Vec<usize> = (0..plan.pairs.len()).collect();
    for round in 0..plan.rounds {
        while budget.nap(begin + slot * round as u32) {
            budget.tell(0.0);
        }
        Random::new(round).shuffle(&mut order);
        for (at, &place) in order.iter().enumerate() {
            // A visit that begins now could not end in time.
            if budget.left() < Duration::from_nanos(VISIT_NS) {
                return (round + u64::from(at > 0), visits);
            }
            match visit(plan, plan.pairs[place], step_ns, budget) {
                Ok(seen) => visits[place].seen.push(seen),
                Err(error) => visits[place].error = Some(error.to_string()),
            }
            // The rounds are spread over the time, which therefore shows how far the probe is.
            budget.tell(0.0);
        }
    }
    (plan.rounds, visits)
}

/// Reads the sets that the kernel lists, restricted to these CPUs (sorted) and without repetition,
/// in the order of what is shared.
fn advertised(tree: &Tree, cpus: &[usize]) -> Vec<Advertised> {
    let (all, _) = topology::cpus(tree, cpus);
    let cores = grouped(&all, |cpu| cpu.core).into_values().map(|set| (Shared::Core, set));
    let sockets = grouped(&all, |cpu| cpu.package).into_values().map(|set| (Shared::Socket, set));
    let caches = topology::caches(tree, cpus).into_iter().filter_map(|cache| {
        let shares = match (cache.kind, cache.level) {
            (CacheKind::Instruction, _) => None,
            (_, 2) => Some(Shared::L2),
            (_, 3) => Some(Shared::L3),
            _ => None,
        };
        Some((shares?, cache.cpus))
    });
    let sets = cores.chain(sockets).chain(caches).map(|(shares, mut set)| {
        set.retain(|cpu| cpus.contains(cpu));
        Advertised { shares, cpus: set }
    });
    BTreeSet::from_iter(sets.filter(|set| !set.cpus.is_empty())).into_iter().collect()
}

/// Which pairs are visited, how often and for how long.
#[derive(Clone, Debug, PartialEq)]
struct Plan {
    /// The pairs, the smaller number first, sorted.
    pairs: Vec<[usize; 2]>,
    /// Visits to each pair.
    rounds: u64,
    /// Limit of the time of the batches of one way of passing and side, in nanoseconds.
    segment_limit_ns: u64,
}

impl Plan {
    /// Makes a plan that fits into the time: all pairs if there is time and there are not too many,
    /// else as many of them as there is time for.
    fn of(cpus: &[usize], advertised: &[Advertised], length: Duration) -> Plan {
        let [least, most] = if length >= LONG_LOOK { [20, 60] } else { [3, 12] };
        let length_ns = length.as_nanos() as u64;
        let usable_ns = length_ns / 10 * 9;
        let room = (usable_ns / (least * VISIT_NS)).clamp(1, PAIRS_MOST);
        let pairs = chosen_pairs(cpus, advertised, room as usize);
        let count = pairs.len() as u64;
        let rounds = (length_ns / 2 / (count * VISIT_NS)).clamp(least, most);
        let limit_ns = usable_ns / (count * rounds * SEGMENTS);
        let segment_limit_ns = limit_ns.clamp(LIMITS_NS[0], LIMITS_NS[1]);
        Plan { pairs, rounds, segment_limit_ns }
    }
}

/// Chooses as many pairs as `most` allows; within each kind, which ones is drawn. The threads of
/// each core come first. Then pairs within a group (the CPUs that share the outermost cache, or
/// else the socket) take turns with pairs that represent two groups, as without either a level
/// would fall apart. The rest of the pairs between groups come last.
fn chosen_pairs(cpus: &[usize], advertised: &[Advertised], most: usize) -> Vec<[usize; 2]> {
    let find = |cpu: usize, shares: Shared| {
        advertised.iter().position(|set| set.shares == shares && set.cpus.contains(&cpu))
    };
    // The group and the core of each; a core that is not known has one thread.
    let sets = cpus.iter().map(|&cpu| {
        let group = GROUPS.into_iter().find_map(|shares| find(cpu, shares));
        (cpu, [group.ok_or(0), find(cpu, Shared::Core).ok_or(cpu)])
    });
    let sets: BTreeMap<usize, [Result<usize, usize>; 2]> = sets.collect();
    let mut pairs = all_pairs(cpus);
    Random::new(0).shuffle(&mut pairs);
    let [mut chosen, mut rest] = [Vec::new(), Vec::new()];
    let [mut within, mut between] = [Vec::new(), Vec::new()];
    // How many pairs two groups have by now, or two cores of a group; the first core of a group.
    let (mut counts, mut firsts) = (BTreeMap::new(), BTreeMap::new());
    sets.values().for_each(|[group, core]| _ = firsts.entry(*group).or_insert(*core));
    for pair in pairs {
        let [a, b] = pair.map(|cpu| sets[&cpu]);
        let is_within = a[0] == b[0];
        let [a_set, b_set] = [a, b].map(|sets| sets[usize::from(is_within)]);
        let count = counts.entry([a_set.min(b_set), a_set.max(b_set)]).or_insert(0);
        *count += 1;
        match is_within {
            true if a[1] == b[1] => chosen.push(pair),
            true => within.push((*count, ![a[1], b[1]].contains(&firsts[&a[0]]), pair)),
            false if *count <= REPRESENTATIVES => between.push((*count, false, pair)),
            false => rest.push(pair),
        }
    }
    // Of each kind the first pair of any two sets goes before the second one, and those with the
    // first core of a group, which hold it together, before others.
    let in_turns = [within, between].map(|mut kind| {
        kind.sort_by_key(|(count, is_other, _)| (*count, *is_other));
        kind.into_iter().map(|(.., pair)| pair).enumerate()
    });
    let mut in_turns: Vec<_> = in_turns.into_iter().flatten().collect();
    in_turns.sort_by_key(|(turn, _)| *turn);
    chosen.extend(in_turns.into_iter().map(|(_, pair)| pair).chain(rest));
    chosen.truncate(most);
    chosen.sort_unstable();
    chosen
}

/// What became of the visits to a pair.
#[derive(Default)]
struct Visits {
    /// Those that were made.
    seen: Vec<Visit>,
    /// Why a visit could not be made.
    error: Option<String>,
}

/// Returns the observations that suffice, and the reasons against the rest.
fn judged(
    plan: &Plan,
    visits: &[Visits],
    rounds: u64,
    is_interrupted: bool,
) -> (Vec<PairObservation>, Vec<String>) {
    let chosen = plan.pairs.len();
    let begun = visits.iter().filter(|visits| !visits.seen.is_empty()).count();
    // A pair may fail after visits that went well.
    let missing = visits.iter().filter(|it| it.seen.is_empty() && it.error.is_none()).count();
    let mut reasons = Vec::new();
    if is_interrupted {
        let planned = plan.rounds;
        reasons.push(format!(
            "stopped in round {rounds} of {planned}, when {begun} of {chosen} pairs had been \
             visited"
        ));
    } else if missing > 0 {
        reasons.push(format!("there was no time for {missing} of {chosen} pairs"));
    }
    let all = plan.pairs.iter().zip(visits);
    let failed = all.clone().filter_map(|(pair, visits)| Some((pair, visits.error.as_ref()?)));
    let failed: Vec<_> = failed.collect();
    if let Some(([a, b], error)) = failed.first() {
        let count = failed.len();
        reasons.push(format!("{count} of {chosen} pairs failed; CPUs {a} and {b}: {error}"));
    }
    let all = all.filter(|(_, visits)| !visits.seen.is_empty()).flat_map(|(&cpus, visits)| {
        Kernel::ALL.map(|kernel| {
            let visits = visits.seen.iter().map(|seen| seen[kernel as usize]).collect();
            PairObservation { kernel, cpus, visits }
        })
    });
    let (enough, mut poor): (Vec<_>, Vec<_>) = all.partition(PairObservation::is_enough);
    poor.dedup_by_key(|seen| seen.cpus);
    if let Some(seen) = poor.first() {
        let ([a, b], kernel, count) = (seen.cpus, seen.kernel.words(), poor.len());
        let (valid, batches) = (seen.valid(), seen.sum(|side| side.batches));
        reasons.push(format!(
            "the threads of {count} of {chosen} pairs hardly ran together; CPUs {a} and {b}, \
             {kernel}: {valid} of {batches} batches without a gap"
        ));
    }
    (enough, reasons)
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
    fn is_enough(&self) -> bool {
        let has_value = self.visits.iter().flatten().any(|side| side.latency_ns.is_some());
        let least = (self.sum(|side| side.batches) / VALID_ONE_IN).max(VALID_LEAST);
        has_value && self.valid() >= least
    }
}

#[cfg(test)]
mod tests;
