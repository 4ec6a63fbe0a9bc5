//! Rounds of two contestants, A and B, in slots whose noise does not care who runs in them.

use super::noise::{Noise, Slots};
use tiebreak_core::sample::Reading;
use tiebreak_stats::blocks::Block;
use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::conditions::Conditions;
use tiebreak_stats::observation::LogRatio;

/// The resolution that clocks are judged by, and that of the claims about them.
pub const RESOLUTION: f64 = 0.01;

/// Who runs first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// A coin a round.
    Coin,
    /// A before B, always: what a fixed schedule does.
    Fixed,
}

/// A run that follows one of the same contestant finds things warm.
#[derive(Clone, Copy, Debug)]
pub struct CarryOver {
    /// What it is faster for that.
    pub self_follow_gain: f64,
    /// Whether an untimed run starts every round, of each contestant once in a block of two.
    pub primer: bool,
}

/// What becomes of the true times of a round; A's time without noise is 1.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// They are read as they are.
    Exact,
    /// They come in steps, to the nearest; the log ratio is widened for that, or is not.
    Steps { step: f64, widened: bool },
    /// Runs are ended at a time; that counts as "at least so long".
    TimeOut { at: f64 },
    /// The same, but a time-out counts as "for ever" and two of them as a tie.
    TimeOutForEver { at: f64 },
}

/// A race.
#[derive(Clone, Copy, Debug)]
pub struct Race {
    /// What the slots do.
    pub noise: Noise,
    /// The truth: the natural logarithm of B's time over A's.
    pub truth: f64,
    pub order: Order,
    pub carry_over: Option<CarryOver>,
    pub clock: Clock,
}

impl Race {
    /// A race without carry-over, in random order, by a perfect clock.
    pub fn new(noise: Noise, truth: f64) -> Race {
        Race { noise, truth, order: Order::Coin, carry_over: None, clock: Clock::Exact }
    }

    /// The same race by another clock.
    #[must_use]
    pub fn by(self, clock: Clock) -> Race {
        Race { clock, ..self }
    }

    /// One of the endless runs of this race. Streams are numbered below 65 536.
    pub fn rounds(self, seed: Seed, stream: u64) -> Rounds {
        Rounds {
            race: self,
            seed,
            stream,
            round: 0,
            slots: Slots::new(self.noise),
            chance: Stream::new(seed, Purpose::Simulation, stream, 0),
            coin: Stream::new(seed, Purpose::Order, stream, u32::from(u16::MAX)),
            last: 0,
            block: Block::default(),
            conditions: Conditions::UNKNOWN,
        }
    }

    /// The same, with the conditions of each round.
    pub fn rounds_with_conditions(
        self,
        seed: Seed,
        stream: u64,
    ) -> impl Iterator<Item = (LogRatio, Conditions)> {
        let mut rounds = self.rounds(seed, stream);
        std::iter::from_fn(move || {
            let d = rounds.next()?;
            Some((d, rounds.conditions))
        })
    }
}

/// The rounds of one run of a race.
pub struct Rounds {
    race: Race,
    seed: Seed,
    stream: u64,
    round: u64,
    slots: Slots,
    chance: Stream,
    coin: Stream,
    /// Who ran last: 0 for A, 1 for B.
    last: usize,
    block: Block,
    /// Of the last round.
    conditions: Conditions,
}

impl Rounds {
    /// The log times of A and B in the next round.
    pub fn log_times(&mut self) -> [f64; 2] {
        let gain = self.race.carry_over.map_or(0.0, |c| c.self_follow_gain);
        let first = self.draw_first();
        let mut log_times = [0.0; 2];
        let mut waited = 0.0f64;
        for (who, slot_gain) in [(first, 0.0), (1 - first, self.race.noise.second_slot_gain)] {
            let effect = if who == 1 { self.race.truth } else { 0.0 };
            let warmth = if who == self.last { gain } else { 0.0 };
            log_times[who] = self.slots.next(&mut self.chance) + effect - slot_gain - warmth;
            self.last = who;
            waited = waited.max(self.slots.waited);
        }
        let slot = if first == 0 { 1.0 } else { -1.0 };
        let goes_on = self.block.goes_on();
        self.conditions = Conditions { slot, delay: Some(waited), goes_on, rests: false };
        self.round += 1;
        log_times
    }

    /// Who runs first. Where a primer may run, the coins are those that the laboratory draws.
    fn draw_first(&mut self) -> usize {
        match (self.race.order, self.race.carry_over) {
            (Order::Fixed, _) => 0,
            (Order::Coin, None) => (self.coin.next_u32() & 1) as usize,
            (Order::Coin, Some(carry_over)) => {
                let place = (self.round, self.stream as u32);
                let coins = self.block.draw(self.seed, place, &[0, 1], carry_over.primer);
                self.last = coins.primer.unwrap_or(self.last);
                self.block.take(self.seed, &coins);
                coins.order[0]
            }
        }
    }
}

impl Iterator for Rounds {
    type Item = LogRatio;

    fn next(&mut self) -> Option<LogRatio> {
        let [a, b] = self.log_times();
        let timed_out = |log_time: f64, at: f64| log_time >= libm::log(at);
        Some(match self.race.clock {
            Clock::Exact => LogRatio::exact(b - a),
            Clock::Steps { step, widened } => {
                let read =
                    |log_time| Reading::exact(libm::round(libm::exp(log_time) / step) * step);
                let known_step = if widened { step } else { 0.0 };
                LogRatio::between(read(a), read(b), known_step, RESOLUTION)
            }
            Clock::TimeOut { at } => {
                let read = |log_time| {
                    if timed_out(log_time, at) {
                        Reading { low: at, high: f64::INFINITY }
                    } else {
                        Reading::exact(libm::exp(log_time))
                    }
                };
                LogRatio::between(read(a), read(b), 0.0, RESOLUTION)
            }
            Clock::TimeOutForEver { at } => {
                LogRatio::exact(match (timed_out(a, at), timed_out(b, at)) {
                    (true, true) => 0.0,
                    (true, false) => f64::NEG_INFINITY,
                    (false, true) => f64::INFINITY,
                    (false, false) => b - a,
                })
            }
        })
    }
}
