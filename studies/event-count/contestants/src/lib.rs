//! The contestants in Rust: one event count or what stands in for one, chosen by a feature.

pub mod event;
pub mod events;
#[cfg(feature = "contestant")]
mod input;
#[cfg(feature = "contestant")]
mod race;
pub mod system;
pub mod waiter;

#[cfg(feature = "contestant")]
tiebreak_abi::contestant!(race::Race<events::Chosen>);
