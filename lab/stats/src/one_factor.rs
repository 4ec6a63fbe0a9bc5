//! A test of whether two contestants differ by one factor at all.
//!
//! The hypothesis is that there is one factor: that for some `theta`, each round's `d - theta` is
//! as likely to be `y` as `-y`, given the rounds before it. It implies that the sign of `d - theta`
//! is a fair coin whatever its size, and the test uses nothing else. There is a bettor for each of
//! six sizes. It looks only at rounds that lie at least that many scales (of the rounds before)
//! from `theta`, and predicts their signs from those that it has seen (Krichevsky and Trofimov
//! 1981): after `u` rounds above and `v` below, it has `2^(u+v) B(u + 1/2, v + 1/2) / B(1/2, 1/2)`
//! times its stake. The mean of the six is a martingale under each `theta`, so by Ville's
//! inequality the probability that it ever reaches `1/e` under the true one is at most `e`. There
//! is no factor, at the error `e`, if the mean has reached `1/e` under *every* `theta`. The bettor
//! of all sizes rejects the far ones, and those of the tails reject the near ones, if the tails lie
//! on one side.
//!
//! A ratio may be an interval, as where a run was ended at the time-out; its sign or size may then
//! be open. Such a round goes to the side where it makes the bettor poorest, so the evidence is
//! never more than with the true values. A round whose bounds lie far on one side counts on that
//! side. For an attempt that was cut off, everything is open.
//!
//! As a function of `theta`, the mean only changes where `theta` passes a bound or comes within one
//! of the six distances of it. So sorting finds its least value over all real numbers exactly.

use crate::limits::History;
use crate::observation::{LogRatio, factor};

/// The probability that one factor is denied where there is one.
pub const ERROR: f64 = 0.01;

/// The distance from the centre, in scales of the rounds before, from which a round counts for each
/// bettor.
const TAILS: [f64; 6] = [0.0, 0.5, 1.0, 2.0, 4.0, 8.0];

/// The evidence of the rounds about one factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OneFactor {
    /// The wealth of the bets against every factor, at the factor where it is least.
    pub evidence: f64,
    /// The number of rounds examined: those in which bets were made.
    pub rounds: u64,
    /// The number of them far from the median on the side with more of them; "far" is the distance
    /// that separates the sides best.
    pub far: u64,
    /// Whether these lie below the median: the left contestant took long in them, or the right one
    /// took little time.
    pub is_below: bool,
    /// The number of them far from it on the other side.
    pub far_opposite: u64,
    /// The ratio of the middle one of them to the median ratio, or its inverse: above 1.
    pub times: f64,
    /// Whether a run that was cut off stands there, so that `times` is a lower bound.
    pub is_least: bool,
}

impl OneFactor {
    /// Returns whether there is no such factor, at [`ERROR`].
    pub fn is_denied(&self) -> bool {
        self.evidence >= 1.0 / ERROR
    }
}

/// Tests one factor on the rounds of a comparison, with `lost` attempts that were cut off. Returns
/// `None` without rounds. Costs a sort of eleven numbers per round.
pub fn look(history: &History, lost: u64) -> Option<OneFactor> {
    let rounds: Vec<Round> = history.scaled().map(|(d, scale)| Round { d, scale }).collect();
    let logs = Logs::new(rounds.len() + lost as usize);
    let mut sorted: Vec<f64> = rounds.iter().map(Round::place).collect();
    sorted.sort_by(f64::total_cmp);
    let median = *sorted.get(sorted.len() / 2)?;
    // The description measures all rounds by the scale known at the end.
    let scale = rounds.last()?.scale;
    let found = (1..TAILS.len()).map(|tail| {
        let far = rounds.iter().copied();
        let far = far.filter(|round| (round.place() - median).abs() >= TAILS[tail] * scale);
        let (below, above): (Vec<Round>, Vec<Round>) =
            far.partition(|round| round.place() < median);
        (logs.won(below.len(), above.len()), below, above)
    });
    let (_, below, above) = found.reduce(|a, b| if b.0 > a.0 { b } else { a })?;
    let is_below = below.len() > above.len();
    let (mut far, opposite) = if is_below { (below, above) } else { (above, below) };
    far.sort_by(|a, b| a.place().total_cmp(&b.place()));
    let middle = far.get(far.len() / 2);
    Some(OneFactor {
        evidence: least_evidence(&rounds, lost as usize, &logs),
        rounds: rounds.len() as u64,
        far: far.len() as u64,
        is_below,
        far_opposite: opposite.len() as u64,
        times: middle.map_or(1.0, |round| factor((round.place() - median).abs())),
        is_least: middle.is_some_and(|round| !(round.d.high - round.d.low).is_finite()),
    })
}

