//! What the journal costs a round: `cargo run --release -p tiebreak-store --example round_cost`
//!
//! Prints, for rounds of two samples and one claim, quantiles of the time that writing the coins
//! and the finished round takes together, of the syncs, and of opening the store again.

use serde_json::{from_value, json};
use std::path::Path;
use std::time::Instant;
use tiebreak_core::journal::{Round, RunHeader, Wealth};
use tiebreak_core::sample::Sample;
use tiebreak_core::schedule::RoundCoins;
use tiebreak_store::{Store, StoreError};

const ROUNDS: u64 = 20_000;

fn header() -> Result<RunHeader, serde_json::Error> {
    let contestants = ["A", "B"].map(|name| {
        json!({ "name": name, "command": name, "workload": "", "parameters": [],
                "hooks": { "setup": null, "prepare": null, "conclude": null, "cleanup": null } })
    });
    let claim = json!({ "text": "A is faster than B", "left": "A", "right": "B",
        "relation": { "form": "at_least", "factor": 1.0 }, "metric": "wall_time",
        "workload": null });
    let program = json!({ "shell": null, "input": null, "output": "capture", "directory": null,
        "timeout_ns": null, "check": "default", "success": { "statuses": [] }, "cpus": [],
        "warmup_runs": 0, "wait_for_quiet": true, "output_limit_bytes": 1 << 28 });
    let plan = json!({ "engine_version": 2, "kind": { "kind": "compare" },
        "contestants": contestants,
        "claims": [{ "claim": claim, "left": 0, "right": 1, "error": 0.01 }],
        "error": 0.01, "resolution": 0.01, "budget": { "rounds": ROUNDS, "seconds": null },
        "scope": "binary", "centre": "factor", "seed": "0", "clock_step_ns": 1.0,
        "program": program });
    from_value(json!({ "created_unix_ms": 0, "version": "0.0.0", "command": ["round_cost"],
        "directory": "/", "plan": plan, "machine": {}, "files": [], "claim_key": "" }))
}

fn round(number: u64) -> Round {
    Round {
        coins: RoundCoins {
            round: number,
            attempt: 0,
            primer: 0,
            order: vec![1, 0],
            padding_bytes: vec![640, 3072, 16],
            unit: None,
        },
        waited_ns: 12_345,
        elapsed_ns: 2_500_000 * number,
        samples: vec![Sample::of_wall_ns(1_234_567 + number), Sample::of_wall_ns(1_300_000)],
        batches: Vec::new(),
        wealth: vec![Wealth { claim: 0, evidence_for: 1.1, evidence_against: 0.9 }],
    }
}

fn print(name: &str, mut micros: Vec<f64>) {
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros[((micros.len() - 1) as f64 * share) as usize];
    println!(
        "{name:<22} {:>6} times  median {:>7.1} us  p99 {:>7.1} us  largest {:>8.1} us",
        micros.len(),
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn micros_since(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64 / 1e3
}

fn measure(path: &Path, header: &RunHeader) -> Result<(), StoreError> {
    let start = Instant::now();
    let mut store = Store::open(path)?;
    print("make a store", vec![micros_since(start)]);
    let start = Instant::now();
    let run = store.create_run(header)?;
    print("create a run", vec![micros_since(start)]);
    let (mut rounds, mut syncs) = (Vec::new(), Vec::new());
    for number in 0..ROUNDS {
        let round = round(number);
        let start = Instant::now();
        store.begin_attempt(&run, &round.coins)?;
        store.finish_round(&run, &round, &[], &[])?;
        rounds.push(micros_since(start));
        let start = Instant::now();
        if store.sync_if_due(round.elapsed_ns)? {
            syncs.push(micros_since(start));
        }
    }
    print("coins and round", rounds);
    print("sync", syncs);
    let start = Instant::now();
    let rounds = store.journal(&run)?.rounds.len();
    print("read the journal", vec![micros_since(start)]);
    let start = Instant::now();
    drop(store);
    print("close", vec![micros_since(start)]);
    let mut opens = Vec::new();
    for _ in 0..50 {
        let start = Instant::now();
        let store = Store::open(path)?;
        opens.push(micros_since(start));
        drop(store);
    }
    print("open", opens);
    let bytes = std::fs::metadata(path).map_or(0, |file| file.len());
    println!("{} bytes a round in the file", bytes / rounds as u64);
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // In the current folder: a temporary one is often in memory.
    let folder = tempfile::tempdir_in(".")?;
    Ok(measure(&folder.path().join("journal.db"), &header()?)?)
}
