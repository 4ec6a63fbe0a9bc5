//! Prints what open and closed loops say of a server that stops for 100 ms at each full second:
//! `cargo run --release -p tiebreak-load --example stall [SECONDS]`.
//!
//! The truth is a property of the server alone. A message that comes at a random moment waits
//! longer than `x` with probability `(100 ms - x) / 1000 ms`: p95 is 50 ms, p99 is 90 ms, p99.9 is
//! 99 ms.

#[path = "../tests/sockets/echo.rs"]
mod echo;
#[path = "../tests/sockets/server.rs"]
mod server;

use std::num::NonZeroU32;
use std::time::{Duration, Instant};
use tiebreak_core::load::Spacing;
use tiebreak_load::generator::{self, Load, LoadError, Pace, Watch};
use tiebreak_load::schedule::{End, Rate, SECOND_NS};

const STALL: Duration = Duration::from_millis(100);
const CONNECTIONS: u32 = 10;
const RATE: u64 = 500;

fn main() -> Result<(), LoadError> {
    let seconds = std::env::args().nth(1).and_then(|seconds| seconds.parse().ok()).unwrap_or(10);
    let begun = Instant::now();
    let server = echo::serve(move || {
        move |frame| {
            let into_second = Duration::from_nanos(begun.elapsed().subsec_nanos().into());
            std::thread::sleep(STALL.saturating_sub(into_second));
            Some(frame.to_vec())
        }
    });
    let open = |spacing| {
        let rate = Rate::per_second(RATE).ok();
        rate.map(|rate| Pace::Open { rate, spacing })
    };
    let in_flight = Some(NonZeroU32::MIN);
    for (name, pace) in [
        ("constant rate", open(Spacing::Constant)),
        ("random", open(Spacing::Poisson)),
        ("closed loop", Some(Pace::Closed { in_flight })),
    ] {
        let Some(pace) = pace else { continue };
        let load = Load {
            address: server.address,
            tls: None,
            seed: 1,
            pace,
            end: End::Ns(seconds * SECOND_NS),
            threads: NonZeroU32::MIN,
            patience: Duration::from_secs(5),
        };
        let seen = generator::load(&load, &echo::Echo::of(CONNECTIONS), &Watch::default())?;
        print!("{name:13} {:8} messages", seen.counts.arrived);
        for (quantile, share) in [("p50", 0.5), ("p95", 0.95), ("p99", 0.99), ("p99.9", 0.999)] {
            if let Some(found) = seen.latencies.value_at(share) {
                let [low, high] = [found.low_ns, found.high_ns].map(|ns| ns as f64 / 1e6);
                print!("  {quantile} {low:.2} to {high:.2} ms");
            }
        }
        let per_message_ns = seen.generator_cpu_ns / seen.counts.sent.max(1);
        println!("  {} late, {per_message_ns} ns of CPU each", seen.punctuality.late);
    }
    Ok(())
}
