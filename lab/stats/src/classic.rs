//! The Confidence Sequence Method as published, kept as a classic and as an oracle.
//!
//! The functions of Paul Khuong's "Testing slo-type properties with the Confidence Sequence Method"
//! (pvk.ca, 2018) and of its package `csm`. The method is Robbins's criterion (1970) as a test of a
//! success rate that may be checked after every trial (Ding, Gandy and Hahn 2017), with every
//! rounding made towards "not yet". The code is written anew from the text. Its numbers equal those
//! of the text to ten digits and more, and its names are the text's.
//!
//! | function | gives |
//! |---|---|
//! | [`csm`] | whether `s` successes in `n` trials rule out the rate `alpha` |
//! | [`log_choose`] | an upper bound of `ln C(n, s)` |
//! | [`beta_icdf`] | an outer bound of a tail quantile of Beta(a, b) |
//! | [`quantile_index`] | the ranks between which a quantile lies |
//! | [`Driver`] | the loop that asks after every trial whether to stop |
//! | [`Power`] | how often that loop succeeds, estimated by the loop itself |
//!
//! Where the published C, Lisp and Python differ, the code follows the Lisp form, because it made
//! the numbers of the text. Logarithms come from the `libm` crate instead of the platform, so the
//! results are the same bits on every machine.
//!
//! For new work use [`share_test`](crate::share_test): it needs fewer trials.

mod beta_icdf;
mod conclusion;
mod csm;
mod driver;
mod error;
mod incbeta;
mod log_choose;
mod power;
mod quantile_index;
mod rounding;
mod sum;

pub use beta_icdf::{BetaBound, End, beta_icdf};
pub use conclusion::Conclusion;
pub use csm::{CsmLevel, csm};
pub use driver::{Driver, DriverOptions, Progress};
pub use error::ClassicError;
pub use incbeta::{COUNT_LIMIT, incbeta};
pub use log_choose::{TRIALS_LIMIT, log_choose};
pub use power::{ATTEMPTS_MIN, OUTER_EPS, Power, PowerOptions, PowerResult};
pub use quantile_index::{Rank, quantile_index};
pub use rounding::{log_down, log_up, log1p_down, log1p_up, next, next_k, prev, prev_k};
pub use sum::{SumUp, sum_up};
