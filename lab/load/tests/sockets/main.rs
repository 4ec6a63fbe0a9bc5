//! The generator against servers of these tests, over sockets of this machine. No test asserts how
//! long anything took; where an order of events matters, the server makes sure of it.

mod breaks;
mod closed;
mod counts;
mod echo;
mod http;
mod server;
mod stall;
mod tls;

use std::num::NonZeroU32;
use std::time::Duration;
use tiebreak_core::load::Spacing;
use tiebreak_load::generator::{Load, Pace};
use tiebreak_load::schedule::{End, Rate};

/// Long enough for whatever a busy machine does; only tests that lose messages wait for it.
const PATIENCE: Duration = Duration::from_secs(30);

/// Returns a load of a server at a constant rate.
fn load(server: &server::Server, rate: u64, end: End) -> Load {
    Load {
        address: server.address,
        tls: None,
        seed: 1,
        pace: Pace::Open { rate: Rate::per_second(rate).unwrap(), spacing: Spacing::Constant },
        end,
        threads: NonZeroU32::MIN,
        patience: PATIENCE,
    }
}

fn number(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap()
}
