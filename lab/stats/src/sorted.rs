//! Numbers in order, to which more are added one by one.

/// The most numbers in a run: few enough that moving them costs less than finding the run.
const RUN: usize = 1024;

/// Numbers, sorted, none of them `NAN`: consecutive sorted runs of at most a thousand.
///
/// An insertion moves numbers within one run, and a rank is found by adding the lengths of runs
/// from the nearer end. With a million numbers either costs less than a microsecond. A number takes
/// 8 to 16 bytes.
#[derive(Clone, Debug, Default)]
pub struct Sorted {
    /// The runs, none of them empty.
    runs: Vec<Vec<f64>>,
    count: usize,
}

impl Sorted {
    /// Adds a number, after those that are equal to it.
    pub fn insert(&mut self, value: f64) {
        let after = self.runs.partition_point(|run| run[0] <= value);
        let index = after.saturating_sub(1);
        if self.runs.is_empty() {
            self.runs.push(Vec::new());
        }
        let run = &mut self.runs[index];
        let at = run.partition_point(|other| *other <= value);
        reserve_one(run);
        run.insert(at, value);
        if run.len() == RUN {
            let upper = run.split_off(RUN / 2);
            self.runs.insert(index + 1, upper);
        }
        self.count += 1;
    }

    /// Returns how many numbers there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the number with this many before it; `None` if there are no more than these.
    pub fn get(&self, rank: usize) -> Option<f64> {
        let from_end = self.count.checked_sub(rank + 1)?;
        if from_end < rank {
            let (run, left) = locate(self.runs.iter().rev(), from_end)?;
            return run.get(run.len() - 1 - left).copied();
        }
        let (run, left) = locate(self.runs.iter(), rank)?;
        run.get(left).copied()
    }

    /// Returns the median, the mean of the two in the middle if their number is even; `None` if
    /// there are no numbers or it is not finite.
    pub fn median(&self) -> Option<f64> {
        let middle = self.get(self.count / 2)?;
        let is_odd = self.count % 2 == 1;
        let median = if is_odd { middle } else { (self.get(self.count / 2 - 1)? + middle) / 2.0 };
        median.is_finite().then_some(median)
    }
}

/// Returns the run in which the number with `left` before it lies, and how many of these are in it.
fn locate<'a>(
    runs: impl Iterator<Item = &'a Vec<f64>>,
    mut left: usize,
) -> Option<(&'a Vec<f64>, usize)> {
    for run in runs {
        if left < run.len() {
            return Some((run, left));
        }
        left -= run.len();
    }
    None
}

/// Makes room for one more in a list that grows by an eighth: a run may continue for millions of
/// rounds.
pub(crate) fn reserve_one<T>(list: &mut Vec<T>) {
    if list.len() == list.capacity() {
        list.reserve_exact(list.len() / 8 + 16);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(values: impl Iterator<Item = f64>) {
        let (mut sorted, mut plain) = (Sorted::default(), Vec::new());
        for value in values {
            sorted.insert(value);
            plain.push(value);
        }
        plain.sort_by(f64::total_cmp);
        assert_eq!(sorted.count(), plain.len());
        let ranks: Vec<f64> = (0..plain.len()).map(|rank| sorted.get(rank).unwrap()).collect();
        assert_eq!(ranks, plain);
        assert_eq!(sorted.get(plain.len()), None);
        let middle = [(plain.len() - 1) / 2, plain.len() / 2].map(|rank| plain[rank]);
        assert_eq!(sorted.median(), Some((middle[0] + middle[1]) / 2.0));
    }

    #[test]
    fn ranks_are_those_of_a_sorted_list() {
        for count in [1, 2, 1023, 1024, 1025, 10_000] {
            check((0..count).map(f64::from));
            check((0..count).map(|i| -f64::from(i)));
            check((0..count).map(|i| f64::from((i * 7919) % 10_007)));
            check((0..count).map(|i| f64::from(i % 3)));
        }
    }

    #[test]
    fn there_is_nothing_in_nothing_and_no_infinite_median() {
        assert_eq!((Sorted::default().get(0), Sorted::default().median()), (None, None));
        let mut sorted = Sorted::default();
        [1.0, f64::INFINITY, f64::INFINITY].iter().for_each(|value| sorted.insert(*value));
        assert_eq!(sorted.median(), None);
    }
}
