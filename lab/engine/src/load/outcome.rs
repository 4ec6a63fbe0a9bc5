//! What was seen of a load, as a result.

use std::collections::BTreeMap;
use tiebreak_core::load::{AtLeast, LatencyBin, LatencyQuantile, Pace, PaceResult, Spacing};
use tiebreak_load::latency::Latencies;
use tiebreak_load::pacer::TOLERANCE_NS;
use tiebreak_load::schedule::SECOND_NS;
use tiebreak_load::seen::Account;

/// The shares at which latencies are read: of each power of ten of `1 / (1 - share)` 1, 2 and 5.
const SHARES: [f64; 19] = [
    0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.998, 0.999, 0.9995, 0.9998, 0.9999, 0.99995,
    0.99998, 0.99999, 0.999995, 0.999998, 0.999999,
];

/// Returns the result of a load at a pace.
pub(crate) fn of(seen: &Account, pace: Pace) -> PaceResult {
    let Account { counts, punctuality, latencies, times, .. } = seen;
    let is_behind_schedule = punctuality.is_behind_schedule();
    let first_ns = times.sends_ns.map(|(first_ns, _)| first_ns);
    let last_ns = times.arrivals_ns.map(|(_, last_ns)| last_ns);
    let ends = first_ns.zip(last_ns);
    PaceResult {
        pace,
        duration_ns: ends.map_or(0, |(first_ns, last_ns)| last_ns.saturating_sub(first_ns)),
        counts: *counts,
        refusals: seen.refusals.clone(),
        late: punctuality.late,
        arrived_per_second: arrived_per_second(seen, pace, is_behind_schedule),
        latencies: quantiles(latencies),
        generator_cpu_a_message_ns: (counts.sent > 0)
            .then(|| seen.generator_cpu_ns as f64 / counts.sent as f64),
        written_bytes: seen.written_bytes,
        read_bytes: seen.read_bytes,
        tolerance_ns: TOLERANCE_NS,
        is_behind_schedule,
        tls: seen.tls.clone(),
        ending: seen.ending.clone(),
        bins: bins(latencies),
    }
}

/// Returns the rate of the arrivals, from the start to the last of them, in an open loop at least
/// to the end of the schedule, which is its last message where these come at random. If the load
/// was behind schedule, the server may be able to do more.
fn arrived_per_second(seen: &Account, pace: Pace, is_behind_schedule: bool) -> Option<AtLeast> {
    let (_, last_ns) = seen.times.arrivals_ns?;
    let planned_ns = match pace {
        Pace::Open { rate_per_second, spacing: Spacing::Constant } => {
            seen.counts.intended as f64 * SECOND_NS as f64 / rate_per_second as f64
        }
        Pace::Open { spacing: Spacing::Poisson, .. } => {
            seen.times.sends_ns.map_or(1.0, |(_, last_ns)| last_ns as f64)
        }
        Pace::Closed { .. } => 1.0,
    };
    let rate = seen.counts.arrived as f64 * SECOND_NS as f64 / planned_ns.max(last_ns as f64);
    Some(AtLeast { low: rate, high: (!is_behind_schedule).then_some(rate) })
}

/// Returns the latencies at those shares that leave one arrival or more above them, and the
/// greatest.
fn quantiles(latencies: &Latencies) -> Vec<LatencyQuantile> {
    let count = latencies.count() as f64;
    let shares = SHARES.into_iter().filter(|share| (1.0 - share) * count >= 1.0 - 1e-6);
    let quantiles = shares.chain([1.0]).filter_map(|share| {
        let found = latencies.value_at(share)?;
        Some(LatencyQuantile { share, low_ns: found.low_ns, high_ns: found.high_ns })
    });
    quantiles.collect()
}

