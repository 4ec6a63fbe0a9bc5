//! What a claim will need, and what a comparison could find: by simulation.
//!
//! A [`Scenario`] runs a claim once in a world whose truth and noise are given; a [`Tally`] counts
//! what becomes of many such runs, and a [`ChanceTest`] proves on which side of a wanted chance the
//! chance to end in time lies, with the same evidence that settles claims.

mod chance;
mod scenario;
mod smallest;
mod tally;
#[cfg(test)]
mod tests;
mod world;

pub use chance::ChanceTest;
pub use scenario::{ClassicScenario, RatioScenario, Scenario, ShareScenario, SimulatedRun};
pub use smallest::{SEARCHED, Smallest, smallest_difference};
pub use tally::Tally;
pub use world::{PILOT_ROUNDS_MIN, Pilot, World};