#[derive(Clone, Copy)]
struct Round {
    d: LogRatio,
    /// The scale, `NAN` while there was none: then only the bettor of all sizes bets.
    scale: f64,
}

impl Round {
    /// Returns the place of the round: the middle of its bounds, or its only finite one.
    fn place(&self) -> f64 {
        let LogRatio { low, high } = self.d;
        match (low.is_finite(), high.is_finite()) {
            (true, false) => low,
            (false, true) => high,
            _ => self.d.middle(),
        }
    }
}

/// The numbers of rounds above `theta`, below it, and on an unknown side.
type Sides = (usize, usize, usize);

/// A change where `theta` passes a point.
struct Change {
    at: f64,
    /// Whether the change comes only after the point itself.
    is_after: bool,
    tail: usize,
    /// The change of the numbers of rounds above and below `theta`, and of those that are open.
    by: (isize, isize, isize),
}

/// Returns the least mean wealth of the bettors over all `theta`; the side of lost attempts is
/// open.
fn least_evidence(rounds: &[Round], lost: usize, logs: &Logs) -> f64 {
    let mut sides: [Sides; TAILS.len()] = [(0, 0, lost); TAILS.len()];
    let mut changes = Vec::with_capacity(rounds.len() * 2 * TAILS.len());
    for Round { d: LogRatio { low, high }, scale } in rounds {
        let tails = if scale.is_nan() { 1 } else { TAILS.len() };
        let open = isize::from(low < high);
        for tail in 0..tails {
            let distance = if tail == 0 { 0.0 } else { TAILS[tail] * scale };
            // At theta = d there is no bet. Further out, a round at exactly the distance is far.
            let is_far_at = tail > 0;
            let side = &mut sides[tail];
            *(if *low > f64::NEG_INFINITY { &mut side.0 } else { &mut side.2 }) += 1;
            let leaves =
                Change { at: low - distance, is_after: is_far_at, tail, by: (-1, 0, open) };
            let comes =
                Change { at: high + distance, is_after: !is_far_at, tail, by: (0, 1, -open) };
            changes.extend([leaves, comes].into_iter().filter(|change| change.at.is_finite()));
        }
    }
    changes.sort_by(|a, b| a.at.total_cmp(&b.at).then(a.is_after.cmp(&b.is_after)));
    let mut wealth = sides.map(|sides| logs.least(sides));
    let mut least = mean(&wealth);
    for (index, change) in changes.iter().enumerate() {
        let side = &mut sides[change.tail];
        side.0 = side.0.saturating_add_signed(change.by.0);
        side.1 = side.1.saturating_add_signed(change.by.1);
        side.2 = side.2.saturating_add_signed(change.by.2);
        wealth[change.tail] = logs.least(*side);
        let next = changes.get(index + 1);
        if next.is_none_or(|next| next.at != change.at || next.is_after != change.is_after) {
            least = least.min(mean(&wealth));
        }
    }
    least
}

fn mean(wealth: &[f64; TAILS.len()]) -> f64 {
    wealth.iter().sum::<f64>() / TAILS.len() as f64
}

/// The logarithms of `k!` and of `(1/2) (3/2) ... (k - 1/2)`.
struct Logs {
    whole: Vec<f64>,
    half: Vec<f64>,
}

