//! The exact test by resampling: do two finished sets of numbers differ?
//!
//! Under the null hypothesis the numbers of both sets, put together, might have been split in any
//! way. So the sets are split at random again and again ([`Resampler`]); `p` is the probability
//! that a split gives a difference ([`Statistic`]) at least as extreme as the observed one. How
//! many splits it takes to tell `p` from the level is decided by the splits as they come
//! ([`ExactTest`]).
//!
//! This is for data that are finished. To look again at data that grow, and to stop when they
//! please, multiplies the error; the engines of claims are for that.

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