/// Returns the bins in which there is something, in ascending order.
fn bins(latencies: &Latencies) -> Vec<LatencyBin> {
    let mut bins: BTreeMap<u64, LatencyBin> = BTreeMap::new();
    for (histogram, is_actual) in [(latencies.lows(), true), (latencies.highs(), false)] {
        for bin in histogram.bins() {
            let (low_ns, high_ns) = (bin.bounds.low_ns, bin.bounds.high_ns);
            let empty = LatencyBin { low_ns, high_ns, from_actual: 0, from_intended: 0 };
            let place = bins.entry(low_ns).or_insert(empty);
            let count = if is_actual { &mut place.from_actual } else { &mut place.from_intended };
            *count += bin.count;
        }
    }
    bins.into_values().collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tiebreak_core::load::{LoadEnding, MessageCounts};
    use tiebreak_load::Latency;
    use tiebreak_load::pacer::Punctuality;
    use tiebreak_load::seen::Times;

    /// Returns what was seen of messages with these latencies, one arrival a microsecond.
    pub(in crate::load) fn seen(latencies_ns: &[(u64, u64)]) -> Account {
        let mut latencies = Latencies::new();
        for (low_ns, high_ns) in latencies_ns {
            latencies.add(Latency::between(*low_ns, *high_ns));
        }
        let arrived = latencies_ns.len() as u64;
        let last_ns = 1000 * arrived;
        Account {
            counts: MessageCounts {
                intended: arrived,
                sent: arrived,
                arrived,
                ..MessageCounts::default()
            },
            refusals: Vec::new(),
            punctuality: Punctuality { sent: arrived, unsent: 0, late: 0 },
            latencies,
            times: Times {
                sends_ns: Some((0, last_ns)),
                arrivals_ns: (arrived > 0).then_some((1000, last_ns)),
                before_end: (arrived > 0).then_some((last_ns, arrived)),
            },
            backlog: 0,
            generator_cpu_ns: 500 * arrived,
            written_bytes: 0,
            read_bytes: 0,
            tls: None,
            ending: LoadEnding::Complete,
        }
    }

    const PACE: Pace = Pace::Open { rate_per_second: 1_000_000, spacing: Spacing::Constant };

    #[test]
    fn a_rate_is_that_of_the_arrivals_until_the_last() {
        let result = of(&seen(&[(10, 10); 1001]), PACE);
        let rate = AtLeast { low: 1e6, high: Some(1e6) };
        assert_eq!(result.arrived_per_second, Some(rate));
        assert_eq!(result.generator_cpu_a_message_ns, Some(500.0));
        assert_eq!(result.duration_ns, 1_001_000);
        assert_eq!(of(&seen(&[]), PACE).arrived_per_second, None);
        // Those that are held back for long and then come at once are no fast ones.
        let mut late = seen(&[(10, 10); 1000]);
        late.times.arrivals_ns = Some((999_000_000, 1_000_000_000));
        let rate = of(&late, PACE).arrived_per_second.unwrap();
        assert_eq!(rate.low, 1000.0);
        assert_eq!(of(&seen(&[]), PACE).generator_cpu_a_message_ns, None);
        // At random there may be more of them than the rate says.
        let random = Pace::Open { rate_per_second: 1000, spacing: Spacing::Poisson };
        let rate = AtLeast { low: 1e6, high: Some(1e6) };
        assert_eq!(of(&seen(&[(10, 10); 1001]), random).arrived_per_second, Some(rate));
    }

    #[test]
    fn a_load_behind_schedule_bounds_from_below() {
        let mut seen = seen(&[(10, 10); 1001]);
        seen.punctuality.late = 2;
        let result = of(&seen, PACE);
        assert!(result.is_behind_schedule);
        assert_eq!(result.late, 2);
        assert_eq!(result.arrived_per_second, Some(AtLeast { low: 1e6, high: None }));
    }

    #[test]
    fn quantiles_are_intervals_and_no_rarer_than_one_arrival() {
        let latencies: Vec<(u64, u64)> = (1..=100).map(|ns| (ns, ns + 100)).collect();
        let quantiles = of(&seen(&latencies), PACE).latencies;
        let shares: Vec<f64> = quantiles.iter().map(|quantile| quantile.share).collect();
        assert_eq!(shares, [0.0, 0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0]);
        let bounds: Vec<_> = quantiles.iter().map(|at| (at.low_ns, at.high_ns)).collect();
        assert_eq!(bounds[0], (1, 101));
        assert_eq!(bounds[1], (50, 150));
        assert_eq!(bounds[6], (99, 199));
        assert_eq!(bounds[7], (100, 200));
        assert_eq!(of(&seen(&[]), PACE).latencies, []);
    }

    #[test]
    fn bins_have_both_counts() {
        let bins = of(&seen(&[(3, 3), (3, 9), (7, 9)]), PACE).bins;
        let counts: Vec<_> =
            bins.iter().map(|bin| (bin.low_ns, bin.from_actual, bin.from_intended)).collect();
        assert_eq!(counts, [(3, 2, 1), (7, 1, 0), (9, 0, 2)]);
        assert!(bins.iter().all(|bin| bin.low_ns == bin.high_ns));
    }
}
