//! The ways to settle a claim about a success rate that are compared.

use crate::trials::{Service, settle};
use tiebreak_core::verdict::Verdict;
use tiebreak_stats::classic::{Driver, DriverOptions};
use tiebreak_stats::coins::Seed;
use tiebreak_stats::share_test::{ShareTest, Trial};

/// Where every method gives up.
pub const TRIALS_MOST: u64 = 300_000;

/// A claim: `holds` above `bad`, `refuted` below `good`.
#[derive(Clone, Copy)]
pub struct Claim {
    pub good: f64,
    pub bad: f64,
    pub error: f64,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Method {
    /// The published driver: Robbins's criterion at a third of the error for either threshold and
    /// for its interval (halves with one threshold).
    Classic,
    /// The same criterion as a one-sided test with the whole error: a comparator, not a theorem.
    OneSided,
    /// Twelve bettors a side.
    Grid,
    /// Wald's test between the two thresholds.
    Sprt,
    /// Half of the stake on either: what tiebreak uses if there are two thresholds.
    Half,
}

impl Method {
    pub fn name(self) -> &'static str {
        match self {
            Method::Classic => "classic driver",
            Method::OneSided => "CSM one-sided",
            Method::Grid => "grid",
            Method::Sprt => "SPRT",
            Method::Half => "half SPRT, half grid",
        }
    }

    /// Those that can settle a claim: with one threshold Wald's test has no alternative.
    pub fn of(claim: Claim) -> Vec<Method> {
        let one = [Method::Classic, Method::OneSided, Method::Grid];
        let two = [Method::Sprt, Method::Half];
        let more: &[Method] = if claim.good > claim.bad { &two } else { &[] };
        one.iter().chain(more).copied().collect()
    }

    /// The verdict on a stream of trials, and how many it took.
    pub fn settle(self, claim: Claim, truth: f64, stream: u64) -> (Option<Verdict>, u64) {
        let seed = Seed::from_text(&format!("shares {truth}"));
        let trials = Service::independent(truth).trials(seed, stream).take(TRIALS_MOST as usize);
        let Claim { good, bad, error } = claim;
        let statements = if good > bad { 3.0 } else { 2.0 };
        let settled = match self {
            Method::Classic => return driver(claim, error, trials),
            Method::OneSided => return driver(claim, 2.0 * statements * error, trials),
            Method::Grid => grid(claim, trials),
            Method::Sprt => wald(claim, trials),
            Method::Half => settle(ShareTest::new(good, bad, 1, error), trials)
                .map(|(settled, trials)| (settled.verdict, trials)),
        };
        settled.map_or((None, TRIALS_MOST), |(verdict, trials)| (Some(verdict), trials))
    }
}

fn driver(
    Claim { good, bad, .. }: Claim,
    eps: f64,
    trials: impl Iterator<Item = Trial>,
) -> (Option<Verdict>, u64) {
    let options =
        DriverOptions { alpha: bad, alpha_hi: Some(good), eps, min_count: 0, max_count: None };
    let driver = Driver::new(&options).expect("rates between 0 and 1");
    let end = driver.run(trials.map(|trial| trial == Trial::Success), |_| ());
    let estimate = end.estimate().unwrap_or(0.5);
    let is_above = |is_ruled_out: bool, bar: f64| is_ruled_out && estimate > bar;
    let is_below = |is_ruled_out: bool, bar: f64| is_ruled_out && estimate < bar;
    let (low, high) = (end.differs_from_low, end.differs_from_high);
    let verdict = if is_above(low, bad) || is_above(high, good) {
        Some(Verdict::Holds)
    } else if is_below(high, good) || is_below(low, bad) {
        Some(Verdict::Refuted)
    } else {
        None
    };
    (verdict, end.n)
}

/// A grid against each threshold: a test with that threshold alone is one.
fn grid(
    Claim { good, bad, error }: Claim,
    trials: impl Iterator<Item = Trial>,
) -> Option<(Verdict, u64)> {
    let mut above_bad = ShareTest::new(bad, bad, 1, error);
    let mut below_good = ShareTest::new(good, good, 1, error);
    for (before, trial) in trials.enumerate() {
        let holds = above_bad.observe(trial).is_some_and(|s| s.verdict == Verdict::Holds);
        let refuted = below_good.observe(trial).is_some_and(|s| s.verdict == Verdict::Refuted);
        if holds || refuted {
            let verdict = if holds { Verdict::Holds } else { Verdict::Refuted };
            return Some((verdict, before as u64 + 1));
        }
    }
    None
}

fn wald(
    Claim { good, bad, error }: Claim,
    trials: impl Iterator<Item = Trial>,
) -> Option<(Verdict, u64)> {
    let (gain, loss) = (libm::log(good / bad), libm::log((1.0 - good) / (1.0 - bad)));
    let needed = -libm::log(error);
    let mut log_ratio = 0.0;
    for (before, trial) in trials.enumerate() {
        log_ratio += if trial == Trial::Success { gain } else { loss };
        if log_ratio.abs() >= needed {
            let verdict = if log_ratio > 0.0 { Verdict::Holds } else { Verdict::Refuted };
            return Some((verdict, before as u64 + 1));
        }
    }
    None
}
