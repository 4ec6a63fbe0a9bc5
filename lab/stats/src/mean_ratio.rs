//! The ratio of two means, by bounded bets on differences.
//!
//! The claim is about `r = E[b] / E[a]`, the mean of the right contestant over that of the left
//! one, values above a cap counting as the cap. A bettor against "`E[b]` is at most `r E[a]`" puts
//! the share `s` of its wealth on `v = ((cap - a) + b / r) / cap`, which is never below 0 and is
//! expected to be at most 1, whatever happened before: it multiplies its wealth by `1 + s (b / r -
//! a) / cap`. That needs no symmetry, and no mean to stay what it is as long as in each round the
//! one is at most `r` times the other, given the rounds before (Waudby-Smith and Ramdas 2024). The
//! wealth falls with `r`, so the limits are found by bisection. Without a cap on `a` one run in a
//! million might outweigh all others (Bahadur and Savage 1956), and nothing could be proven.

use crate::decide::{Bars, Proof, Settled};
use crate::limits::{LIMIT_WIDTH, Limits};
use crate::mean_test::stakes::Stakes;
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::sample::Reading;

/// Where a rejected ratio is looked for first, as distances from the one that was seen.
const STARTS: [f64; 7] = [0.01, 0.0625, 0.25, 1.0, 4.0, 16.0, 64.0];

/// Bets on the two values of each round, left and right, as shares of the cap.
#[derive(Clone, Debug, Default)]
pub struct MeanRatioBets {
    /// What counts for a higher ratio: the least `b` and the greatest `a`.
    least: Vec<(f64, f64)>,
    /// What counts for a lower one.
    most: Vec<(f64, f64)>,
    sums: (f64, f64),
}

impl MeanRatioBets {
    /// The two values of a round, in units of the cap, each known to lie between two bounds.
    pub fn push(&mut self, left: Reading, right: Reading, cap: f64) {
        let within = |value: f64| (value / cap).clamp(0.0, 1.0);
        let [a, b] = [left, right].map(|r| (within(r.low), within(r.high)));
        self.least.push((a.1, b.0));
        self.most.push((a.0, b.1));
        self.sums.0 += (a.0 + a.1) / 2.0;
        self.sums.1 += (b.0 + b.1) / 2.0;
    }

    /// An attempt that was cut off: both sides lose as much as they can.
    pub fn lose_attempt(&mut self) {
        self.least.push((1.0, 0.0));
        self.most.push((0.0, 1.0));
    }

    /// The logarithm of the ratio of the means that were seen.
    pub fn estimate(&self) -> Option<f64> {
        let ratio = self.sums.1 / self.sums.0;
        (ratio > 0.0 && ratio.is_finite()).then(|| libm::log(ratio))
    }

    /// The limits of the logarithm of the ratio, each wrong with probability at most `error`. Costs
    /// some hundred passes over the rounds.
    pub fn limits(&self, error: f64) -> Limits {
        let Some(estimate) = self.estimate() else { return Limits { low: None, high: None } };
        let needed = -libm::log(error);
        let low = |theta: f64| log_won(&self.least, theta) >= needed;
        let mirrored: Vec<(f64, f64)> = self.most.iter().map(|(a, b)| (*b, *a)).collect();
        let high = |theta: f64| log_won(&mirrored, theta) >= needed;
        Limits {
            low: furthest(estimate, low),
            high: furthest(-estimate, high).map(|limit| 0.0 - limit),
        }
    }
}

/// One round's value of the bets that the ratio is above the one whose inverse is given; expected
/// to be at most 1 if it is not.
fn value((a, b): (f64, f64), inverse: f64) -> f64 {
    (1.0 - a) + b * inverse
}

/// The logarithm of what bets that the log ratio is above `theta` have won.
fn log_won(rounds: &[(f64, f64)], theta: f64) -> f64 {
    let mut wealth = Stakes::default();
    let inverse = libm::exp(-theta);
    rounds.iter().for_each(|round| wealth.bet(value(*round, inverse)));
    wealth.log_total()
}

