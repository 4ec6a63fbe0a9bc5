//! When each message is to be sent: a function of the seed, known before the first byte.

use crate::random::{FRACTION_BITS, Words};
use std::error::Error;
use std::fmt;
use std::num::NonZeroU32;
use tiebreak_core::load::Spacing;

/// The nanoseconds of a second.
pub const SECOND_NS: u64 = 1_000_000_000;

/// The highest rate: a message every 100 ns, which no generator here can send.
pub const RATE_PER_SECOND_MAX: u64 = SECOND_NS / 100;

/// A rate in messages a second: a whole number from 1 to [`RATE_PER_SECOND_MAX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rate(u64);

/// A rate that no schedule can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadRate(u64);

impl fmt::Display for BadRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a rate of {} messages a second: give 1 to {RATE_PER_SECOND_MAX}", self.0)
    }
}

impl Error for BadRate {}

impl Rate {
    /// Returns the rate of so many messages a second.
    ///
    /// # Errors
    /// Fails outside 1 to [`RATE_PER_SECOND_MAX`].
    pub fn per_second(messages: u64) -> Result<Rate, BadRate> {
        let is_good = (1..=RATE_PER_SECOND_MAX).contains(&messages);
        if is_good { Ok(Rate(messages)) } else { Err(BadRate(messages)) }
    }
}

/// Where a schedule ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// After so many sends.
    Sends(u64),
    /// Before the first send at or after this time, in nanoseconds.
    Ns(u64),
}

/// When to send, and on which connection. Equal schedules have equal sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schedule {
    /// Decides everything that is random.
    pub seed: u64,
    /// How the sends are spread over time.
    ///
    /// At equal distances, send `i`, counted from 0, is at `floor(i * 10^9 / rate)` nanoseconds.
    /// That is computed from `i` alone, so it never drifts. At random (a Poisson process), the
    /// gaps are exponentially distributed with mean `10^9 / rate` nanoseconds, the first one from
    /// 0. Each send is at the sum of the gaps, kept to 2^-32 of the mean gap and rounded down once,
    /// so roundings do not add up.
    pub spacing: Spacing,
    /// How many there are a second, over all connections.
    pub rate: Rate,
    /// The connections. They take turns: send `i` is on connection `i mod connections`.
    pub connections: NonZeroU32,
    /// Where it ends. At the latest it ends after 2^64 ns, or 584 years.
    pub end: End,
}

/// A send of a schedule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intended {
    /// The sends before it, over all connections.
    pub index: u64,
    /// The connection, counted from 0.
    pub connection: u32,
    /// The time, in nanoseconds from the start.
    pub at_ns: u64,
}

impl Schedule {
    /// Iterates over all sends, the earliest first. Sends at the same time keep their order.
    pub fn sends(&self) -> Sends {
        self.sends_of(0, NonZeroU32::MIN)
    }

    /// Iterates over the sends of one of several threads, which share the connections: thread `t`
    /// has those whose number leaves `t` when it is divided by the number of threads. Together the
    /// threads have each send once, at the same times as without threads. A thread that is not one
    /// of them, or for which there is no connection, has no sends.
    ///
    /// Cost of a send: at a constant rate a division, at random some 4 random words; and the same
    /// for each send of another thread that lies before it.
    pub fn sends_of(&self, thread: u32, threads: NonZeroU32) -> Sends {
        let has_sends = thread < threads.get().min(self.connections.get());
        Sends {
            schedule: *self,
            turn: (thread, threads),
            next_index: if has_sends { 0 } else { u64::MAX },
            words: Words::new(self.seed),
            mean_gaps: 0,
        }
    }
}

/// The sends of a schedule, made one by one: they take no memory, however many there are. A copy
/// goes on from the same place.
#[derive(Clone, Debug)]
pub struct Sends {
    schedule: Schedule,
    /// The thread, and the number of threads.
    turn: (u32, NonZeroU32),
    next_index: u64,
    words: Words,
    /// The time of the last random send, in mean gaps of 2^-32.
    mean_gaps: u128,
}

