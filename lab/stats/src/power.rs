//! The rounds that a claim will need, and the differences that a comparison could find, by
//! simulation.
//!
//! A [`Scenario`] runs a claim once in a world with known truth and noise. A [`Tally`] counts the
//! results of many such runs, and proves on which side of a wanted chance the chance to end in time
//! lies, with the same evidence that settles claims.

#[cfg(test)]
mod tests;

use crate::bettor::{Bet, EProcess, M3R};
use crate::bisection;
use crate::classic::Driver;
use crate::coins::{Purpose, Seed, Stream};
use crate::conditions::Conditions;
use crate::decide::SequentialTest;
use crate::observation::LogRatio;
use crate::past::Past;
use crate::rate;
use crate::ratio_test::RatioTest;
use crate::share_test::{ShareTest, Trial};
use tiebreak_core::forecast::{Chance, Says, Shape};
use tiebreak_core::verdict::Verdict;

/// The end of a simulated run: after how many rounds, and with which verdict. `None` if it had not
/// ended when the simulation did.
pub type End = Option<(u64, Verdict)>;

/// A claim before its first round, and the noise of its rounds.
#[derive(Clone, Debug)]
pub enum Scenario {
    /// A ratio claim under noise. The truth is the ratio right / left.
    Ratio(Box<RatioTest>, World),
    /// A success rate claim, with independent trials. The truth is the rate.
    Share(Box<ShareTest>),
    /// A success rate claim by the published driver, whose thresholds are the bad rate and the good
    /// one.
    Classic(Driver),
}

/// The number of rounds with enough bets and no verdict after which a run is given up: if its
/// limits cross, it gives no verdict, and usually never will.
const FRUITLESS_ROUNDS: u32 = 16;

impl Scenario {
    /// Runs the claim once where this is the truth, for at most `rounds_max` rounds, with these
    /// coins.
    pub fn run(&self, truth: f64, rounds_max: u64, mut coins: Stream) -> End {
        match self {
            Scenario::Ratio(test, world) => {
                let rounds = world.rounds(libm::log(truth), coins);
                run_ratio(RatioTest::clone(test), rounds, rounds_max)
            }
            Scenario::Share(test) => {
                let mut test = ShareTest::clone(test);
                (0..rounds_max).find_map(|_| {
                    let succeeds = coins.unit() < truth;
                    let trial = if succeeds { Trial::Success } else { Trial::Failure };
                    let settled = test.observe(trial)?;
                    Some((test.rounds(), settled.verdict))
                })
            }
            Scenario::Classic(driver) => {
                let trials = (0..rounds_max).map(|_| coins.unit() < truth);
                let progress = driver.run(trials, |_| {});
                Some((progress.n, driver.verdict(&progress)?))
            }
        }
    }
}

