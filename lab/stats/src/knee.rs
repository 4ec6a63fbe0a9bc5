//! The knee of a curve: the smallest size that gives nearly all of the best value.

use crate::summary::median_of_sorted;

/// The smallest size whose value is at least a share of the best, and its uncertainty.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Knee {
    /// The size, by the medians over the rounds.
    pub size: u64,
    /// The smallest knee of any round.
    pub low: u64,
    /// The largest knee of any round.
    pub high: u64,
    /// The share of the rounds whose knee is this size.
    pub agreeing_share: f64,
    /// The best value of any size, by the medians over the rounds.
    pub best: f64,
}

/// Finds the knee of a curve that was measured in rounds.
///
/// `curve` holds sizes, the smallest first, each with its value in every round. A round without a
/// value for a size is `None` there, or ends earlier.
///
/// The knee is `min { n : m(n) >= share * max m }`, with `m(n)` the median over the rounds that
/// have a value for `n`. Each round with values for all sizes has its own knee, and the range of
/// these shows the uncertainty. Without such a round, the range is the knee itself and no round
/// agrees. Returns `None` if there is no value. Cost: sorting.
pub fn knee(curve: &[(u64, Vec<Option<f64>>)], share: f64) -> Option<Knee> {
    let medians = curve.iter().filter_map(|(size, rounds)| {
        let mut known: Vec<f64> = rounds.iter().copied().flatten().collect();
        known.sort_by(f64::total_cmp);
        Some((*size, median_of_sorted(&known)?))
    });
    let medians: Vec<(u64, f64)> = medians.collect();
    let (size, best) = first_at(&medians, share)?;
    let rounds = curve.iter().map(|(_, rounds)| rounds.len()).min().unwrap_or(0);
    let knees = (0..rounds).filter_map(|round| {
        let known = curve.iter().map(|(size, rounds)| Some((*size, rounds[round]?)));
        first_at(&known.collect::<Option<Vec<_>>>()?, share).map(|(size, _)| size)
    });
    let knees: Vec<u64> = knees.collect();
    let agreeing = knees.iter().filter(|other| **other == size).count();
    Some(Knee {
        size,
        low: knees.iter().copied().min().unwrap_or(size),
        high: knees.iter().copied().max().unwrap_or(size),
        agreeing_share: agreeing as f64 / knees.len().max(1) as f64,
        best,
    })
}

/// Returns the first size that is good enough, and the best value.
fn first_at(points: &[(u64, f64)], share: f64) -> Option<(u64, f64)> {
    let best = points.iter().map(|(_, value)| *value).max_by(f64::total_cmp)?;
    let first = points.iter().find(|(_, value)| *value >= share * best)?;
    Some((first.0, best))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(curve: &[(u64, &[Option<f64>])], expected: Option<(u64, u64, u64, f64, f64)>) {
        let curve: Vec<_> = curve.iter().map(|(size, rounds)| (*size, rounds.to_vec())).collect();
        let found = knee(&curve, 0.95);
        let found = found.map(|k| (k.size, k.low, k.high, k.agreeing_share, k.best));
        assert_eq!(found, expected, "{curve:?}");
    }

    #[test]
    fn the_knee_is_the_first_size_that_is_good_enough() {
        fn some(value: f64) -> [Option<f64>; 3] {
            [Some(value); 3]
        }
        let (a, b, c, d) = (some(10.0), some(19.0), some(20.0), some(12.0));
        check(&[(1, &a), (2, &b), (4, &c), (8, &d)], Some((2, 2, 2, 1.0, 20.0)));
        check(&[(1, &a)], Some((1, 1, 1, 1.0, 10.0)));
        // More threads may give less: the best is then the first.
        check(&[(1, &c), (2, &d)], Some((1, 1, 1, 1.0, 20.0)));
        check(&[], None);
        check(&[(1, &[]), (2, &[None])], None);
    }

    #[test]
    fn rounds_that_disagree_widen_the_range() {
        let one = [Some(10.0), Some(10.0), Some(10.0), Some(10.0)];
        let two = [Some(20.0), Some(20.0), Some(20.0), Some(10.0)];
        let four = [Some(20.5), Some(30.0), Some(20.0), Some(10.0)];
        check(&[(1, &one), (2, &two), (4, &four)], Some((2, 1, 4, 0.5, 20.25)));
    }

    #[test]
    fn rounds_that_do_not_know_all_sizes_say_nothing() {
        let one = [Some(10.0), None, Some(10.0)];
        let two = [None, Some(30.0)];
        check(&[(1, &one), (2, &two)], Some((2, 2, 2, 0.0, 30.0)));
    }

    #[test]
    fn medians_lie_in_the_middle() {
        for (values, expected) in [
            (&[][..], None),
            (&[3.0][..], Some(3.0)),
            (&[5.0, 1.0, 3.0][..], Some(3.0)),
            (&[4.0, 1.0, 2.0, 9.0][..], Some(3.0)),
        ] {
            let mut sorted = values.to_vec();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(median_of_sorted(&sorted), expected);
        }
    }
}
