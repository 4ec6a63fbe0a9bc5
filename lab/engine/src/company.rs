//! The contestants of coming rounds: all that an open claim needs or, for functions, one pair at a
//! time.

use std::collections::BTreeMap;

/// How many rounds each pair of contestants has had, by their indices, the lower first, and the
/// nanoseconds that these took.
#[derive(Clone, Debug, Default)]
pub struct RoundsByPair(BTreeMap<Vec<usize>, (u64, u64)>);

impl RoundsByPair {
    /// Counts a round of these contestants, in any order.
    pub fn take(&mut self, order: &[usize], took_ns: u64) {
        let (rounds, all_ns) = self.0.entry(sorted(order.iter().copied())).or_default();
        (*rounds, *all_ns) = (*rounds + 1, all_ns.saturating_add(took_ns));
    }

    /// Returns the most rounds that any pair has had.
    pub fn most(&self) -> u64 {
        self.0.values().map(|(rounds, _)| *rounds).max().unwrap_or(0)
    }

    /// Returns the rounds of a company.
    pub fn of(&self, company: &[usize]) -> u64 {
        self.0.get(company).map_or(0, |(rounds, _)| *rounds)
    }

    /// Returns the mean nanoseconds of a company's rounds; `None` before the first.
    pub fn mean_ns(&self, company: &[usize]) -> Option<f64> {
        self.0.get(company).map(|(rounds, all_ns)| *all_ns as f64 / *rounds as f64)
    }

    /// Returns the turns of these pairs, given in the order of the plan. Next is always the pair
    /// with the fewest rounds, the first of several.
    pub fn turns(&self, open: impl Iterator<Item = Vec<usize>>) -> Turns {
        let mut turns = Turns(Vec::new());
        for company in open {
            if !turns.0.iter().any(|(other, _)| *other == company) {
                let had = self.of(&company);
                turns.0.push((company, had));
            }
        }
        turns
    }
}

/// The companies (sets of contestants) of coming rounds, as long as no claim is settled and no
/// contestant fails: each with the number of its earlier rounds.
#[derive(Clone, Debug)]
pub struct Turns(Vec<(Vec<usize>, u64)>);

impl Turns {
    /// Returns the turns of one company, which has had this many rounds: each turn is its own.
    pub fn of_one(company: Vec<usize>, had: u64) -> Turns {
        let is_there = !company.is_empty();
        Turns(is_there.then_some((company, had)).into_iter().collect())
    }
}

impl Iterator for Turns {
    type Item = (Vec<usize>, u64);

    fn next(&mut self) -> Option<Self::Item> {
        let (company, had) = self.0.iter_mut().min_by_key(|(_, had)| *had)?;
        *had += 1;
        Some((company.clone(), *had - 1))
    }
}

/// Returns contestants in the order of the plan, each once.
pub fn sorted(contestants: impl Iterator<Item = usize>) -> Vec<usize> {
    let mut sorted: Vec<usize> = contestants.collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pair_that_has_had_the_fewest_rounds_is_next() {
        let mut had = RoundsByPair::default();
        [[1, 0], [0, 1], [2, 0]].iter().zip([5, 8, 3]).for_each(|(order, ns)| had.take(order, ns));
        let check = |open: &[[usize; 2]], expected: &[([usize; 2], u64)]| {
            let turns = had.turns(open.iter().map(|pair| pair.to_vec()));
            let expected = expected.iter().map(|(pair, had)| (pair.to_vec(), *had));
            assert!(turns.clone().take(expected.len()).eq(expected), "{turns:?}");
        };
        let (one, two, three) = ([0, 1], [0, 2], [0, 3]);
        check(&[one, two, one], &[(two, 1), (one, 2), (two, 2), (one, 3), (two, 3)]);
        check(&[three, one], &[(three, 0), (three, 1), (three, 2), (one, 2)]);
        check(&[], &[]);
        assert_eq!((had.most(), had.of(&one), had.of(&three)), (2, 2, 0));
        assert_eq!((had.mean_ns(&one), had.mean_ns(&three)), (Some(6.5), None));
        assert_eq!(Turns::of_one(vec![0, 1, 2], 7).nth(1), Some((vec![0, 1, 2], 8)));
        assert_eq!(Turns::of_one(Vec::new(), 7).next(), None);
    }
}
