//! One simulated run of a claim.

use super::world::World;
use crate::classic::Driver;
use crate::coins::Stream;
use crate::ratio_test::RatioTest;
use crate::share_test::{ShareTest, Trial};
use tiebreak_core::verdict::Verdict;

/// The result of a simulated run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimulatedRun {
    /// The number of rounds after which it ended; `None` if it had not when the simulation ended.
    pub rounds: Option<u64>,
    /// The verdict; `undecided` if it had not ended.
    pub verdict: Verdict,
}

impl SimulatedRun {
    const OPEN: SimulatedRun = SimulatedRun { rounds: None, verdict: Verdict::Undecided };
}

/// A claim in a world with a known truth.
pub trait Scenario {
    /// Runs the claim once, for at most `rounds_max` rounds, with these coins.
    fn run(&self, rounds_max: u64, coins: Stream) -> SimulatedRun;
}

/// A ratio claim under noise.
#[derive(Clone, Debug)]
pub struct RatioScenario<'a> {
    /// The claim before its first round.
    pub test: RatioTest,
    /// The noise.
    pub world: &'a World,
    /// The true log ratio.
    pub effect: f64,
}

/// The number of rounds with enough bets and no verdict after which a run is given up: if its
/// limits cross, it gives no verdict, and usually never will.
const FRUITLESS_ROUNDS: u32 = 16;

impl Scenario for RatioScenario<'_> {
    fn run(&self, rounds_max: u64, coins: Stream) -> SimulatedRun {
        let mut test = self.test.clone();
        let mut fruitless = 0;
        for (d, conditions) in self.world.rounds(self.effect, coins) {
            if test.rounds() >= rounds_max {
                break;
            }
            if let Some(settled) = test.observe(d, &conditions) {
                return SimulatedRun { rounds: Some(test.rounds()), verdict: settled.verdict };
            }
            fruitless += u32::from(test.is_believed());
            if fruitless == FRUITLESS_ROUNDS {
                break;
            }
        }
        SimulatedRun::OPEN
    }
}

/// A success rate claim, with independent trials.
#[derive(Clone, Debug)]
pub struct ShareScenario {
    /// The claim before its first trial.
    pub test: ShareTest,
    /// The true rate.
    pub rate: f64,
}

impl Scenario for ShareScenario {
    fn run(&self, rounds_max: u64, mut coins: Stream) -> SimulatedRun {
        let mut test = self.test.clone();
        for _ in 0..rounds_max {
            let succeeds = coins.unit() < self.rate;
            let trial = if succeeds { Trial::Success } else { Trial::Failure };
            if let Some(settled) = test.observe(trial) {
                return SimulatedRun { rounds: Some(test.trials()), verdict: settled.verdict };
            }
        }
        SimulatedRun::OPEN
    }
}

/// A success rate claim by the published driver.
#[derive(Clone, Copy, Debug)]
pub struct ClassicScenario {
    /// The driver; its thresholds are the bad rate and the good one.
    pub driver: Driver,
    /// The true rate.
    pub rate: f64,
}

impl Scenario for ClassicScenario {
    fn run(&self, rounds_max: u64, mut coins: Stream) -> SimulatedRun {
        let trials = (0..rounds_max).map(|_| coins.unit() < self.rate);
        let progress = self.driver.run(trials, |_| {});
        let Some(estimate) = progress.estimate().filter(|_| progress.is_decided()) else {
            return SimulatedRun::OPEN;
        };
        let above = |threshold: f64| estimate > threshold;
        let holds = progress.differs_from_low && above(self.driver.low())
            || progress.differs_from_high && above(self.driver.high());
        let verdict = if holds { Verdict::Holds } else { Verdict::Refuted };
        SimulatedRun { rounds: Some(progress.n), verdict }
    }
}