impl Sends {
    /// Makes the next send of any thread.
    fn make(&mut self) -> Option<Intended> {
        let Schedule { spacing, rate, connections, end, .. } = self.schedule;
        let index = self.next_index;
        if index == u64::MAX || matches!(end, End::Sends(sends) if index >= sends) {
            return None;
        }
        let at_ns = match spacing {
            Spacing::Constant => u128::from(index) * u128::from(SECOND_NS) / u128::from(rate.0),
            Spacing::Poisson => {
                self.mean_gaps += u128::from(self.words.exponential());
                self.mean_gaps * u128::from(SECOND_NS) / (u128::from(rate.0) << FRACTION_BITS)
            }
        };
        let end_ns = if let End::Ns(end_ns) = end { end_ns } else { u64::MAX };
        let at_ns = u64::try_from(at_ns).ok().filter(|at_ns| *at_ns < end_ns);
        let Some(at_ns) = at_ns else {
            self.next_index = u64::MAX;
            return None;
        };
        self.next_index += 1;
        Some(Intended { index, connection: (index % u64::from(connections.get())) as u32, at_ns })
    }
}

impl Iterator for Sends {
    type Item = Intended;

    fn next(&mut self) -> Option<Intended> {
        loop {
            let send = self.make()?;
            let (thread, threads) = self.turn;
            if send.connection % threads == thread {
                return Some(send);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn schedule(spacing: Spacing, rate: u64, connections: u32, end: End) -> Schedule {
        Schedule {
            seed: 7,
            spacing,
            rate: Rate::per_second(rate).unwrap(),
            connections: NonZeroU32::new(connections).unwrap(),
            end,
        }
    }

    fn times(schedule: Schedule) -> Vec<u64> {
        schedule.sends().map(|send| send.at_ns).collect()
    }

    #[test]
    fn rates_are_checked() {
        assert!(Rate::per_second(1).is_ok() && Rate::per_second(RATE_PER_SECOND_MAX).is_ok());
        let said = Rate::per_second(0).unwrap_err().to_string();
        assert_eq!(said, "a rate of 0 messages a second: give 1 to 10000000");
        assert!(Rate::per_second(RATE_PER_SECOND_MAX + 1).is_err());
    }

    #[test]
    fn every_send_of_a_constant_rate() {
        for (rate, end, expected) in [
            (3, End::Sends(5), &[0, 333_333_333, 666_666_666, 1_000_000_000, 1_333_333_333][..]),
            (4, End::Ns(SECOND_NS), &[0, 250_000_000, 500_000_000, 750_000_000][..]),
            (4, End::Ns(SECOND_NS + 1), &[0, 250_000_000, 500_000_000, 750_000_000, SECOND_NS][..]),
            (RATE_PER_SECOND_MAX, End::Sends(3), &[0, 100, 200][..]),
            (1, End::Sends(0), &[][..]),
            (1, End::Ns(0), &[][..]),
        ] {
            assert_eq!(times(schedule(Spacing::Constant, rate, 2, end)), expected, "{rate}");
        }
        for rate in [1, 7, 999, 1000, 1001, 48_000, 1_000_003] {
            let sends = times(schedule(Spacing::Constant, rate, 3, End::Ns(SECOND_NS)));
            let expected = (0..rate).map(|i| i * SECOND_NS / rate);
            assert!(sends.into_iter().eq(expected), "{rate} sends in the first second");
        }
    }

    /// A year from the start, at rates that divide no second, each second has as many sends as the
    /// first.
    #[test]
    fn a_constant_rate_never_drifts() {
        let year_seconds = 365 * 86_400;
        for rate in [3, 7, 999_983] {
            let mut sends = schedule(Spacing::Constant, rate, 1, End::Sends(u64::MAX)).sends();
            sends.next_index = year_seconds * rate;
            let first_ns = sends.next().unwrap().at_ns;
            assert_eq!(first_ns, year_seconds * SECOND_NS);
            let next_second = sends.find(|send| send.at_ns >= first_ns + SECOND_NS).unwrap();
            assert_eq!(next_second.index, (year_seconds + 1) * rate);
            assert_eq!(next_second.at_ns, first_ns + SECOND_NS);
        }
    }

    #[test]
    fn a_schedule_ends_with_its_clock() {
        let mut sends = schedule(Spacing::Constant, 1, 1, End::Sends(u64::MAX)).sends();
        sends.next_index = u64::MAX / SECOND_NS;
        assert_eq!(sends.next().map(|send| send.at_ns), Some(18_446_744_073 * SECOND_NS));
        assert_eq!(sends.next(), None);
        assert_eq!(sends.next(), None);
    }

    /// The times were computed once by another program (Python, with fractions) from the same
    /// words.
    #[test]
    fn every_send_of_a_random_schedule() {
        let poisson = |seed, rate, sends| {
            let poisson = schedule(Spacing::Poisson, rate, 1, End::Sends(sends));
            times(Schedule { seed, ..poisson })
        };
        assert_eq!(poisson(7, 1000, 6), POISSON_OF_SEED_7);
        assert_eq!(poisson(7, 1000, 6), poisson(7, 1000, 9)[..6]);
        assert_ne!(poisson(8, 1000, 6), POISSON_OF_SEED_7);
        let twice_as_fast = poisson(7, 2000, 6);
        assert!(twice_as_fast.iter().zip(POISSON_OF_SEED_7).all(|(fast, ns)| *fast == ns / 2));
    }

    const POISSON_OF_SEED_7: [u64; 6] =
        [1_582_930, 2_686_490, 4_012_851, 4_770_173, 5_193_946, 7_248_186];

    /// Counts per 10 ms have mean and variance 10: limits at 5 standard errors.
    #[test]
    fn random_sends_are_poisson() {
        let end = End::Ns(20 * SECOND_NS);
        let mut counts = [0.0; 2000];
        for at_ns in times(schedule(Spacing::Poisson, 1000, 1, end)) {
            counts[(at_ns / (SECOND_NS / 100)) as usize] += 1.0;
        }
        let mean = counts.iter().sum::<f64>() / 2000.0;
        let variance = counts.iter().map(|n: &f64| (n - mean).powi(2)).sum::<f64>() / 1999.0;
        assert!((mean - 10.0).abs() < 5.0 * (10.0f64 / 2000.0).sqrt(), "{mean}");
        assert!((variance - 10.0).abs() < 5.0 * 10.0 * (2.1f64 / 2000.0).sqrt(), "{variance}");
    }

    #[test]
    fn connections_take_turns() {
        for spacing in [Spacing::Constant, Spacing::Poisson] {
            let schedule = schedule(spacing, 10, 3, End::Sends(7));
            let connections: Vec<u32> = schedule.sends().map(|send| send.connection).collect();
            assert_eq!(connections, [0, 1, 2, 0, 1, 2, 0]);
            assert!(schedule.sends().eq(schedule.sends()));
        }
    }

    #[test]
    fn threads_have_each_send_once() {
        for spacing in [Spacing::Constant, Spacing::Poisson] {
            for (connections, threads) in [(1, 1), (7, 2), (8, 4), (5, 5), (2, 3)] {
                let schedule = schedule(spacing, 1000, connections, End::Sends(100));
                let threads = NonZeroU32::new(threads).unwrap();
                let mut of_all: Vec<Intended> =
                    (0..threads.get()).flat_map(|t| schedule.sends_of(t, threads)).collect();
                of_all.sort_by_key(|send| send.index);
                assert!(schedule.sends().eq(of_all), "{connections} on {threads}");
                for thread in 0..threads.get() {
                    let mut sends = schedule.sends_of(thread, threads);
                    assert!(sends.all(|send| send.connection % threads == thread));
                }
                assert_eq!(schedule.sends_of(threads.get(), threads).next(), None);
            }
        }
    }
}
