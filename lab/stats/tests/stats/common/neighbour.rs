//! Rounds of two programs that share their CPU with a neighbour.

use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;

/// Two programs and their neighbour. Times are in milliseconds.
#[derive(Clone, Copy, Debug)]
pub struct Neighbour {
    /// What A and B need when they are alone, on average.
    pub alone_ms: [f64; 2],
    /// Standard deviation of the logarithm of that.
    pub sd: f64,
    /// How often the neighbour takes the CPU, per millisecond that a program needs.
    pub visits_per_ms: f64,
    /// How long it keeps it at most; each length up to that is equally likely.
    pub visit_ms: f64,
    /// What the second run of a round is slower, as a logarithm.
    pub slow_second: f64,
    /// Whether A's waiting, and B's, is known.
    pub sees_waiting_of: [bool; 2],
}

impl Neighbour {
    /// Programs of 3 ms, B slower by `fraction`, beside a neighbour that visits a share of the runs
    /// that is about `duty`, for up to 4 ms.
    pub fn of_duty(duty: f64, fraction: f64) -> Neighbour {
        Neighbour {
            alone_ms: [3.0, 3.0 * (1.0 + fraction)],
            sd: 0.015,
            visits_per_ms: duty / 3.0,
            visit_ms: 4.0,
            slow_second: 0.0,
            sees_waiting_of: [true; 2],
        }
    }

    /// One of the endless runs.
    pub fn rounds(self, seed: Seed, stream: u64) -> impl Iterator<Item = (LogRatio, Conditions)> {
        let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        std::iter::repeat_with(move || {
            let slot = chance.sign();
            let second = usize::from(slot > 0.0);
            let runs = [0, 1].map(|who| self.run(who, who == second, &mut chance));
            let d = libm::log(runs[1].0 / runs[0].0);
            let seen = |who: usize| if self.sees_waiting_of[who] { runs[who].1 } else { 0.0 };
            let delay = Some(seen(0).max(seen(1)));
            (LogRatio::exact(d), Conditions { slot, delay, ..Conditions::UNKNOWN })
        })
    }

    /// How long a run takes, and the share of it that it waits.
    pub fn run(self, who: usize, is_second: bool, chance: &mut Stream) -> (f64, f64) {
        let slower = if is_second { self.slow_second } else { 0.0 };
        let noise = self.sd * chance.normal() + slower;
        let alone_ms = self.alone_ms[who] * libm::exp(noise);
        let (mut at_ms, mut waited_ms) = (0.0, 0.0);
        loop {
            at_ms -= libm::log(1.0 - chance.unit()) / self.visits_per_ms;
            if at_ms >= alone_ms {
                return (alone_ms + waited_ms, waited_ms / (alone_ms + waited_ms));
            }
            waited_ms += self.visit_ms * chance.unit();
        }
    }
}
