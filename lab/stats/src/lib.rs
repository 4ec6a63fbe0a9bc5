//! Anytime-valid evidence about ratios.
//!
//! The order of every round is a fair coin, so under "the left contestant does not need less by
//! more than the bar" the sign of a round's log ratio is at best a fair coin too, whatever the
//! noise does. A handful of bettors with fixed stakes bet on it ([`bettor`]); their weighted wealth
//! is a test martingale ([`eprocess`]), so the probability that it *ever* reaches `1/e` is at most
//! `e` (Ville 1939). Inverting it over all bars gives the two limits ([`limits`]) from which
//! verdict and interval are both read ([`decide`]).
//!
//! Everything is a pure function of numbers: no clock, no file, no thread, no global generator, and
//! no mathematics of the platform, so a verdict replays bit for bit on any machine.

#![forbid(unsafe_code)]

pub mod bettor;
pub mod coins;
pub mod decide;
pub mod eprocess;
pub mod limits;
pub mod observation;
pub mod philox;
pub mod power;
pub mod rate;
pub mod ratio_test;
pub mod scale;
pub mod summary;
pub mod wealth;
