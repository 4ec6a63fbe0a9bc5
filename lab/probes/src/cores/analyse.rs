//! Cores: from what the probe saw to what is said of it.

use super::measure as cores;
use crate::cores::measure::{Advertised, PairObservation, Reading};
use crate::tools::*;
use crate::{Cores, Group, Kernel, KernelLatency, LatencyMode, Level, PairLatency, Shared};
use tiebreak_stats::clusters::{Partition, adjusted_rand, partitions};
use tiebreak_stats::modes::modes;

/// Readings, and groups, of which one is so many times as large as the next are apart.
const GAP: f64 = 1.25;
/// The two CPUs of a pair should time the same latency: one may be so many times the other.
const ASYMMETRY_MOST: f64 = 1.15;
/// Rounds on either side from which the two can be compared.
const ROUNDS_TO_COMPARE: usize = 3;
/// Rounds that cover less than this miss rare placements, in nanoseconds.
const LONG_LOOK_NS: u64 = 30_000_000_000;

/// Probes the machine.
pub(crate) fn probe(options: &Options<'_>, budget: &mut Budget<'_>) -> Probed<Cores> {
    probed(cores::Cores::new(&options.cpus), |probe| probe.measure(budget).map(found))
}

fn found(reading: Reading, reasons: &mut Vec<String>) -> Cores {
    let kernels: Vec<_> = Kernel::ALL.into_iter().filter_map(|by| latency(&reading, by)).collect();
    reasons.extend(kernels.first().and_then(asymmetry));
    let mut found = Cores { kernels, ..reading.found };
    found.is_short_look = found.span_ns < LONG_LOOK_NS;
    if let Some(headline) = found.kernels.first() {
        (found.cpus, found.levels) = grouped(&found.cpus, headline, &reading.advertised);
    }
    found
}

/// What one way of passing found; `None` if that is nothing.
fn latency(reading: &Reading, kernel: Kernel) -> Option<KernelLatency> {
    let seen = reading.seen.iter().filter(|seen| seen.kernel == kernel);
    let mut pairs: Vec<PairLatency> = seen.filter_map(pair).collect();
    let values = || pairs.iter().map(|pair| pair.latency_ns);
    let nearest_ns = values().min_by(f64::total_cmp)?;
    let farthest_ns = values().max_by(f64::total_cmp)?;
    // Of many pairs the rounds would be most of a print.
    let ends = [nearest_ns, farthest_ns];
    let between = pairs.iter_mut().filter(|pair| !ends.contains(&pair.latency_ns));
    between.for_each(|pair| pair.rounds_ns.clear());
    Some(KernelLatency { kernel, nearest_ns, farthest_ns, pairs })
}

/// The modes of a pair over its rounds. What both CPUs timed in a visit is one reading: their mean,
/// as a placement holds for both.
fn pair(seen: &PairObservation) -> Option<PairLatency> {
    let reading = |visit: &[Option<f64>; 2]| match *visit {
        [Some(first), Some(second)] => Some((first + second) / 2.0),
        [first, second] => first.or(second),
    };
    let readings: Vec<f64> = seen.visits.iter().filter_map(reading).collect();
    let split = modes(&readings, GAP);
    let lowest = *split.modes.first()?;
    let is_lowest = |visit: &&[Option<f64>; 2]| {
        reading(visit).is_some_and(|value| (lowest.low..=lowest.high).contains(&value))
    };
    let timed_by = |side: usize| {
        let visits = seen.visits.iter().filter(is_lowest);
        let values: Vec<f64> = visits.filter_map(|visit| visit[side]).collect();
        (values.len() >= ROUNDS_TO_COMPARE).then(|| tiebreak_stats::modes::median(&values))?
    };
    let modes = split.modes.iter().map(|mode| LatencyMode {
        latency_ns: mode.median,
        low_ns: mode.low,
        high_ns: mode.high,
        share: mode.share,
    });
    Some(PairLatency {
        cpus: seen.cpus,
        latency_ns: lowest.median,
        timed_by_ns: [timed_by(0), timed_by(1)],
        modes: modes.collect(),
        rounds_ns: readings,
        strays: split.strays as u64,
        batches: seen.batches,
        invalid: seen.invalid,
        preemptions: seen.preemptions,
    })
}

/// What speaks against pairs whose two CPUs timed different latencies.
fn asymmetry(headline: &KernelLatency) -> Option<String> {
    let odd = |pair: &&PairLatency| match pair.timed_by_ns {
        [Some(first), Some(second)] => first.max(second) > first.min(second) * ASYMMETRY_MOST,
        _ => false,
    };
    let odd: Vec<_> = headline.pairs.iter().filter(odd).collect();
    let pair = odd.first()?;
    let [first, second] = pair.timed_by_ns.map(Option::unwrap_or_default);
    Some(format!(
        "{} of {} pairs differ by more than 15% between their two directions; CPUs {} and {}: \
         {first:.0} ns and {second:.0} ns",
        odd.len(),
        headline.pairs.len(),
        pair.cpus[0],
        pair.cpus[1]
    ))
}

/// The CPUs in an order in which groups lie together, and the groups.
fn grouped(
    cpus: &[usize],
    headline: &KernelLatency,
    advertised: &[Advertised],
) -> (Vec<usize>, Vec<Level>) {
    let known: BTreeMap<[usize; 2], f64> =
        headline.pairs.iter().map(|pair| (pair.cpus, pair.latency_ns)).collect();
    let distance = |i: usize, j: usize| known.get(&[cpus[i], cpus[j]]).copied();
    let found = partitions(cpus.len(), distance, GAP);
    let mut order: Vec<usize> = (0..cpus.len()).collect();
    order.sort_by_key(|place| {
        let groups = found.iter().rev().map(|partition| partition.group_of[*place]);
        (groups.collect::<Vec<_>>(), *place)
    });
    let levels = found.iter().map(|partition| level(partition, cpus, advertised));
    (order.iter().map(|place| cpus[*place]).collect(), levels.collect())
}

fn level(partition: &Partition, cpus: &[usize], advertised: &[Advertised]) -> Level {
    let count = partition.group_of.iter().max().map_or(0, |last| last + 1);
    let mut groups = vec![Group { cpus: Vec::new(), shares: None }; count];
    for (place, group) in partition.group_of.iter().enumerate() {
        groups[*group].cpus.push(cpus[place]);
    }
    for group in groups.iter_mut().filter(|group| group.cpus.len() > 1) {
        // The sets are sorted by what is shared, from the innermost.
        let same = advertised.iter().find(|set| set.cpus == group.cpus);
        group.shares = same.map(|set| set.shares);
    }
    let kinds = [Shared::Core, Shared::L2, Shared::L3, Shared::Socket];
    let agreements = kinds.iter().filter_map(|shares| {
        let said = said(*shares, cpus, advertised)?;
        adjusted_rand(&partition.group_of, &said)
    });
    let agreement = agreements.max_by(f64::total_cmp);
    Level { groups, within_ns: partition.within, agreement }
}

/// The partition that the machine advertises; `None` if it leaves out a CPU.
fn said(shares: Shared, cpus: &[usize], advertised: &[Advertised]) -> Option<Vec<usize>> {
    let sets: Vec<_> = advertised.iter().filter(|set| set.shares == shares).collect();
    cpus.iter().map(|cpu| sets.iter().position(|set| set.cpus.contains(cpu))).collect()
}

#[cfg(test)]
mod tests;
