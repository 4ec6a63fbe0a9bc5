//! The contestants in Rust: one event count or what stands in for one, chosen by a feature.

mod event;
mod events;
mod input;
mod race;
mod system;
mod waiter;

tiebreak_abi::contestant!(race::Race<events::Chosen>);
