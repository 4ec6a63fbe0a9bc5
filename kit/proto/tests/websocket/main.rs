//! WebSocket: examples of the standard, what is refused, and properties over made-up messages.

mod close;
#[path = "../common/mod.rs"]
mod common;
mod frames;
mod handshake;
mod messages;
mod peers;
mod utf8;
