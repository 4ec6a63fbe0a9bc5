//! Log ratios whose distribution leans to one side, with the median known.

use tiebreak_stats::coins::{Purpose, Seed, Stream};
use tiebreak_stats::observation::LogRatio;

/// `truth + size (exp(lean z) - 1)` for a standard normal `z`: a shifted lognormal number whose
/// median is the truth. The size changes in steps that last, which leaves the median where it is.
#[derive(Clone, Copy, Debug)]
pub struct Skew {
    pub name: &'static str,
    /// The median.
    pub truth: f64,
    /// The scale; below 0 it leans to the left.
    pub size: f64,
    /// How much it leans.
    pub lean: f64,
}

/// The share of rounds after which the size is drawn anew, between half of it and twice of it.
const CHANGES: f64 = 0.1;

impl Skew {
    /// One of the endless runs.
    pub fn rounds(self, seed: Seed, stream: u64) -> impl Iterator<Item = LogRatio> {
        let mut chance = Stream::new(seed, Purpose::Simulation, stream, 0);
        let mut factor = 1.0;
        std::iter::repeat_with(move || {
            if chance.unit() < CHANGES {
                factor = 0.5 + 1.5 * chance.unit();
            }
            let leaning = libm::expm1(self.lean * chance.normal());
            LogRatio::exact(self.truth + factor * self.size * leaning)
        })
    }
}
