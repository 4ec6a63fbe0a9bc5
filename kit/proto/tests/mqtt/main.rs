//! MQTT: vectors of the standards, what is refused, and properties over made-up packets.

#[path = "../common/mod.rs"]
mod common;
mod header;
mod holds;
mod malformed;
mod peer;
mod permitted;
mod refused;
mod round_trips;
mod topics;
mod vectors;
