//! From two limits to a verdict: the only place where a claim is settled (rule A2).

use crate::limits::{LIMIT_WIDTH, Limits};
use tiebreak_core::claim::Relation;
use tiebreak_core::evidence::Evidence;
use tiebreak_core::verdict::Verdict;

/// The values that the limits must pass for a claim to be settled, in natural logarithms of right /
/// left.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bars {
    relation: Relation,
    /// The bar of a one-sided claim or question; for `within`, its upper edge.
    bar: f64,
    /// The resolution.
    delta: f64,
}

/// A settled claim.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settled {
    /// The verdict: never `undecided` or `void`.
    pub verdict: Verdict,
    /// For a question that holds: whether the left contestant needs less.
    pub left_wins: Option<bool>,
}

/// The proof about the log ratio, including its limits.
#[derive(Clone, Copy, Debug)]
pub struct Proof {
    limits: Limits,
    /// For M3r, the median, which must lie on the same side of a bar as the limit (rule A1).
    median: Option<f64>,
    asks_the_median: bool,
}

impl Settled {
    /// Returns a verdict that names no winner.
    pub(crate) fn by(verdict: Verdict) -> Settled {
        Settled { verdict, left_wins: None }
    }
}

/// The distance beyond a bar at which the bets of every round stand, so that limits that are then
/// computed lie strictly beyond the bar.
pub(crate) const NUDGE: f64 = 2.0 * LIMIT_WIDTH;

/// The logarithm of a wealth that has grown: smaller ones do not show where they go.
const GROWN_MIN: f64 = 0.5;

/// Bets on both sides of the bars of a claim about a ratio. Bets that the log ratio is below a bar
/// are bets on mirrored rounds, against the mirrored bar.
#[derive(Clone, Debug)]
pub(crate) struct BarBets<B> {
    /// Bets that it is above each bar that the lower limit may have to pass.
    pub above: Vec<B>,
    /// Bets that it is below each bar of the upper limit.
    pub below: Vec<B>,
    has_two_edges: bool,
}

impl<B> BarBets<B> {
    /// Makes the bets, each a nudge beyond its bar, from the bound of their hypothesis.
    pub fn new(bars: &Bars, nudge: f64, bet: impl Fn(f64) -> B) -> BarBets<B> {
        let (low, high) = bars.passed_by();
        BarBets {
            above: low.iter().map(|bar| bet(bar + nudge)).collect(),
            below: high.iter().map(|bar| bet(nudge - bar)).collect(),
            has_two_edges: matches!(bars.relation, Relation::Within { .. }),
        }
    }

    /// Returns the same bets at the bar itself alone; for `within`, at both edges.
    pub fn at_the_bar(mut self) -> BarBets<B> {
        let edges = if self.has_two_edges { 2 } else { 1 };
        self.above.truncate(edges);
        self.below.truncate(edges);
        self
    }

    /// Returns the wealth of the bets at the bar: for the claim, and against it. `within` is proven
    /// by the weaker of its two bets and refuted by the stronger of theirs.
    pub fn evidence(&self, wealth: impl Fn(&B) -> f64) -> (f64, f64) {
        let at_edge = |edge: usize| (wealth(&self.above[edge]), wealth(&self.below[edge]));
        if !self.has_two_edges {
            return at_edge(0);
        }
        let ((above_lower, below_upper), (above_upper, below_lower)) = (at_edge(0), at_edge(1));
        (above_lower.min(below_upper), above_upper.max(below_lower))
    }

    /// Returns the limits as indicated by the bets that have won enough, for which `won` returns
    /// the bound of their hypothesis: each limit on the indicated side of the furthest such bar.
    pub fn believed(&self, won: impl Fn(&B) -> Option<f64>) -> Limits {
        let [low, high] =
            [&self.above, &self.below].map(|bets| bets.iter().filter_map(&won).reduce(f64::max));
        Limits { low, high: high.map(|bar| 0.0 - bar) }
    }
}

/// A test of one claim, from its first observation to its verdict.
pub trait SequentialTest {
    /// Returns what every test keeps.
    fn course(&self) -> &Course;

