//! Counts false verdicts and missed intervals in worlds where the truth is known, and writes JSON.
//!
//! `cargo run --release -p tiebreak-lab --example truth [COMPARISONS [ROUNDS]]`: comparisons for
//! each cell (400 if not said), with at most so many rounds each (100). Every number is a function
//! of these two: another machine gives the same ones.

#[path = "../tests/engine/common/mod.rs"]
mod common;

use common::worlds::{Counts, FORMS, Peer, WORLDS, World, by_engine, count};
use serde_json::{Value, json};
use std::process::ExitCode;

/// The error of each comparison, that of the peer's test too.
const ERROR: f64 = 0.05;
/// How much longer B takes.
const SLOWER: [f64; 2] = [0.0, 0.02];

fn main() -> ExitCode {
    let sizes: Result<Vec<u64>, _> = std::env::args().skip(1).map(|word| word.parse()).collect();
    let (comparisons, rounds) = match sizes.as_deref() {
        Ok([]) => (400, 100),
        Ok([comparisons]) => (*comparisons, 100),
        Ok([comparisons, rounds]) => (*comparisons, *rounds),
        _ => (0, 0),
    };
    if comparisons.min(rounds) == 0 {
        eprintln!("truth [COMPARISONS [ROUNDS]]: whole numbers above 0");
        return ExitCode::from(64);
    }
    let rows: Vec<Value> =
        WORLDS.iter().flat_map(|world| row(world, comparisons, rounds)).collect();
    let data = json!({
        "schema": "tiebreak/truth/1", "comparisons": comparisons, "rounds": rounds,
        "error": ERROR, "slower": SLOWER[1], "rows": rows,
    });
    println!("{data:#}");
    ExitCode::SUCCESS
}

/// A world by tiebreak, once for each form, and by Welch's test of programs.
fn row(world: &World, comparisons: u64, rounds: u64) -> Vec<Value> {
    let ours = FORMS.iter().map(|form| {
        let cell = |slower: f64| {
            let name = format!("{} {slower}", form.name());
            count(comparisons, &name, |seed| {
                by_engine(form.plan(seed, ERROR, rounds), world, slower)
            })
        };
        entry(world, form.name(), SLOWER.map(cell))
    });
    let welch = |slower: f64| {
        let name = format!("Welch {slower}");
        count(comparisons, &name, |seed| Peer::Blocks.compare(seed, world, slower))
    };
    ours.chain([entry(world, "Welch", SLOWER.map(welch))]).collect()
}

fn entry(world: &World, what: &str, [same, slower]: [Counts; 2]) -> Value {
    eprintln!("truth: {}: {what}: {same:?} {slower:?}", world.name);
    let cell = |counts: Counts| {
        let Counts { found, wrong, missed, .. } = counts;
        json!({ "found": found, "wrong": wrong, "missed": missed })
    };
    json!({ "world": world.name, "what": what, "same": cell(same), "slower": cell(slower) })
}
