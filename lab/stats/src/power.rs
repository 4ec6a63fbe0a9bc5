//! The rounds that a claim will need, and the differences that a comparison could find, by
//! simulation.
//!
//! A [`Scenario`] runs a claim once in a world with known truth and noise. A [`Tally`] counts the
//! results of many such runs. A [`ChanceTest`] proves on which side of a wanted chance the chance
//! to end in time lies, with the same evidence that settles claims.

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