    /// Returns what every test keeps, for a change.
    fn course_mut(&mut self) -> &mut Course;

    /// Returns the number of rounds, runs, trials or values in the evidence, including those of an
    /// unfinished block, without lost attempts.
    fn rounds(&self) -> u64;

    /// Returns the wealth of the bets: for the claim, and against it. Infinite on overflow.
    fn evidence(&self) -> (f64, f64);

    /// Returns both limits, each wrong with probability at most [`SequentialTest::error_a_side`] at
    /// every moment. For a ratio, it costs some tens of passes over the rounds.
    fn limits(&self) -> Limits;

    /// Returns the log ratio, share or mean so far, as described at [`Evidence::estimate`].
    fn estimate(&self) -> Option<f64>;

    /// Returns what the present evidence settles if this is the claim's share of the error.
    fn settled_at(&self, error: f64) -> Option<Settled>;

    /// Counts an attempt that was cut off, unless the claim is settled.
    fn lose_attempt(&mut self);

    /// Returns the part of the error that one limit may use.
    fn error_a_side(&self) -> f64 {
        self.error()
    }

    /// Returns whether attempts that were cut off are charged.
    fn is_charged(&self) -> bool {
        self.course().lost > 0
    }

    /// Returns whether the limits cross. Under a constant factor they never do, except for the
    /// error.
    fn limits_cross(&self) -> bool {
        false
    }

    /// Returns the claim's share of the error: at which it is or was settled.
    fn error(&self) -> f64 {
        self.course().error
    }

    /// Returns the verdict, once there is one.
    fn settled(&self) -> Option<Settled> {
        self.course().settled
    }

    /// Settles the claim at another error if the present evidence suffices for that. From then on,
    /// the limits and the wealth needed are for that error too.
    fn relax(&mut self, error: f64) -> Option<Settled> {
        if self.settled().is_none()
            && let Some(settled) = self.settled_at(error)
        {
            let course = self.course_mut();
            (course.settled, course.error) = (Some(settled), error);
        }
        self.settled()
    }

    /// Returns the wealth that the bets of one side need.
    fn evidence_needed(&self) -> f64 {
        1.0 / self.error_a_side()
    }

    /// Returns how many more rounds the claim is expected to need, at least 1: as many as its bets
    /// need if their wealth goes on growing as it did so far. Where it has not grown, or suffices
    /// and settles nothing, as many again as there were. An estimate from the past, no promise.
    fn rounds_left(&self) -> f64 {
        self.rounds_left_by_wealth()
    }

    /// Returns [`SequentialTest::rounds_left`] from the wealth of the bets alone.
    fn rounds_left_by_wealth(&self) -> f64 {
        let (evidence_for, evidence_against) = self.evidence();
        let grown = libm::log(evidence_for.max(evidence_against));
        let needed = libm::log(self.evidence_needed());
        let is_on_its_way = grown > GROWN_MIN && grown < needed;
        let left = if is_on_its_way { needed / grown - 1.0 } else { 1.0 };
        (self.rounds() as f64 * left).max(1.0)
    }

    /// Returns the evidence now. Costs as much as both limits.
    fn summary(&self) -> Evidence {
        let Limits { low, high } = self.limits();
        let (evidence_for, evidence_against) = self.evidence();
        Evidence {
            rounds: self.rounds(),
            lost: self.course().lost,
            estimate: self.estimate(),
            low,
            high,
            confidence: 1.0 - 2.0 * self.error_a_side(),
            evidence_for,
            evidence_against,
            evidence_needed: self.evidence_needed(),
        }
    }
}

/// Returns how far apart the limits of a log ratio with this precision may be.
pub fn width_of(precision: f64) -> f64 {
    2.0 * libm::log1p(precision)
}

/// What every [`SequentialTest`] keeps.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The claim's share of the error.
    pub error: f64,
    /// The number of attempts that were cut off.
    pub lost: u64,
    /// The verdict, once there is one.
    pub settled: Option<Settled>,
}

impl Course {
    /// Starts with this share of the error.
    pub(crate) fn new(error: f64) -> Course {
        Course { error, lost: 0, settled: None }
    }
}