/// The largest `theta` below `estimate`, to within [`LIMIT_WIDTH`] below, that is rejected.
fn furthest(estimate: f64, is_rejected: impl Fn(f64) -> bool) -> Option<f64> {
    let starts = STARTS.into_iter().map(|distance| estimate - distance);
    let mut rejected = starts.into_iter().find(|theta| is_rejected(*theta))?;
    let mut open = estimate;
    while open - rejected > LIMIT_WIDTH {
        let middle = rejected + (open - rejected) / 2.0;
        if middle <= rejected || middle >= open {
            break;
        }
        *(if is_rejected(middle) { &mut rejected } else { &mut open }) = middle;
    }
    Some(rejected)
}

/// One claim about the ratio of two means from its first round to its verdict.
#[derive(Clone, Debug)]
pub struct MeanRatioTest {
    bars: Bars,
    error: f64,
    cap: f64,
    bets: MeanRatioBets,
    /// The bets that are shown, for the claim's bar from above and from below; of `within` those
    /// at both edges.
    edges: Vec<(f64, Stakes, Stakes)>,
    rounds: u64,
    lost: u64,
    next_look: u64,
    settled: Option<Settled>,
}

impl MeanRatioTest {
    /// A claim of this form with its share of the error, at this resolution; values above `cap`,
    /// which is above 0, count as the cap.
    pub fn new(relation: Relation, error: f64, resolution: f64, cap: f64) -> MeanRatioTest {
        let bars = Bars::new(relation, resolution);
        let edges = match relation {
            Relation::Within { .. } => vec![bars.bar(), -bars.bar()],
            _ => vec![bars.bar()],
        };
        let stakes = |bar| (bar, Stakes::default(), Stakes::default());
        MeanRatioTest {
            bars,
            error,
            cap,
            bets: MeanRatioBets::default(),
            edges: edges.into_iter().map(stakes).collect(),
            rounds: 0,
            lost: 0,
            next_look: 0,
            settled: None,
        }
    }

    /// Takes a round into the evidence. The limits are looked at after each twentieth more rounds,
    /// which takes nothing from the error. Rounds after the verdict are not evidence.
    pub fn observe(&mut self, left: Reading, right: Reading) -> Option<Settled> {
        if self.settled.is_none() {
            self.rounds += 1;
            self.bets.push(left, right, self.cap);
            self.bet();
            if self.rounds >= self.next_look {
                self.next_look = self.rounds + 1 + self.rounds / 20;
                self.settled = self.settled_at(self.error);
            }
        }
        self.settled
    }

    /// Counts an attempt that was cut off: both sides lose on it.
    pub fn lose_attempt(&mut self) {
        if self.settled.is_none() {
            self.lost += 1;
            self.bets.lose_attempt();
            self.bet();
        }
    }

    /// The bets that are shown, on the last round.
    fn bet(&mut self) {
        if let Some((least, most)) = self.bets.least.last().zip(self.bets.most.last()) {
            for (bar, above, below) in &mut self.edges {
                above.bet(value(*least, libm::exp(-*bar)));
                below.bet(value((most.1, most.0), libm::exp(*bar)));
            }
        }
    }

    /// The verdict, once there is one.
    pub fn settled(&self) -> Option<Settled> {
        self.settled
    }

    /// What the evidence as it is now settles at this error.
    pub fn settled_at(&self, error: f64) -> Option<Settled> {
        let limits = self.bets.limits(self.bars.error_a_side(error));
        self.bars.settle(&Proof::new(limits, None, false))
    }

    /// Settles the claim at another error if the evidence as it is now suffices for that.
    pub fn relax(&mut self, error: f64) -> Option<Settled> {
        if self.settled.is_none()
            && let Some(settled) = self.settled_at(error)
        {
            self.settled = Some(settled);
            self.error = error;
        }
        self.settled
    }

