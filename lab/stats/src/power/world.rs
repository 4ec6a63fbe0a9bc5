//! The noise of simulated rounds: of a stated kind, or that of an earlier run.

use crate::coins::Stream;
use crate::conditions::Conditions;
use crate::observation::LogRatio;
use crate::scale::Past;
use tiebreak_core::forecast::Shape;

/// The least number of rounds of a pilot; fewer say too little about its noise.
pub const PILOT_ROUNDS_MIN: usize = 20;
/// The number of consecutive rounds of a pilot that are resampled together, so that bursts of noise
/// stay bursts.
const BLOCK_ROUNDS: usize = 8;
/// Spiky noise: the share of runs with a spike, and its mean size in standard deviations.
const SPIKES: (f64, f64) = (0.05, 20.0);
/// Bimodal noise: the share of slow runs, and how slow they are, in standard deviations.
const MODES: (f64, f64) = (0.3, 7.0);

/// The source of the noise of simulated rounds.
#[derive(Clone, Debug)]
pub enum World {
    /// Stated noise. It is independent for the two contestants' runs; the normal part of a round's
    /// log ratio has this standard deviation.
    Stated {
        /// The standard deviation, in natural logarithms: 0.02 is 2%.
        deviation: f64,
        /// The noise that is added to the normal part.
        shape: Shape,
    },
    /// The rounds of an earlier run, in blocks drawn at random (Kunsch 1989).
    Pilot(Pilot),
}

/// The rounds of an earlier run, recentred: each is reduced by their median.
#[derive(Clone, Debug)]
pub struct Pilot {
    rounds: Vec<(LogRatio, Conditions)>,
    deviation: Option<f64>,
}

impl Pilot {
    /// Returns a pilot of these rounds; `None` if there are fewer than [`PILOT_ROUNDS_MIN`], or if
    /// their median is not finite.
    pub fn new(rounds: &[(LogRatio, Conditions)]) -> Option<Pilot> {
        if rounds.len() < PILOT_ROUNDS_MIN {
            return None;
        }
        let mut past = Past::default();
        rounds.iter().for_each(|(d, _)| past.insert(*d));
        let median = past.median()?;
        let rounds = rounds.iter().map(|(d, conditions)| (shifted(*d, -median), *conditions));
        Some(Pilot { rounds: rounds.collect(), deviation: past.scale() })
    }

    /// Returns the interquartile range of the log ratios, in standard deviations of a normal
    /// distribution; `None` if it is 0 or not finite.
    pub fn deviation(&self) -> Option<f64> {
        self.deviation
    }

    /// Returns the number of its rounds.
    pub fn rounds(&self) -> usize {
        self.rounds.len()
    }
}

fn shifted(d: LogRatio, by: f64) -> LogRatio {
    LogRatio { low: d.low + by, high: d.high + by }
}

impl World {
    /// Returns endless rounds in which the right contestant needs `exp(effect)` times what the left
    /// one needs.
    pub(super) fn rounds(
        &self,
        effect: f64,
        mut coins: Stream,
    ) -> impl Iterator<Item = (LogRatio, Conditions)> {
        let mut next = 0;
        let mut left_in_block = 0;
        std::iter::repeat_with(move || match self {
            World::Stated { deviation, shape } => {
                let slot = deviation * std::f64::consts::FRAC_1_SQRT_2;
                let mut run = || slot * one_run(*shape, &mut coins);
                (LogRatio::exact(effect + run() - run()), Conditions::UNKNOWN)
            }
            World::Pilot(pilot) => {
                if left_in_block == 0 {
                    next = coins.below(pilot.rounds.len() as u64) as usize;
                    left_in_block = BLOCK_ROUNDS;
                }
                left_in_block -= 1;
                let (d, conditions) = pilot.rounds[next];
                next = (next + 1) % pilot.rounds.len();
                (shifted(d, effect), conditions)
            }
        })
    }
}

/// Returns the noise of one run, in standard deviations of its normal part.
fn one_run(shape: Shape, coins: &mut Stream) -> f64 {
    let normal = coins.normal();
    normal
        + match shape {
            Shape::Normal => 0.0,
            Shape::Spiky if coins.unit() < SPIKES.0 => -SPIKES.1 * libm::log(1.0 - coins.unit()),
            Shape::Bimodal if coins.unit() < MODES.0 => MODES.1,
            Shape::Spiky | Shape::Bimodal => 0.0,
        }
}
