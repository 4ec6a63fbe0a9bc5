//! Prints what idle connections cost the generator in memory:
//! `cargo run --release -p tiebreak-load --example idle [CONNECTIONS]`.
//!
//! The server only takes the connections; it has them in this process, for 4 bytes each.

use std::error::Error;
use std::net::TcpListener;
use std::num::NonZeroU32;
use std::time::Duration;
use tiebreak_core::load::Spacing;
use tiebreak_load::generator::{self, Load, Pace, Watch};
use tiebreak_load::http::Http;
use tiebreak_load::schedule::{End, Rate};

fn main() -> Result<(), Box<dyn Error>> {
    let given = std::env::args().nth(1).and_then(|number| number.parse().ok());
    let connections = given.unwrap_or(NonZeroU32::MIN.saturating_add(8_999));
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    for connections in [NonZeroU32::MIN, connections] {
        let load = Load {
            address,
            tls: None,
            seed: 1,
            pace: Pace::Open { rate: Rate::per_second(1)?, spacing: Spacing::Constant },
            end: End::Sends(0),
            threads: NonZeroU32::MIN,
            patience: Duration::from_secs(10),
        };
        let http = Http::new("GET", "/", "localhost", connections)?;
        let seen = generator::load(&load, &http, &Watch::default())?;
        let status = std::fs::read_to_string("/proc/self/status")?;
        let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default();
        println!("{connections:6} connections  {:?}  {most}", seen.ending);
    }
    Ok(())
}