    /// The claim's share of the error.
    pub fn error(&self) -> f64 {
        self.error
    }

    /// Rounds in the evidence.
    pub fn rounds(&self) -> u64 {
        self.rounds
    }

    /// Both limits of the logarithm of the ratio.
    pub fn limits(&self) -> Limits {
        self.bets.limits(self.bars.error_a_side(self.error))
    }

    /// What the bets of one side must win.
    pub fn evidence_needed(&self) -> f64 {
        1.0 / self.bars.error_a_side(self.error)
    }

    /// What the bets at the bar have won: for the claim, and against it. `within` is proven by the
    /// weaker of its two bets and refuted by the stronger of theirs.
    pub fn evidence(&self) -> (f64, f64) {
        let won = |stakes: &Stakes| libm::exp(stakes.log_total());
        match &self.edges[..] {
            [(_, above, below)] => (won(above), won(below)),
            [upper, lower, ..] => {
                (won(&lower.1).min(won(&upper.2)), won(&upper.1).max(won(&lower.2)))
            }
            [] => (1.0, 1.0),
        }
    }

    /// Everything that is known about the ratio now, as natural logarithms.
    pub fn summary(&self) -> Evidence {
        let limits = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.rounds,
            lost: self.lost,
            estimate: self.bets.estimate(),
            low: limits.low,
            high: limits.high,
            confidence: 1.0 - 2.0 * self.bars.error_a_side(self.error),
            evidence_for,
            evidence_against,
            evidence_needed: self.evidence_needed(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tiebreak_core::verdict::Verdict;

    /// What becomes of a question after at most so many rounds of these values.
    fn ask(rounds: usize, cap: f64, values: impl Fn(usize) -> (f64, f64)) -> MeanRatioTest {
        let mut test = MeanRatioTest::new(Relation::Order, 0.01, 0.05, cap);
        for i in 0..rounds {
            let (a, b) = values(i);
            if test.observe(Reading::exact(a), Reading::exact(b)).is_some() {
                break;
            }
        }
        test
    }

    #[test]
    fn the_slow_tenth_counts_in_the_mean() {
        let values = |i: usize| (if i % 10 == 3 { 6.0 } else { 2.0 }, 2.0);
        let test = ask(3000, 10.0, values);
        let settled = test.settled().expect("the mean of A is 20% above that of B");
        assert_eq!((settled.verdict, settled.left_wins), (Verdict::Holds, Some(false)));
        let limits = test.limits();
        assert!(limits.high.is_some_and(|high| high < 0.0), "{limits:?}");
        let swapped = ask(3000, 10.0, |i| (values(i).1, values(i).0));
        assert_eq!(swapped.limits().low, limits.high.map(|high| -high));
        assert_eq!(swapped.rounds(), test.rounds());
    }

    #[test]
    fn limits_lie_on_either_side_of_what_was_seen_and_equals_are_too_close() {
        let test = ask(20_000, 10.0, |i| ([3.0, 1.0][i % 2], [1.0, 3.0][i / 2 % 2]));
        assert_eq!(test.settled().map(|settled| settled.verdict), Some(Verdict::TooClose));
        let evidence = test.summary();
        assert!(evidence.low < evidence.estimate && evidence.estimate < evidence.high);
        assert!(evidence.evidence_for < 200.0 && evidence.evidence_against < 200.0);
    }

    #[test]
    fn what_timed_out_counts_as_the_cap_and_lost_attempts_cost() {
        let mut test = MeanRatioTest::new(Relation::Order, 0.01, 0.0, 10.0);
        let at_least = Reading { low: 10.0, high: f64::INFINITY };
        test.observe(at_least, Reading::exact(5.0));
        assert_eq!(test.summary().estimate, Some(libm::log(0.5)));
        let before = test.evidence();
        test.lose_attempt();
        let after = test.evidence();
        assert!(after.0 < before.0 && after.1 < before.1, "{before:?} {after:?}");
        assert_eq!(test.summary().lost, 1);
    }
}
