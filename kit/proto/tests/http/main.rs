//! HTTP/1.1: examples of the standard, what is refused, and properties over made-up messages.

mod bodies;
mod chunks;
#[path = "../common/mod.rs"]
mod common;
mod heads;
mod properties;
