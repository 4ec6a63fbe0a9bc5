//! Simulates how soon and how rightly claims about success rates are settled, and writes JSON.
//!
//! `cargo run --release -p tiebreak-stats --example shares [STREAMS [BURST_STREAMS [REQUESTS]]]`:
//! streams of independent trials for each rate (10 000 if not said), streams of requests whose
//! failures come in bursts (4000) and requests in each of those (200 000). Every number is a
//! function of these sizes: another machine gives the same ones.

mod bursts;
mod methods;
mod rates;
#[path = "../../tests/common/trials.rs"]
#[allow(dead_code, reason = "the tests use the rest")]
mod trials;

use serde_json::json;
use std::process::ExitCode;

fn main() -> ExitCode {
    let sizes: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (streams, burst_streams, requests) = match sizes.as_deref() {
        Ok([]) => (10_000, 4000, 200_000),
        Ok([streams]) => (*streams, 4000, 200_000),
        Ok([streams, bursts]) => (*streams, *bursts, 200_000),
        Ok([streams, bursts, requests]) => (*streams, *bursts, *requests),
        _ => return usage(),
    };
    if streams.min(burst_streams).min(requests) == 0 {
        return usage();
    }
    let data = json!({
        "schema": "tiebreak/shares/1",
        "rates": rates::simulate(streams),
        "bursts": bursts::simulate(burst_streams, requests),
    });
    println!("{data:#}");
    ExitCode::SUCCESS
}

fn usage() -> ExitCode {
    eprintln!("shares [STREAMS [BURST_STREAMS [REQUESTS]]]: whole numbers above 0");
    ExitCode::from(64)
}
