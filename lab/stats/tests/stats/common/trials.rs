//! Streams of successes and failures, one by one or in bursts.

use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::decide::{SequentialTest, Settled};
use tiebreak_stats::share_test::{ShareTest, Trial};

/// Trials of which exactly this share succeeds in the long run.
#[derive(Clone, Copy, Debug)]
pub struct Service {
    pub share: f64,
    /// How long a run of failures is on average; at 1, trials are independent.
    pub mean_burst: f64,
}

impl Service {
    pub fn independent(share: f64) -> Service {
        Service { share, mean_burst: 1.0 }
    }

    /// A stream of trials, from a random moment on.
    pub fn trials(self, seed: Seed, stream: u64) -> impl Iterator<Item = Trial> {
        let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        let failures = 1.0 - self.share;
        // How likely a failure is after a success and after a failure: a chain of two states whose
        // long-run share of failures is as asked.
        let after_failure =
            if self.mean_burst > 1.0 { 1.0 - 1.0 / self.mean_burst } else { failures };
        let after_success = failures / self.share * (1.0 - after_failure);
        let mut has_failed = chance.unit() < failures;
        std::iter::from_fn(move || {
            let trial = if has_failed { Trial::Failure } else { Trial::Success };
            let chance_of_failure = if has_failed { after_failure } else { after_success };
            has_failed = chance.unit() < chance_of_failure;
            Some(trial)
        })
    }
}

/// A service with a state that no line tells: in the bad one a share of the lines fails, and in the
/// good one another.
#[derive(Clone, Copy, Debug)]
pub struct Hidden {
    /// Of bad lines, and of good ones.
    pub fails: [f64; 2],
    /// How many of all lines are bad.
    pub bad_share: f64,
    /// How long a bad spell is on average.
    pub bad_lines: f64,
}

impl Hidden {
    /// The share of lines that succeed in the long run.
    pub fn share(self) -> f64 {
        1.0 - self.bad_share * self.fails[0] - (1.0 - self.bad_share) * self.fails[1]
    }

    /// A stream of trials, from a random moment on.
    pub fn trials(self, seed: Seed, stream: u64) -> impl Iterator<Item = Trial> {
        let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        let Hidden { fails: [of_bad, of_good], bad_share, bad_lines } = self;
        let mut is_bad = chance.unit() < bad_share;
        std::iter::from_fn(move || {
            let fails = chance.unit() < if is_bad { of_bad } else { of_good };
            let changes = if is_bad { 1.0 } else { bad_share / (1.0 - bad_share) } / bad_lines;
            is_bad ^= chance.unit() < changes;
            Some(if fails { Trial::Failure } else { Trial::Success })
        })
    }
}

/// Feeds trials until the claim is settled.
pub fn settle(mut test: ShareTest, trials: impl Iterator<Item = Trial>) -> Option<(Settled, u64)> {
    for trial in trials {
        if let Some(settled) = test.observe(trial) {
            return Some((settled, test.rounds()));
        }
    }
    None
}