impl Logs {
    fn new(most: usize) -> Logs {
        let [whole, half] = [1.0, 0.5].map(|shift| {
            let mut sums = vec![0.0; most + 1];
            for k in 0..most {
                sums[k + 1] = sums[k] + libm::log(k as f64 + shift);
            }
            sums
        });
        Logs { whole, half }
    }

    /// Returns the least wealth of the bettor. It loses if it sees an open round on the side that
    /// has fewer, and also if it sees two, one on each side.
    fn least(&self, (above, below, open): Sides) -> f64 {
        let (few, many) = (above.min(below), above.max(below));
        let rest = open.saturating_sub(many - few);
        self.won(few + (open - rest) + rest / 2, many + (rest - rest / 2))
    }

    /// Returns the wealth of a bettor that saw `a` and `b` rounds on the two sides.
    fn won(&self, a: usize, b: usize) -> f64 {
        let coins = (a + b) as f64 * std::f64::consts::LN_2;
        libm::exp(coins + (self.half[a] + self.half[b]) - self.whole[a + b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bettor::S;
    use crate::conditions::Conditions;
    use crate::noise::Noise;
    use crate::observation::LogRatio;

    /// Returns the history of these rounds, each with the scale of those before it.
    fn history_of(rounds: &[LogRatio]) -> History {
        let (mut noise, mut history) = (Noise::default(), History::new(&S));
        for d in rounds {
            let bet = noise.bet(*d, &Conditions::UNKNOWN);
            noise.learn(*d, &Conditions::UNKNOWN, &bet);
            history.push(&bet);
        }
        history
    }

    fn history(d: impl IntoIterator<Item = f64>) -> History {
        history_of(&d.into_iter().map(LogRatio::exact).collect::<Vec<_>>())
    }

    #[test]
    fn a_bettor_has_what_its_predictions_won() {
        let logs = Logs::new(9);
        let (mut wealth, mut seen) = (1.0, [0.0, 0.0]);
        for side in [0, 0, 1, 0, 0, 0, 1, 0, 0] {
            wealth *= 2.0 * (seen[side] + 0.5) / (seen[0] + seen[1] + 1.0);
            seen[side] += 1.0;
        }
        assert!((logs.won(7, 2) / wealth - 1.0).abs() < 1e-12);
        assert_eq!(logs.won(7, 2), logs.won(2, 7));
    }

    /// Computes the least over a grid of every theta, and over all outcomes of open rounds.
    #[test]
    fn the_least_is_the_least_of_every_theta() {
        fn place(i: u32) -> f64 {
            f64::from(i * 37 % 50) * 0.01 + if i % 9 == 4 { 3.0 } else { 0.0 }
        }
        let d = |i: u32| match (i, place(i)) {
            (40..44, d) => LogRatio { low: d - 0.02, high: d + 0.05 },
            (60..62, _) => LogRatio { low: 2.5, high: f64::INFINITY },
            (70, _) => LogRatio { low: f64::NEG_INFINITY, high: f64::INFINITY },
            (_, d) => LogRatio::exact(d),
        };
        let history = history_of(&(0..90).map(d).collect::<Vec<_>>());
        let rounds: Vec<Round> = history.scaled().map(|(d, scale)| Round { d, scale }).collect();
        let logs = Logs::new(rounds.len());
        let mean_at = |theta: f64| {
            let of_tail = |tail: usize| {
                let far = |y: f64, scale: f64| tail == 0 || y >= TAILS[tail] * scale;
                let of = |has: &dyn Fn(&Round) -> bool| rounds.iter().filter(|r| has(r)).count();
                let is_above = |r: &Round| r.d.low > theta && far(r.d.low - theta, r.scale);
                let is_below = |r: &Round| r.d.high < theta && far(theta - r.d.high, r.scale);
                let is_open = |r: &Round| {
                    let bets = tail == 0 || !r.scale.is_nan();
                    bets && r.d.low < r.d.high && !is_above(r) && !is_below(r)
                };
                let (above, below, open) = (of(&is_above), of(&is_below), of(&is_open));
                let ways = (0..=open).flat_map(|up| (0..=open - up).map(move |down| (up, down)));
                let won = ways.map(|(up, down)| logs.won(above + up, below + down));
                won.fold(f64::INFINITY, f64::min)
            };
            (0..TAILS.len()).map(of_tail).sum::<f64>() / TAILS.len() as f64
        };
        let grid = (-3000..6000).map(|i| mean_at(f64::from(i) * 1e-3 + 1.234e-5));
        let least = grid.fold(f64::INFINITY, f64::min);
        let found = least_evidence(&rounds, 0, &logs);
        assert!(found <= least * (1.0 + 1e-9) && found > least / 2.0, "{found} {least}");
    }

    #[test]
    fn a_slow_tenth_is_no_factor_and_a_shift_is_one() {
        fn bulk(i: u32) -> f64 {
            f64::from(i * 7919 % 997) / 997.0 * 0.02
        }
        let plain = look(&history((0..300).map(bulk)), 0).unwrap();
        assert!(!plain.is_denied(), "{plain:?}");
        let tenth = |i: u32| bulk(i) - if i % 10 == 3 { 1.1 } else { 0.0 };
        let tailed = look(&history((0..300).map(tenth)), 0).unwrap();
        assert!(tailed.is_denied() && tailed.is_below, "{tailed:?}");
        assert_eq!((tailed.far, tailed.far_opposite), (30, 0));
        assert!((tailed.times - 3.0).abs() < 0.05, "{tailed:?}");
        let mirrored = look(&history((0..300).map(|i| -tenth(i))), 0).unwrap();
        assert_eq!((mirrored.evidence, mirrored.far), (tailed.evidence, tailed.far));
        assert!(look(&history([]), 0).is_none());
    }

    /// One round in ten lies far below and one far above, and a user kills all of the one kind.
    #[test]
    fn attempts_that_were_cut_off_deny_nothing() {
        fn bulk(i: u32) -> f64 {
            f64::from(i * 7919 % 997) / 997.0 * 0.02
        }
        let kept: Vec<_> =
            (0..300).map(|i| bulk(i) + if i % 10 == 3 { 1.1 } else { 0.0 }).collect();
        assert!(look(&history(kept.clone()), 0).unwrap().is_denied());
        let charged = look(&history(kept), 30).unwrap();
        assert!(!charged.is_denied() && charged.rounds == 300, "{charged:?}");
    }

    /// A quarter of A's runs hangs: each is ended at ten times the time of the others.
    #[test]
    fn runs_that_were_cut_off_count_on_their_side() {
        fn hangs(i: u32) -> LogRatio {
            LogRatio { low: f64::NEG_INFINITY, high: -2.3 - f64::from(i) * 1e-4 }
        }
        fn d(i: u32) -> LogRatio {
            LogRatio::exact(f64::from(i * 7919 % 997) / 997.0 * 0.02)
        }
        let rounds: Vec<_> = (0..100).map(|i| if i % 4 == 3 { hangs(i) } else { d(i) }).collect();
        let found = look(&history_of(&rounds), 0).unwrap();
        assert!(found.is_denied() && found.is_below && found.is_least, "{found:?}");
        assert_eq!((found.rounds, found.far, found.far_opposite), (100, 25, 0));
        assert!((found.times - 10.0).abs() < 0.2, "{found:?}");
        // Unknown rounds imply nothing.
        let unknown = LogRatio { low: f64::NEG_INFINITY, high: f64::INFINITY };
        assert!(!look(&history_of(&[unknown; 100]), 0).unwrap().is_denied());
        let half = (0..100).map(|i| if i % 2 == 0 { unknown } else { d(i) }).collect::<Vec<_>>();
        assert!(!look(&history_of(&half), 0).unwrap().is_denied());
    }
}
