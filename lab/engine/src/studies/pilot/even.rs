//! Determines how many calls make a batch, so that the batches of all contestants last about
//! equally long.
//!
//! An interruption by other processes makes a batch longer by the time that they took, and a longer
//! batch is interrupted more often. Only for batches that last equally long does the factor by
//! which they become longer have the same distribution: then it has no effect on the sign of a log
//! ratio.

/// If equal batches are impossible, their lengths should be within this factor of one another.
const UNEVEN: f64 = 1.1;
/// The number of lengths of the slowest contestant's batch that are tried.
const TRIES: u64 = 20;

/// Returns the calls of a batch of each contestant, from the time of a call of each in nanoseconds.
///
/// Every batch is at least `shortest_ns` long. All last as long as the shortest batch of the
/// slowest contestant with which their lengths are within a tenth of one another, at most
/// `longest_ns`. A contestant whose single call is longer than that has batches of one call, longer
/// than the others'. Costs some microseconds for a hundred contestants.
pub(super) fn calls(call_ns: &[f64], shortest_ns: f64, longest_ns: f64) -> Vec<u64> {
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
pub(super) fn unevenness(calls: &[u64], call_ns: &[f64]) -> f64 {
    let batches = || calls.iter().zip(call_ns).map(|(calls, ns)| *calls as f64 * ns.max(0.1));
    batches().fold(1.0, f64::max) / batches().fold(f64::INFINITY, f64::min)
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
mod tests {
    use super::*;

    #[test]
    fn batches_last_about_equally_long() {
        let check = |call_ns: &[f64], longest_ns: f64, expected: &[u64], most: f64| {
            let calls = calls(call_ns, 50e3, longest_ns);
            assert_eq!(calls, expected, "{call_ns:?}");
            let uneven = unevenness(&calls, call_ns);
            assert!(uneven <= most, "{uneven} {call_ns:?}");
        };
        check(&[100.0, 3400.0], 5e6, &[510, 15], 1.001);
        check(&[100.0, 100.0], 5e6, &[500, 500], 1.0);
        check(&[10.0, 1e6], 5e6, &[100_000, 1], 1.001);
        // Not one call of each, but as many as bring both to the same length.
        check(&[0.7e6, 1e6], 5e6, &[3, 2], 1.06);
        check(&[40e3, 60e3, 90e3], 5e6, &[9, 6, 4], 1.001);
        // A single call that is longer than the limit.
        check(&[10.0, 1e8], 5e6, &[500_000, 1], 20.1);
        check(&[6e6, 1e7], 5e6, &[1, 1], 1.7);
        check(&[0.0, 1e5], 5e6, &[1_000_000, 1], 1.001);
        assert!(calls(&[], 50e3, 5e6).is_empty());
    }
}
