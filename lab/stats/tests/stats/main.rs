//! The statistics in worlds whose truth is known, a file for each claim about them.

mod common;

mod adjust;
mod bursts;
mod chain;
mod classic;
mod classic_driver;
mod drift;
mod error_rates;
mod exact;
mod family;
mod learned;
mod mean_ratio;
mod means;
mod negative_controls;
mod one_factor;
mod one_primer;
mod power;
mod properties;
mod shares;
mod shares_rates;
mod sooner;
mod speed;
mod spells;
mod turns;
mod units;
mod vectors;
