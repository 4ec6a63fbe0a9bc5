//! What the journal costs a round: `cargo run --release -p tiebreak-store --example round_cost`
//!
//! Prints, for rounds of two samples and one claim, quantiles of the time that writing the coins
//! and the finished round takes together, of the syncs, and of opening the store again.

use std::path::Path;
use std::time::Instant;
use tiebreak_core::claim::{Claim, Relation, Statement};
use tiebreak_core::journal::{Round, RunHeader, Wealth};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{
    Adjust, Budget, Centre, Contestant, ENGINE_VERSION, Gate, Hooks, Kind, Plan, PlannedClaim,
    ProgramPlan, Scope,
};
use tiebreak_core::sample::Sample;
use tiebreak_core::schedule::RoundCoins;
use tiebreak_store::{Store, StoreError};

const ROUNDS: u64 = 20_000;

fn contestant(name: &str) -> Contestant {
    Contestant {
        name: name.into(),
        command: name.into(),
        workload: String::new(),
        parameters: Vec::new(),
        hooks: Hooks::default(),
        directory: None,
    }
}

fn header() -> RunHeader {
    let claim = Claim {
        text: "A is faster than B".into(),
        left: "A".into(),
        right: Some("B".into()),
        statement: Statement::Ratio(Relation::AtLeast { factor: 1.0 }),
        metric: Metric::WallTime,
        workload: None,
    };
    RunHeader {
        created_unix_ms: 0,
        version: "0.0.0".into(),
        command: vec!["round_cost".into()],
        directory: "/".into(),
        plan: Plan {
            engine_version: ENGINE_VERSION,
            kind: Kind::Compare,
            contestants: vec![contestant("A"), contestant("B")],
            claims: vec![PlannedClaim {
                claim,
                left: 0,
                right: Some(1),
                error: 0.01,
                gate: Gate::None,
                waits_ns: 0,
            }],
            error: 0.01,
            resolution: 0.01,
            budget: Budget { rounds: Some(ROUNDS), seconds: None },
            scope: Scope::Binary,
            centre: Centre::Factor,
            seed: "0".into(),
            clock_step_ns: 1.0,
            program: ProgramPlan::default(),
            block_runs: 1,
            adjust: Adjust::NONE,
            functions: None,
        },
        machine: Default::default(),
        machine_print: None,
        files: Vec::new(),
        claim_key: String::new(),
    }
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

fn measure(path: &Path) -> Result<(), StoreError> {
    let start = Instant::now();
    let mut store = Store::open(path)?;
    print("make a store", vec![micros_since(start)]);
    let start = Instant::now();
    let run = store.create_run(&header())?;
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
    Ok(measure(&folder.path().join("journal.db"))?)
}
