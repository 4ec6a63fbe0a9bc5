//! The least length of a batch for its clock, and for an energy meter.

use std::time::Duration;
use tiebreak_machine::clock;
use tiebreak_machine::meters::Energy;

/// The largest share of a batch for step and cost of the clock.
const SHARE: f64 = 0.001;
/// The number of reads of the clock that determine its cost.
const READS: u32 = 1000;

/// The clock that times batches, as it is on this machine.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// The step in which it moves, in nanoseconds.
    pub step_ns: f64,
    /// The cost of reading it twice, in nanoseconds: that much of a batch may be the clock's own.
    pub cost_ns: f64,
}

impl Clock {
    /// Measures the clock. Takes less than a millisecond if a read takes less than 100 ns.
    pub fn measure() -> Clock {
        let step_ns = clock::step_ns() as f64;
        let start_ns = clock::monotonic_ns();
        for _ in 0..READS {
            std::hint::black_box(clock::monotonic_ns());
        }
        let read_ns = (clock::monotonic_ns() - start_ns) as f64 / f64::from(READS);
        Clock { step_ns, cost_ns: 2.0 * read_ns }
    }

    /// Returns the shortest batch for which step and cost together are at most 0.1%, in
    /// nanoseconds.
    pub fn shortest_batch_ns(&self) -> f64 {
        (self.step_ns + self.cost_ns) / SHARE
    }
}

/// The number of moves of an energy meter that a batch must last: one may be missed at either end.
const MOVES: u64 = 100;
/// The longest observation of an energy meter to determine how often it moves.
const LOOK: Duration = Duration::from_millis(50);

/// Returns the shortest batch that the energy meter resolves to a hundredth, in nanoseconds; `None`
/// without a meter that moves. Takes some 30 ms.
pub fn shortest_energy_batch_ns() -> Option<f64> {
    let period_ns = Energy::open().ok()?.period_ns(LOOK, &|| false)?;
    Some(period_ns.saturating_mul(MOVES) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_are_long_enough_for_the_clock() {
        let clock = Clock { step_ns: 10.0, cost_ns: 40.0 };
        assert_eq!(clock.shortest_batch_ns(), 50_000.0);
        let measured = Clock::measure();
        assert!(measured.step_ns >= 1.0 && measured.cost_ns > 0.0, "{measured:?}");
        // Without a meter, energy requires nothing; with one, more than the clock does.
        let energy_ns = shortest_energy_batch_ns();
        assert!(Energy::open().is_ok() || energy_ns.is_none());
        assert!(energy_ns.is_none_or(|ns| ns > 0.0));
    }
}