impl Proof {
    /// Returns what the limits prove; `asks_the_median` for the engine that must agree with the
    /// median.
    pub fn new(limits: Limits, median: Option<f64>, asks_the_median: bool) -> Proof {
        Proof { limits, median: median.filter(|_| asks_the_median), asks_the_median }
    }

    /// Returns whether the two limits are in order; if they cross, the effect is not a constant
    /// factor.
    pub fn is_sound(&self) -> bool {
        self.limits.low.zip(self.limits.high).is_none_or(|(low, high)| low < high)
    }

    /// Returns whether the median lies between the limits, where the engine must agree with it.
    fn median_is_within(&self) -> bool {
        let Limits { low, high } = self.limits;
        self.median.is_none_or(|median| {
            low.is_none_or(|low| low < median) && high.is_none_or(|high| median < high)
        })
    }

    fn above(&self, bar: f64) -> bool {
        let agrees = self.median.is_none_or(|median| median > bar);
        agrees && self.limits.low.is_some_and(|low| low > bar)
    }

    fn below(&self, bar: f64) -> bool {
        let agrees = self.median.is_none_or(|median| median < bar);
        agrees && self.limits.high.is_some_and(|high| high < bar)
    }

    fn between(&self, low: f64, high: f64) -> bool {
        self.above(low) && self.below(high)
    }
}

impl Bars {
    /// Returns the bars of a relation; `resolution` is a fraction, 0 for none.
    pub fn new(relation: Relation, resolution: f64) -> Bars {
        let bar = match relation {
            Relation::Order | Relation::Measure { .. } => 0.0,
            Relation::AtLeast { factor } => libm::log(factor),
            Relation::NoMoreThan { fraction } => -libm::log1p(fraction),
            Relation::Within { fraction } => libm::log1p(fraction),
        };
        Bars { relation, bar, delta: libm::log1p(resolution) }
    }

    /// Returns the share of a claim's error that one limit may use: half of it where both limits
    /// can give a false verdict at the same truth, all of it for a one-sided claim.
    pub fn error_a_side(&self, error: f64) -> f64 {
        match self.relation {
            Relation::Order | Relation::Measure { .. } | Relation::Within { .. } => error / 2.0,
            Relation::AtLeast { .. } | Relation::NoMoreThan { .. } => error,
        }
    }

    /// Returns the bars that the lower limit must pass in some verdict, and those of the upper
    /// limit: the bar itself first, or for `within` its two edges.
    pub fn passed_by(&self) -> (Vec<f64>, Vec<f64>) {
        let (b, delta) = (self.bar, self.delta);
        match self.relation {
            Relation::Within { .. } => {
                (vec![-b, b, b - delta, -b - delta], vec![b, -b, b + delta, delta - b])
            }
            _ => (vec![b, b - delta], vec![b, b + delta]),
        }
    }

    /// Returns the most that the limits may lie apart if the question is how large the ratio is, so
    /// that no bar decides when to compute limits.
    pub fn width_wanted(&self) -> Option<f64> {
        match self.relation {
            Relation::Measure { precision } => Some(width_of(precision)),
            _ => None,
        }
    }

    /// Returns whether the question is how large the ratio is.
    pub fn asks_for_width(&self) -> bool {
        self.width_wanted().is_some()
    }

    /// Returns the number of rounds at which limits are computed again if the question is how large
    /// the ratio is: they hardly change in a twentieth of the rounds, and they are the main cost.
    pub fn next_look(rounds: u64) -> u64 {
        rounds + 1 + rounds / 20
    }

