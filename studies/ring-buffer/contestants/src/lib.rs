//! The contestants in Rust: a ring whose write position is what a feature chooses.

#[cfg(feature = "bare")]
mod bare;
mod consumer;
mod input;
mod race;
mod ring;

#[cfg(feature = "bare")]
use bare::Bare as Position;
#[cfg(not(feature = "bare"))]
use events::events::Chosen as Position;

tiebreak_abi::contestant!(race::Race<Position>);
