//! What a reading costs, and how finely a clock moves.

use crate::tools::*;
use crate::{Clock, Steps};

/// A batch of readings is to take this long.
const BATCH_NS: u64 = 10_000;
/// Batches of each clock, if there is time.
const BATCHES: usize = 500;
/// The share of batches that are its fastest.
const LOW: f64 = 0.05;
/// Steps of each clock, if there is time.
const STEPS: usize = 4000;

/// A part of fewer batches has no fastest twentieth.
const LEAST_A_PART: usize = 10;

/// What a reading of a clock costs, and nothing else of it; `None` if there is no time for a batch.
pub(super) fn cost(mut read: impl FnMut() -> u64, at_most: Duration) -> Option<Clock> {
    let begin_ns = clock::monotonic_ns();
    let end_ns = begin_ns + at_most.as_nanos() as u64;
    let calls = calls_a_batch(&mut read);
    let mut batches = Vec::with_capacity(BATCHES);
    let mut then = clock::monotonic_ns();
    while batches.is_empty() || (batches.len() < BATCHES && then < end_ns) {
        for _ in 0..calls {
            std::hint::black_box(read());
        }
        let now = clock::monotonic_ns();
        batches.push(now - then);
        then = clock::monotonic_ns();
    }
    let a_call = |ns: u64| ns as f64 / calls as f64;
    let parts_ns = parts(&batches, LOW, LEAST_A_PART).into_iter().map(a_call).collect();
    let mut of_all = |share| quantile(&mut batches, share).map(a_call);
    let (cost_ns, cost_low_ns) = (of_all(0.5)?, of_all(LOW)?);
    Some(Clock { cost_ns, cost_low_ns, parts_ns, ..Clock::default() })
}

/// How many readings make a batch: the fastest of some short tries decides.
fn calls_a_batch(read: &mut impl FnMut() -> u64) -> u64 {
    let tries = 16;
    let mut least_ns = u64::MAX;
    for _ in 0..8 {
        let begin_ns = clock::monotonic_ns();
        for _ in 0..tries {
            std::hint::black_box(read());
        }
        least_ns = least_ns.min(clock::monotonic_ns() - begin_ns);
    }
    (tries * BATCH_NS / least_ns.max(1)).clamp(4, 100_000)
}

/// The steps between readings, one right after the other; `tick_ns` is 1 of a clock in
/// nanoseconds. `None` if no step was seen in time.
pub(super) fn steps(mut read: impl FnMut() -> u64, tick_ns: f64, most: Duration) -> Option<Steps> {
    let end_ns = clock::monotonic_ns() + most.as_nanos() as u64;
    let mut seen = Vec::with_capacity(STEPS);
    let (mut equal, mut backwards) = (0_u64, 0_u64);
    let mut last = read();
    let mut readings = 0_u64;
    while seen.len() < STEPS {
        let now = read();
        match now.cmp(&last) {
            std::cmp::Ordering::Greater => seen.push(now - last),
            std::cmp::Ordering::Equal => equal += 1,
            std::cmp::Ordering::Less => backwards += 1,
        }
        readings += 1;
        if readings.is_multiple_of(64) && clock::monotonic_ns() > end_ns {
            break;
        }
        // Looking at the time took a while, which is not a step.
        last = if readings.is_multiple_of(64) { read() } else { now };
    }
    let mut at = |share| Some(quantile(&mut seen, share)? as f64 * tick_ns);
    let [least_ns, median_ns, p99_ns] = [at(0.0)?, at(0.5)?, at(0.99)?];
    let equal_share = equal as f64 / readings as f64;
    Some(Steps { least_ns, median_ns, p99_ns, equal_share, backwards })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_counted_by_what_they_do() {
        let mut made_up = [0_u64, 0, 10, 20, 20, 15, 45].into_iter().cycle();
        let found = steps(|| made_up.next().unwrap(), 0.5, Duration::from_secs(5)).unwrap();
        assert_eq!((found.least_ns, found.median_ns, found.p99_ns), (5.0, 5.0, 15.0));
        assert!(found.equal_share > 0.2 && found.equal_share < 0.4, "{found:?}");
        assert!(found.backwards > 0);
    }

    #[test]
    fn a_clock_that_stands_has_no_steps_and_takes_no_longer_than_it_may() {
        assert_eq!(steps(|| 7, 1.0, Duration::from_millis(2)), None);
    }

    #[test]
    fn what_costs_more_is_seen_to() {
        let mut x = 1_u64;
        let mut work = |steps: u32| {
            for _ in 0..steps {
                x = std::hint::black_box(x.wrapping_mul(3));
            }
            x
        };
        let at_most = Duration::from_secs(2);
        let few = cost(|| work(10), at_most).unwrap();
        let many = cost(|| work(1000), at_most).unwrap();
        assert!(few.cost_low_ns <= few.cost_ns && many.cost_ns > 10.0 * few.cost_ns);
        let least = |cost: &Clock| cost.parts_ns.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(few.parts_ns.is_empty() || least(&many) > 10.0 * least(&few));
    }
}