    /// Settles the claim, or leaves it open.
    pub fn settle(&self, proof: &Proof) -> Option<Settled> {
        if proof.asks_the_median && !proof.is_sound() {
            return None;
        }
        let (b, delta) = (self.bar, self.delta);
        let is_close = |low: f64, high: f64| delta > 0.0 && proof.between(low, high);
        Some(Settled::by(match self.relation {
            Relation::Measure { .. } => {
                let width = proof.limits.width().zip(self.width_wanted());
                let is_narrow = width.is_some_and(|(actual, wanted)| actual <= wanted);
                return (is_narrow && proof.median_is_within())
                    .then(|| Settled::by(Verdict::Holds));
            }
            Relation::Order if proof.above(b) || proof.below(b) => {
                let left_wins = Some(proof.above(b));
                return Some(Settled { verdict: Verdict::Holds, left_wins });
            }
            Relation::Within { .. } if proof.between(-b, b) => Verdict::Holds,
            Relation::Within { .. } if proof.above(b) || proof.below(-b) => Verdict::Refuted,
            Relation::Within { .. } if is_close(-b - delta, delta - b) => Verdict::TooClose,
            Relation::AtLeast { .. } | Relation::NoMoreThan { .. } if proof.above(b) => {
                Verdict::Holds
            }
            Relation::AtLeast { .. } | Relation::NoMoreThan { .. } if proof.below(b) => {
                Verdict::Refuted
            }
            _ if is_close(b - delta, b + delta) => Verdict::TooClose,
            _ => return None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(relation: Relation, low: f64, high: f64, expected: Option<Verdict>) {
        let bars = Bars::new(relation, 0.01);
        fn some(x: f64) -> Option<f64> {
            x.is_finite().then_some(x)
        }
        let limits = Limits { low: some(low), high: some(high) };
        let proof = Proof::new(limits, None, true);
        assert_eq!(bars.settle(&proof).map(|s| s.verdict), expected, "{relation:?} {limits:?}");
    }

    #[test]
    fn verdicts_are_read_off_the_limits() {
        use Verdict::*;
        const INF: f64 = f64::INFINITY;
        let order = Relation::Order;
        check(order, 0.001, INF, Some(Holds));
        check(order, -INF, -0.001, Some(Holds));
        check(order, 0.0, 0.02, None);
        check(order, -0.009, 0.009, Some(TooClose));
        check(order, -0.011, 0.009, None);
        let at_least = Relation::AtLeast { factor: 1.5 };
        check(at_least, 0.41, 0.5, Some(Holds));
        check(at_least, 0.3, 0.4, Some(Refuted));
        check(at_least, 0.400, 0.410, Some(TooClose));
        check(at_least, 0.390, 0.410, None);
        let gate = Relation::NoMoreThan { fraction: 0.02 };
        check(gate, -0.019, INF, Some(Holds));
        check(gate, -INF, -0.02, Some(Refuted));
        check(gate, -0.021, -0.018, Some(TooClose));
        let within = Relation::Within { fraction: 0.02 };
        check(within, -0.019, 0.019, Some(Holds));
        check(within, 0.0199, INF, Some(Refuted));
        check(within, -INF, -0.0199, Some(Refuted));
        check(within, 0.015, 0.025, Some(TooClose));
        check(within, -0.025, -0.015, Some(TooClose));
        check(within, -0.025, 0.015, None);
        let measure = Relation::Measure { precision: 0.05 };
        check(measure, 1.0, 1.097, Some(Holds));
        check(measure, 1.0, 1.098, None);
        check(measure, 1.0, INF, None);
        check(measure, 1.0, 0.9, None);
    }

    #[test]
    fn limits_that_cross_or_a_median_beyond_the_bar_settle_nothing() {
        let bars = Bars::new(Relation::Order, 0.01);
        let limits = Limits { low: Some(0.02), high: Some(0.01) };
        assert_eq!(bars.settle(&Proof::new(limits, None, true)), None);
        assert!(bars.settle(&Proof::new(limits, None, false)).is_some());
        let limits = Limits { low: Some(0.02), high: None };
        assert_eq!(bars.settle(&Proof::new(limits, Some(-0.1), true)), None);
        assert!(bars.settle(&Proof::new(limits, Some(0.03), true)).is_some());
        let bars = Bars::new(Relation::Measure { precision: 0.05 }, 0.01);
        let limits = Limits { low: Some(0.02), high: Some(0.03) };
        assert_eq!(bars.settle(&Proof::new(limits, Some(0.05), true)), None);
        assert!(bars.settle(&Proof::new(limits, Some(0.05), false)).is_some());
        assert!(bars.settle(&Proof::new(limits, Some(0.025), true)).is_some());
    }
}
