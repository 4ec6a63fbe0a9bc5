//! The shifts of Y against X that the test would not reject: an interval, by the test itself.

use super::{Question, StatisticOf};
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_core::resampling::{Null, Shifts, Sides};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::exact::{Ending, ExactTest, Resampler, Statistic, is_extreme};

/// A shift is tried with this many permutations over alpha, unless the test itself took more. If
/// they do not suffice to reject it, it is not rejected.
const PERMUTATIONS: f64 = 40.0;
/// The most numbers that are drawn for a shift, so that all of them take seconds and not hours.
const NUMBERS_MAX: f64 = 2e7;
/// A rejected shift is searched at distances that double this often.
const DOUBLINGS: i32 = 40;
/// The limit is known to this share of its distance from the observed difference.
const WIDTH: f64 = 1.0 / 128.0;

/// Returns the interval of the shift. All shifts that are not rejected lie in it, if the rejected
/// ones are those beyond some shift on either side. So the true shift does with probability at
/// least `1 - alpha` if Y is distributed as X plus a shift. If only means or medians are a shift
/// apart, it does so nearly, as the sets grow, if differences count relative to their spread. With
/// one side the interval has one end.
///
/// Returns `None` for a ratio, a program, more numbers than can be tried, and if it was
/// interrupted.
pub(super) fn of(question: &Question, permutations: u64, stop: &AtomicBool) -> Option<Shifts> {
    let StatisticOf::Each(statistic) = question.statistic else { return None };
    let numbers = (question.x.values.len() + question.y.values.len()) as f64;
    let most = (PERMUTATIONS / question.alpha).min(question.permutations_max as f64);
    let most = most.max(permutations as f64);
    if matches!(question.null, Null::Ratio { .. }) || most * numbers > NUMBERS_MAX {
        return None;
    }
    let tried = Tried { question, statistic, permutations_max: most as u64, stop };
    let centre = tried.difference();
    let towards = |sides: Sides, sign: f64| {
        if question.sides == sides { None } else { tried.limit(centre, sign) }
    };
    let (low, high) = (towards(Sides::Less, -1.0), towards(Sides::Greater, 1.0));
    let is_whole = !stop.load(Ordering::Relaxed);
    is_whole.then_some(Shifts { low, high, confidence: 1.0 - question.alpha })
}

/// What is needed to try a shift.
struct Tried<'a> {
    question: &'a Question,
    statistic: Statistic,
    permutations_max: u64,
    stop: &'a AtomicBool,
}

impl Tried<'_> {
    fn resampler(&self, by: f64) -> Resampler {
        let Question { x, y, .. } = self.question;
        // The same permutations for each shift.
        let seed = Seed::from_text(&self.question.seed);
        let null = Null::Shift { by };
        Resampler::new(self.question.design(), &x.values, &y.values, null, seed)
    }

    fn difference(&self) -> f64 {
        self.resampler(0.0).difference(self.statistic, false).value
    }

    fn is_rejected(&self, shift: f64) -> bool {
        let mut resampler = self.resampler(shift);
        let is_studentised = self.question.is_studentised();
        let mut test = ExactTest::new(self.question.alpha, self.question.error);
        let observed = resampler.difference(self.statistic, is_studentised);
        while test.permutations() < self.permutations_max && !self.stop.load(Ordering::Relaxed) {
            resampler.draw();
            let drawn = resampler.difference(self.statistic, is_studentised);
            if let Some(ended) = test.observe(is_extreme(self.question.sides, drawn, observed)) {
                return ended == Ending::Differs;
            }
        }
        false
    }

    /// Returns the nearest shift on one side of the observed difference that the search finds to be
    /// rejected; that difference itself if the distance is within the rounding of the numbers.
    fn limit(&self, centre: f64, sign: f64) -> Option<f64> {
        let values = || self.question.x.values.iter().chain(&self.question.y.values);
        let least = values().copied().fold(f64::INFINITY, f64::min);
        let most = values().copied().fold(f64::NEG_INFINITY, f64::max);
        let rounding = least.abs().max(most.abs()) * 4.0 * f64::EPSILON;
        let first = ((most - least) / values().count() as f64).max(centre.abs() * f64::EPSILON);
        let mut distances = (0..DOUBLINGS).map(|doubling| first * f64::from(doubling).exp2());
        let mut outside = distances.find(|d| self.is_rejected(centre + sign * d))?;
        let mut inside = if outside > first { outside / 2.0 } else { 0.0 };
        while outside > rounding && outside - inside > WIDTH * outside {
            let middle = (outside + inside) / 2.0;
            *(if self.is_rejected(centre + sign * middle) { &mut outside } else { &mut inside }) =
                middle;
        }
        Some(if outside > rounding { centre + sign * outside } else { centre })
    }
}
