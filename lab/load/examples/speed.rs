//! Prints what a message costs the generator, against a server that echoes whatever comes:
//! `cargo run --release -p tiebreak-load --example speed [CONNECTIONS [THREADS]]`.
//!
//! The closed loop is at its limit; the open ones show what sleeping between messages costs.

#[path = "../tests/sockets/echo.rs"]
mod echo;
#[path = "../tests/sockets/server.rs"]
mod server;

use std::num::NonZeroU32;
use std::time::Duration;
use tiebreak_core::load::Spacing;
use tiebreak_load::generator::{self, Load, LoadError, Pace, Watch};
use tiebreak_load::schedule::{End, Rate, SECOND_NS};

fn main() -> Result<(), LoadError> {
    let mut numbers = std::env::args().skip(1).filter_map(|number| number.parse::<u32>().ok());
    let connections = numbers.next().unwrap_or(10);
    let threads = numbers.next().and_then(NonZeroU32::new).unwrap_or(NonZeroU32::MIN);
    let server = echo::serve(|| |frame| Some(frame.to_vec()));
    let open = |rate| {
        let rate = Rate::per_second(rate).ok();
        rate.map(|rate| Pace::Open { rate, spacing: Spacing::Poisson })
    };
    let one_by_one = Some(NonZeroU32::MIN);
    for (name, pace) in [
        ("closed, as many as go", Some(Pace::Closed { in_flight: None })),
        ("closed, one by one", Some(Pace::Closed { in_flight: one_by_one })),
        ("1000 a second", open(1000)),
        ("10 000 a second", open(10_000)),
        ("100 000 a second", open(100_000)),
        ("1 000 000 a second", open(1_000_000)),
    ] {
        let Some(pace) = pace else { continue };
        let load = Load {
            address: server.address,
            tls: None,
            seed: 1,
            pace,
            end: End::Ns(2 * SECOND_NS),
            threads,
            patience: Duration::from_secs(5),
        };
        let seen = generator::load(&load, &echo::Echo::of(connections), &Watch::default())?;
        let arrived = seen.counts.arrived.max(1);
        let lows = seen.latencies.lows().value_at(0.5).map_or(0, |latency| latency.high_ns);
        let highs = seen.latencies.highs().value_at(0.5).map_or(0, |latency| latency.high_ns);
        println!(
            "{name:22} {:8} a second  {:6} ns of CPU each  p50 {lows} to {highs} ns  {:?}  {:?}",
            arrived / 2,
            seen.generator_cpu_ns / arrived,
            seen.punctuality,
            seen.ending,
        );
    }
    Ok(())
}
