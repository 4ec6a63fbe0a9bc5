//! An explorer of x86-TSO for what loom cannot model: instructions that are not atomic and lose
//! flags, interrupts, sleepers. It runs every interleaving of small models of the algorithms of
//! this crate, and of mutations of them, each of which must go wrong.
//!
//! `cargo test -p tiebreak-sync --test tso -- --nocapture` prints what was explored, and for each
//! mutation a shortest run that goes wrong.
#![cfg(not(any(loom, miri)))]

mod catalogue;
mod explore;
mod expression;
mod hardware;
mod liveness;
mod machine;
mod mutations;
mod parse;
mod program;
mod sound;
mod step;
mod steps;
mod write;

use catalogue::{Change, Text, build};
use explore::{Report, explore};
use program::Model;

/// More states than any model here has.
const STATE_COUNT_MAX: usize = 3_000_000;

/// All runs of a model under a strategy; says what it did in one line.
fn explored(model: Text, strategy: Text, change: Option<Change>) -> (Model, Report) {
    let name = format!("{} with {}", model.name, strategy.name);
    let model = build(model, strategy, change).unwrap_or_else(|error| panic!("{error}"));
    let report = explore(&model, STATE_COUNT_MAX).unwrap_or_else(|e| panic!("{name}: {e}"));
    println!(
        "{name}: {} states, {} steps, {} ends, {} cut off by the clock",
        report.state_count, report.step_count, report.complete_count, report.cut_off_count
    );
    (model, report)
}
