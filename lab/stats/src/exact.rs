//! The exact test by resampling: do two finished sets of numbers differ?
//!
//! Under the null hypothesis, the numbers of both sets, put together, might have been split in any
//! way. So the sets are split at random again and again ([`Resampler`]). `p` is the probability
//! that a split gives a difference ([`Statistic`]) at least as extreme as the observed one. The
//! splits themselves decide, as they come, how many are needed to distinguish `p` from the level
//! ([`ExactTest`]).
//!
//! This is for finished data. Repeated tests of data that grow, with a stop at any moment, multiply
//! the error; the engines of claims are for that.

mod decision;
mod order;
mod resample;
mod spread;
mod statistic;
mod studentised;
#[cfg(test)]
mod tests;

pub use decision::{Ending, ExactTest, least_permutations};
pub use order::Order;
pub use resample::{Design, Resampler};
pub use spread::histogram;
pub use statistic::{Difference, Statistic, is_extreme};
