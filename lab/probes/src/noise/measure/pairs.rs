//! The same work against itself, as two functions would be compared: batches in random order, some
//! rounds to a unit.

use super::*;

/// A batch is to take this long.
const BATCH_NS: u64 = 200_000;
/// Rounds of a unit: 10 ms or so.
pub const ROUNDS_A_UNIT: usize = 24;
/// Units are not more than this: what they add is nothing.
pub(super) const UNITS_MOST: usize = 4096;

/// The same work against itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pairs {
    /// Units of [`ROUNDS_A_UNIT`] rounds: the times of both sides of each round, in nanoseconds.
    pub units: Vec<Vec<[u64; 2]>>,
    /// How long all of them took, from the beginning of the first to the end of the last.
    pub elapsed_ns: u64,
    /// How much of that they had a CPU, as the scheduler counts it.
    pub cpu_ns: u64,
}

/// Runs units until there are so many or the time is over.
pub(super) fn run(units: usize, length: Duration, budget: &mut Budget<'_>) -> Pairs {
    let steps = steps_a_batch();
    let begin_ns = clock::monotonic_ns();
    let begin_cpu_ns = clock::thread_cpu_ns();
    let end = Instant::now() + length.min(budget.left());
    let mut coins = Random::new(0);
    let mut pairs = Pairs::default();
    while pairs.units.len() < units {
        let mut unit = Vec::with_capacity(ROUNDS_A_UNIT);
        while unit.len() < ROUNDS_A_UNIT && Instant::now() < end && !budget.is_interrupted() {
            unit.push(round(steps, &mut coins));
        }
        // A unit that was cut off is not one.
        if unit.len() < ROUNDS_A_UNIT {
            break;
        }
        pairs.units.push(unit);
        pairs.elapsed_ns = clock::monotonic_ns() - begin_ns;
        pairs.cpu_ns = clock::thread_cpu_ns() - begin_cpu_ns;
        if pairs.units.len() % 32 == 0 {
            budget.tell(0.0);
        }
    }
    pairs
}

/// Both sides once, who is first by a coin.
fn round(steps: u64, coins: &mut Random) -> [u64; 2] {
    let (first, second) = (batch_ns(steps), batch_ns(steps));
    if coins.below(2) == 0 { [first, second] } else { [second, first] }
}

fn batch_ns(steps: u64) -> u64 {
    let begin_ns = clock::monotonic_ns();
    // Work of a number that the compiler knows could be done once for all batches.
    std::hint::black_box(work(std::hint::black_box(steps)));
    (clock::monotonic_ns() - begin_ns).max(1)
}

/// Steps of a batch of [`BATCH_NS`]: the fastest of some tries decides.
fn steps_a_batch() -> u64 {
    let tried = 20_000;
    let least_ns = (0..10).map(|_| batch_ns(tried)).min().unwrap_or(1).max(1);
    (tried * BATCH_NS / least_ns).max(1000)
}

/// Work as of a function: a chain of shifts and multiplications (Marsaglia 2003, xorshift64*).
#[inline(never)]
fn work(steps: u64) -> u64 {
    (0..steps).fold(0x9E37_79B9_7F4A_7C15, |mut x: u64, _| {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn units_are_whole_and_the_flag_ends_them() {
        let flag = AtomicBool::new(false);
        let mut progress = |_| ();
        let mut budget = Budget::new(Duration::from_secs(60), &flag, &mut progress);
        let pairs = run(2, Duration::from_secs(60), &mut budget);
        assert!(pairs.units.len() == 2 && pairs.elapsed_ns > 0);
        assert!(pairs.units.iter().all(|unit| unit.len() == ROUNDS_A_UNIT));
        assert!(pairs.units.iter().flatten().flatten().all(|ns| *ns > 0));
        flag.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(run(2, Duration::from_secs(60), &mut budget).units.is_empty());
    }
}
