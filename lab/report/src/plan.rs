//! The plan of a run in words.

use tiebreak_core::plan::Plan;
use tiebreak_core::quantity::{Rounding, format_ns, format_percent};

/// Returns one line for each contestant and one for each claim, with its share of the error; then
/// the budget and the seed.
pub fn describe(plan: &Plan) -> String {
    let mut text = String::from("contestants\n");
    for contestant in &plan.contestants {
        text += &format!("  {}: {}\n", contestant.name, contestant.command);
    }
    text += "claims, with their share of the error\n";
    for planned in &plan.claims {
        let error = format_percent(planned.error, Rounding::Up);
        text += &format!("  {}: {error}\n", planned.claim.text);
    }
    let rounds = plan.budget.rounds.map(|rounds| format!("{rounds} rounds"));
    let seconds = plan.budget.seconds.map(|seconds| format_ns(seconds * 1e9));
    let budget: Vec<String> = rounds.into_iter().chain(seconds).collect();
    text += &format!("budget {}\nseed {}\n", budget.join(", "), plan.seed);
    text
}
