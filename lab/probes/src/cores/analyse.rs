//! Cores: computes the finding from the probe's reading.

use super::measure::{self, Advertised, Observation, PairObservation, Reading};
use crate::tools::*;
use crate::{Cores, Group, Kernel, KernelLatency, LatencyMode, Level, PairLatency, Shared, Spread};
use tiebreak_stats::clusters::{Partition, adjusted_rand, partitions};
use tiebreak_stats::modes::{median, modes};

/// Least ratio between two readings, or two distances, that separates modes or groups.
const GAP: f64 = 1.25;
/// Greatest plausible ratio between the latencies that the two CPUs of a pair timed.
const ASYMMETRY_MOST: f64 = 1.15;
/// Least number of rounds on either side for a comparison of the two.
const ROUNDS_TO_COMPARE: usize = 3;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Cores> {
    probed(measure::several(&options.cpus), |cpus| measure::measure(cpus, budget).map(found))
}

fn found(reading: Reading, reasons: &mut Vec<String>) -> Cores {
    let kernels = Kernel::ALL.into_iter().filter_map(|kernel| latency(&reading.seen, kernel));
    let mut found = Cores { kernels: kernels.collect(), ..reading.found };
    found.is_short_look = Duration::from_nanos(found.span_ns) < LONG_LOOK;
    if let Some(headline) = found.kernels.first() {
        reasons.extend(asymmetry(headline));
        (found.cpus, found.levels) = grouped(&found.cpus, headline, &reading.advertised);
    }
    found
}

/// Returns the results for one way of passing; `None` if there are none.
fn latency(seen: &[PairObservation], kernel: Kernel) -> Option<KernelLatency> {
    let seen = seen.iter().filter(|seen| seen.kernel == kernel);
    let mut pairs: Vec<PairLatency> = seen.filter_map(pair).collect();
    let values = Spread::of(pairs.iter().map(|pair| pair.latency_ns))?;
    let [nearest_ns, farthest_ns] = [values.low, values.high];
    // With many pairs, the rounds would be most of a print.
    for pair in &mut pairs {
        if ![nearest_ns, farthest_ns].contains(&pair.latency_ns) {
            pair.rounds_ns.clear();
        }
    }
    Some(KernelLatency { kernel, nearest_ns, farthest_ns, pairs })
}

/// Returns the reading of a visit: the mean of what both CPUs timed, as a placement holds for both.
fn reading_ns(visit: &[Observation; 2]) -> Option<f64> {
    match visit.map(|side| side.latency_ns) {
        [Some(first), Some(second)] => Some((first + second) / 2.0),
        [first, second] => first.or(second),
    }
}

/// Separates the modes of a pair over its rounds.
fn pair(seen: &PairObservation) -> Option<PairLatency> {
    let rounds_ns: Vec<f64> = seen.visits.iter().filter_map(reading_ns).collect();
    let split = modes(&rounds_ns, GAP);
    let lowest = *split.modes.first()?;
    let timed_by_ns = [0, 1].map(|side| {
        let of_lowest = seen.visits.iter().filter(|visit| {
            reading_ns(visit).is_some_and(|ns| lowest.low <= ns && ns <= lowest.high)
        });
        let values: Vec<f64> = of_lowest.filter_map(|visit| visit[side].latency_ns).collect();
        median(&values).filter(|_| values.len() >= ROUNDS_TO_COMPARE)
    });
    let modes = split.modes.iter().map(|mode| LatencyMode {
        latency_ns: mode.median,
        low_ns: mode.low,
        high_ns: mode.high,
        share: mode.share,
    });
    Some(PairLatency {
        cpus: seen.cpus,
        latency_ns: lowest.median,
        timed_by_ns,
        modes: modes.collect(),
        rounds_ns,
        strays: split.strays as u64,
        batches: seen.sum(|side| side.batches),
        invalid: seen.sum(|side| side.invalid),
        preemptions: seen.sum(|side| side.preemptions),
    })
}

/// Returns the reason against pairs whose two CPUs timed different latencies.
fn asymmetry(headline: &KernelLatency) -> Option<String> {
    let odd = headline.pairs.iter().filter_map(|pair| {
        let [first, second] = pair.timed_by_ns;
        let (first, second) = first.zip(second)?;
        let is_odd = first.max(second) > first.min(second) * ASYMMETRY_MOST;
        is_odd.then_some((pair.cpus, first, second))
    });
    let odd: Vec<_> = odd.collect();
    let ([a, b], first, second) = odd.first()?;
    Some(format!(
        "{} of {} pairs differ by more than 15% between their two directions; CPUs {a} and {b}: \
         {first:.0} ns and {second:.0} ns",
        odd.len(),
        headline.pairs.len(),
    ))
}

/// Returns the CPUs in an order in which groups are adjacent, and the groups.
fn grouped(
    cpus: &[usize],
    headline: &KernelLatency,
    advertised: &[Advertised],
) -> (Vec<usize>, Vec<Level>) {
    let known: BTreeMap<[usize; 2], f64> =
        headline.pairs.iter().map(|pair| (pair.cpus, pair.latency_ns)).collect();
    let found = partitions(cpus.len(), |i, j| known.get(&[cpus[i], cpus[j]]).copied(), GAP);
    let mut order: Vec<usize> = (0..cpus.len()).collect();
    // The sorts are stable, so the coarsest partition decides, and a finer one within its groups.
    for partition in &found {
        order.sort_by_key(|place| partition.group_of[*place]);
    }
    let levels = found.iter().map(|partition| level(partition, cpus, advertised));
    (order.iter().map(|place| cpus[*place]).collect(), levels.collect())
}

fn level(found: &Partition, cpus: &[usize], advertised: &[Advertised]) -> Level {
    let mut members = BTreeMap::<usize, Vec<usize>>::new();
    for (cpu, group) in cpus.iter().zip(&found.group_of) {
        members.entry(*group).or_default().push(*cpu);
    }
    let groups = members.into_values().map(|cpus| {
        // The sets are sorted by what is shared, the innermost first.
        let same = advertised.iter().find(|set| set.cpus == cpus && cpus.len() > 1);
        Group { shares: same.map(|set| set.shares), cpus }
    });
    let kinds = [Shared::Core, Shared::L2, Shared::L3, Shared::Socket];
    let agreements = kinds
        .into_iter()
        .filter_map(|shares| adjusted_rand(&found.group_of, &partition(shares, cpus, advertised)?));
    Level {
        groups: groups.collect(),
        within_ns: found.within,
        agreement: agreements.max_by(f64::total_cmp),
    }
}

/// Returns for each CPU the number of the set that it is in; `None` if one is in none.
fn partition(shares: Shared, cpus: &[usize], advertised: &[Advertised]) -> Option<Vec<usize>> {
    let sets: Vec<_> = advertised.iter().filter(|set| set.shares == shares).collect();
    cpus.iter().map(|cpu| sets.iter().position(|set| set.cpus.contains(cpu))).collect()
}

#[cfg(test)]
mod tests;
