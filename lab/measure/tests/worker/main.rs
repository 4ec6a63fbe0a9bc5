//! Functions in workers: units, checks, probes and faults, with contestants compiled by `cc`.

mod ahead;
mod allocations;
mod cheats;
mod checks;
#[path = "../common/mod.rs"]
mod common;
mod counters;
mod faults;
mod probes;
mod study;
mod threads;
mod units;

use tiebreak_measure::workers::WorkerProgram;

/// The program that is started as a worker.
fn program() -> WorkerProgram {
    let path = env!("CARGO_BIN_EXE_tiebreak-worker");
    WorkerProgram { program: path.into(), arguments: Vec::new() }
}
