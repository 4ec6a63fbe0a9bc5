//! What is measured in a round, and for how long each.

use super::*;

/// A stretch of a round: so many threads with a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    pub traffic: Traffic,
    pub is_pinned: bool,
    pub threads: usize,
}

/// The cells of a round, and how long each takes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Plan {
    /// Those of a curve beside each other, so that one round sees a curve in one state of the
    /// machine.
    pub cells: Vec<Cell>,
    pub length: Duration,
}

/// Without pinning only reads are measured, among them the published ones, which are not pinned.
const CURVES: [(Traffic, bool); 8] = [
    (Traffic::Touch, true),
    (Traffic::Read, true),
    (Traffic::Write, true),
    (Traffic::Fill, true),
    (Traffic::Copy, true),
    (Traffic::CopyPast, true),
    (Traffic::Touch, false),
    (Traffic::Read, false),
];

/// Rounds that are wanted, and those that there must be time for.
const ROUNDS: (u32, u32) = (12, 2);
/// The shortest and the longest stretch. Where other programs run, threads that have slept get
/// their CPUs at the same time more often than threads that went on, so many short ones are
/// better.
const LENGTH: (Duration, Duration) = (Duration::from_millis(10), Duration::from_millis(50));

/// A plan for this time: fewer numbers of threads where there is no time for all.
pub(super) fn plan(cpus: usize, time: Duration) -> Plan {
    let most_cells = time.as_nanos() / (LENGTH.0 * ROUNDS.1).as_nanos();
    let choices = [all_counts(cpus), powers_of_two(cpus), vec![1, cpus / 2, cpus]];
    let fits = |counts: &&Vec<usize>| (counts.len() * CURVES.len()) as u128 <= most_cells;
    let mut counts = choices.iter().find(fits).unwrap_or(&choices[2]).clone();
    counts.retain(|count| *count > 0);
    counts.sort_unstable();
    counts.dedup();
    let cell = |(traffic, is_pinned)| {
        counts.iter().map(move |threads| Cell { traffic, is_pinned, threads: *threads })
    };
    let cells: Vec<Cell> = CURVES.into_iter().flat_map(cell).collect();
    let length = time / (ROUNDS.0 * cells.len().max(1) as u32);
    Plan { cells, length: length.clamp(LENGTH.0, LENGTH.1) }
}

/// Every number up to 16 CPUs; above, 1, 2, 3, 4, 6, 8, 12, 16, 24, ... and all of them.
fn all_counts(cpus: usize) -> Vec<usize> {
    if cpus <= 16 {
        return (1..=cpus).collect();
    }
    let sizes = (0..usize::BITS - 2).flat_map(|power| [2 << power, 3 << power]);
    [1].into_iter().chain(sizes.take_while(|count| *count < cpus)).chain([cpus]).collect()
}

fn powers_of_two(cpus: usize) -> Vec<usize> {
    let powers = std::iter::successors(Some(1), |power| Some(power * 2));
    powers.take_while(|power| *power < cpus).chain([cpus]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_as_many_counts_as_there_is_time_for() {
        let check = |cpus: usize, ms: u64, expected: &[usize]| {
            let plan = plan(cpus, Duration::from_millis(ms));
            let counts: Vec<usize> = plan
                .cells
                .iter()
                .take_while(|c| c.traffic == Traffic::Touch)
                .map(|c| c.threads)
                .collect();
            assert_eq!(counts, expected, "{cpus} {ms}");
            assert_eq!(plan.cells.len(), CURVES.len() * expected.len());
            assert!((LENGTH.0..=LENGTH.1).contains(&plan.length));
        };
        check(1, 3000, &[1]);
        check(2, 3000, &[1, 2]);
        check(5, 30_000, &[1, 2, 3, 4, 5]);
        check(20, 30_000, &[1, 2, 3, 4, 6, 8, 12, 16, 20]);
        check(96, 1500, &[1, 2, 4, 8, 16, 32, 64, 96]);
        check(96, 500, &[1, 48, 96]);
        check(1, 1, &[1]);
        let thorough = plan(2, Duration::from_secs(9)).length;
        assert!(thorough > plan(2, Duration::from_secs(3)).length);
    }
}
