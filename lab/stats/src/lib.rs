//! Anytime-valid evidence about ratios.
//!
//! The order of every round is a fair coin. So under "the left contestant does not need less by
//! more than the bar", the sign of a round's log ratio is at best a fair coin too, whatever the
//! noise does. A handful of bettors with fixed stakes bet on it ([`bettor`]). Their weighted wealth
//! is a test martingale ([`bettor::EProcess`]), so the probability that it *ever* reaches `1/e` is
//! at most `e` (Ville 1939). Inverting it over all bars gives the two limits ([`limits`]), and
//! these give both the verdict and the interval ([`decide`]).
//!
//! The other facts about a round ([`conditions`]) may help the bets, as long as they do not reveal
//! which contestant ran where: the cost of running second, and whether a contestant waited for a
//! CPU ([`noise`]).
//!
//! Everything is a pure function of numbers: no clock, no file, no thread, no global generator, and
//! no mathematics of the platform. So a verdict replays bit for bit on any machine.

#![forbid(unsafe_code)]

pub mod beta;
pub mod bettor;
mod bisection;
pub mod blocks;
pub mod capacities;
pub mod change_points;
pub mod classic;
pub mod clusters;
pub mod coins;
pub mod conditions;
pub mod core_sharing;
pub mod decide;
pub mod dependence;
pub mod drift;
pub mod exact;
pub mod family;
pub mod knee;
pub mod learned;
pub mod limits;
pub mod mean_ratio_test;
pub mod mean_test;
pub mod modes;
pub mod noise;
pub mod observation;
pub mod one_factor;
pub mod past;
pub mod power;
pub mod rank_sum;
pub mod rate;
pub mod ratio_test;
pub mod share_test;
pub mod sorted;
pub mod summary;
pub mod unit;
mod whole_powers;
