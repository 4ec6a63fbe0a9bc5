//! `--dry-run`: the plan in words, without running anything.

use crate::exit;
use crate::failure::Failure;
use crate::io::Io;
use tiebreak::core::plan::Plan;
use tiebreak::core::quantity::{format_ns, format_percent};
use tiebreak::measure::{Programs, interrupt};

/// Checks that the programs could be started, and says what would be raced.
pub fn run(plan: &Plan, io: &mut Io) -> Result<u8, Failure> {
    Programs::new(plan, interrupt::flag())?;
    io.out(&describe(plan));
    Ok(exit::HOLDS)
}

/// One line a contestant and one a claim, with its share of the error.
fn describe(plan: &Plan) -> String {
    let mut text = String::from("contestants\n");
    for contestant in &plan.contestants {
        text += &format!("  {}: {}\n", contestant.name, contestant.command);
    }
    text += "claims, with their share of the error\n";
    for planned in &plan.claims {
        text += &format!("  {}: {}\n", planned.claim.text, format_percent(planned.error));
    }
    let rounds = plan.budget.rounds.map(|rounds| format!("{rounds} rounds"));
    let seconds = plan.budget.seconds.map(|seconds| format_ns(seconds * 1e9));
    let budget: Vec<String> = rounds.into_iter().chain(seconds).collect();
    text += &format!("budget {}\nseed {}\n", budget.join(", "), plan.seed);
    text
}
