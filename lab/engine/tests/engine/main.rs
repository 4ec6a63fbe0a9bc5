//! The engine in virtual time, a file for each of its parts and promises: linked once, and the long
//! tests of one file run beside those of others.

mod common;

mod check;
mod engine;
mod golden;
mod kill;
mod load;
mod mean;
mod properties;
mod stream;
mod studies;
mod truth;
mod unit;