fn run_ratio(
    mut test: RatioTest,
    rounds: impl Iterator<Item = (LogRatio, Conditions)>,
    rounds_max: u64,
) -> End {
    let mut fruitless = 0;
    for (d, conditions) in rounds {
        if test.rounds() >= rounds_max {
            break;
        }
        if let Some(settled) = test.observe(d, &conditions) {
            return Some((test.rounds(), settled.verdict));
        }
        fruitless += u32::from(test.is_believed());
        if fruitless == FRUITLESS_ROUNDS {
            break;
        }
    }
    None
}

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
    /// The interquartile range of the log ratios, in standard deviations of a normal distribution;
    /// `None` if it is 0 or not finite.
    pub deviation: Option<f64>,
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
    fn rounds(
        &self,
        effect: f64,
        mut coins: Stream,
    ) -> impl Iterator<Item = (LogRatio, Conditions)> {
        let mut next = 0;
        let mut left_in_block = 0;
        std::iter::repeat_with(move || match self {
            World::Stated { deviation, shape } => {
                let slot = deviation * std::f64::consts::FRAC_1_SQRT_2;
                let [one, other] = [(); 2].map(|()| slot * one_run(*shape, &mut coins));
                (LogRatio::exact(effect + one - other), Conditions::UNKNOWN)
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

/// The probability that a statement about a chance is wrong. Simulated runs are cheap, so it is
/// small compared with every simulated error.
const OUTER_ERROR: f64 = 1e-4;

/// Counts of simulated runs.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    wanted: Option<Wanted>,
    /// The number of runs so far.
    pub runs: u64,
    /// The numbers of rounds after which runs ended, sorted, with their verdicts.
    ends: Vec<(u64, Verdict)>,
}

/// A comparison of the chance that a simulated run ends in time with a wanted chance. It uses the
/// evidence that settles success rates, so that simulation can stop as soon as the result is clear.
#[derive(Clone, Debug)]
struct Wanted {
    /// The maximum number of rounds of a run whose verdict counts.
    budget: u64,
    chance: f64,
    test: ShareTest,
}

impl Tally {
    /// Starts without runs. With a budget in rounds, later verdicts count as none, and the chance
    /// of a verdict within it is compared with the wanted one, between 0 and 1.
    pub fn new(budget: Option<(u64, f64)>) -> Tally {
        let wanted = budget.map(|(budget, chance)| {
            let test = ShareTest::new(chance, chance, 1, OUTER_ERROR);
            Wanted { budget, chance, test }
        });
        Tally { wanted, ..Tally::default() }
    }

    /// Adds a run.
    pub fn add(&mut self, end: End) {
        self.runs += 1;
        if let Some((rounds, verdict)) = end {
            self.ends.insert(self.ends_by(rounds), (rounds, verdict));
        }
        if let Some(Wanted { budget, test, .. }) = &mut self.wanted {
            let is_in_time = end.is_some_and(|(rounds, _)| rounds <= *budget);
            test.observe(if is_in_time { Trial::Success } else { Trial::Failure });
        }
    }

    /// Returns whether a chance is wanted and not yet compared.
    pub fn is_open(&self) -> bool {
        self.wanted.as_ref().is_some_and(|wanted| wanted.test.settled().is_none())
    }

    /// Returns the estimate and limits of the chance to end within the budget, and whether it is
    /// proven to be at least the wanted one, or below it. The limits hold at every moment (Robbins
    /// 1970), and so does the decision, each except for the outer error. After the decision, a run
    /// only narrows the limits.
    pub fn chance(&self) -> Option<Chance> {
        let Wanted { chance, test, .. } = self.wanted.as_ref()?;
        let (runs, ended) = (self.runs, self.ended());
        let (low, high) = rate::limits(runs, ended, OUTER_ERROR);
        let is_enough = test.settled().map(|settled| settled.verdict == Verdict::Holds);
        Some(Chance {
            runs,
            ended,
            estimate: ended as f64 / runs.max(1) as f64,
            low: if is_enough == Some(true) { low.max(*chance) } else { low },
            high: if is_enough == Some(false) { high.min(*chance) } else { high },
            confidence: 1.0 - 2.0 * OUTER_ERROR,
            is_enough,
            proven_after: is_enough.map(|_| test.rounds()),
        })
    }

    /// Counts the runs that had ended after this number of rounds.
    fn ends_by(&self, rounds: u64) -> usize {
        self.ends.partition_point(|(ended, _)| *ended <= rounds)
    }

    /// Returns the number of runs that ended within the budget.
    pub fn ended(&self) -> u64 {
        self.ends_by(self.wanted.as_ref().map_or(u64::MAX, |wanted| wanted.budget)) as u64
    }

    /// Returns the rounds after which at least this share of the runs had ended; `None` if fewer
    /// ever did.
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let rank = libm::ceil(share * self.runs as f64) as usize;
        self.ends.get(rank.max(1) - 1).map(|(rounds, _)| *rounds)
    }

    /// Returns the share of runs that had ended after `rounds` rounds; 0 without runs.
    pub fn ended_by(&self, rounds: u64) -> f64 {
        self.ends_by(rounds) as f64 / self.runs.max(1) as f64
    }

    /// Returns the shares of runs by their verdict within the budget.
    pub fn says(&self) -> Says {
        let ends = &self.ends[..self.ended() as usize];
        let counts = [Verdict::Holds, Verdict::Refuted, Verdict::TooClose]
            .map(|verdict| ends.iter().filter(|end| end.1 == verdict).count() as u64);
        let [holds, refuted, too_close] = counts;
        let undecided = self.runs - holds - refuted - too_close;
        let [holds, refuted, too_close, undecided] = [holds, refuted, too_close, undecided]
            .map(|count| count as f64 / self.runs.max(1) as f64);
        Says { holds, refuted, too_close, undecided }
    }
}

/// The share of comparisons that must find a difference for it to count as found.
const SUCCESS_RATE: f64 = 0.9;
/// The streams replayed for each difference that is tried.
const STREAMS: u64 = 200;
/// The steps of the bisection over differences: a factor of 1.0007 is left of the range.
const STEPS: u32 = 14;
/// The least and the largest difference that are tried, as fractions.
pub const SEARCHED: [f64; 2] = [1e-5, 1.0];

/// The smallest difference that is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smallest {
    /// The difference as a fraction: 0.02 for 2%.
    pub fraction: f64,
    /// Whether it is only an upper bound: it is the least difference that was tried, and it is
    /// found.
    pub is_bound: bool,
}

/// Returns the smallest difference, as a fraction, that a comparison of `rounds` rounds finds in
/// nine of ten cases at this two-sided error, given the log ratios of one program against itself.
///
/// The sizes of the noise are resampled in blocks and get fair signs, which they have by design
/// when a program is compared with itself. Each candidate difference is added and bet on. Only
/// 0.001% to 100% is tried. Returns `None` if not even 100% is found, or if there is no noise to
/// resample, and a bound if 0.001% is found.
pub fn smallest_difference(noise: &[f64], rounds: u64, error: f64, seed: Seed) -> Option<Smallest> {
    let finite: Vec<f64> = noise.iter().copied().filter(|d| d.is_finite()).collect();
    if finite.len() < BLOCK_ROUNDS {
        return None;
    }
    let finds = |log_fraction: f64| {
        let shift = libm::log1p(libm::exp(log_fraction));
        let coins = (0..STREAMS).map(|stream| Stream::new(seed, Purpose::Simulation, stream, 0));
        let found = coins.filter(|coins| finds_shift(&finite, rounds, error / 2.0, shift, coins));
        found.count() as f64 >= SUCCESS_RATE * STREAMS as f64
    };
    let [low, high] = SEARCHED.map(libm::log);
    if !finds(high) {
        return None;
    }
    if finds(low) {
        return Some(Smallest { fraction: SEARCHED[0], is_bound: true });
    }
    let (found, _) = bisection::edge((high, low), STEPS, finds);
    Some(Smallest { fraction: libm::exp(found), is_bound: false })
}

/// Returns whether the bets find a shift of the noise, with these coins.
fn finds_shift(noise: &[f64], rounds: u64, error: f64, shift: f64, coins: &Stream) -> bool {
    let mut coins = coins.clone();
    let mut past = Past::default();
    let mut bet = EProcess::new(&M3R, 0.0);
    let mut at = 0;
    (0..rounds).any(|round| {
        at = match round as usize % BLOCK_ROUNDS {
            0 => coins.below(noise.len() as u64) as usize,
            _ => (at + 1) % noise.len(),
        };
        let d = LogRatio::exact(shift + coins.sign() * noise[at]);
        bet.observe(d, &Bet { d, scale: past.scale(), weight: 1.0 }, None);
        past.insert(d);
        bet.value(0) >= 1.0 / error
    })
}
