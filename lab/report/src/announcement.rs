//! The announcement before a run: the least observations that a claim needs.

use crate::prelude::*;
use crate::property::trial_noun;
use tiebreak_core::plan::Budget;

/// Returns the least trials that could settle a claim about a share, the reason, and whether the
/// budget is less; `None` of other claims.
pub fn announcement(claim: &ClaimResult, budget: &Budget) -> Option<String> {
    let share = claim.share.as_ref()?;
    let noun = trial_noun(claim);
    let (hold, refute) = (share.least_trials_to_hold, share.least_trials_to_refute);
    let mut text = format!(
        "'{}' needs at least {hold} {noun}s to hold, and {refute} to be refuted",
        claim.claim
    );
    if share.is_chain {
        text += ", some failures among them: without any nothing is known of how long they last";
    }
    if share.block > 1 {
        let block = share.block;
        text += &format!(
            ": {block} {noun}s one after the other are one observation, because failures come in \
             bursts"
        );
        if noun == "line" {
            text += " (--independent lets each be one, if nothing ties them together; --markov \
                     lets each depend on the one before)";
        }
    }
    match budget.rounds.filter(|rounds| *rounds < hold) {
        Some(rounds) if rounds < refute => {
            text += &format!("; the budget of {rounds} is not enough for either");
        }
        Some(rounds) => text += &format!("; with the budget of {rounds} it can only be refuted"),
        None => {}
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::shares;
    use tiebreak_core::verdict::Verdict;

    #[test]
    fn a_budget_that_is_too_small_is_told_before_it_is_spent() {
        let none = shares::share(0, 0, [None, None]);
        let (hold, refute) = (none.share.least_trials_to_hold, none.share.least_trials_to_refute);
        let claim = shares::succeeds(Verdict::Undecided, 0.98, 0.96, none);
        for (rounds, expected) in [
            (None, None),
            (Some(hold), None),
            (Some(hold - 1), Some("can only be refuted")),
            (Some(refute - 1), Some("not enough for either")),
        ] {
            let text = announcement(&claim, &Budget { rounds, seconds: None }).unwrap();
            assert!(text.contains(&format!("at least {hold} ")), "{text}");
            match expected {
                Some(expected) => assert!(text.ends_with(expected), "{text}"),
                None => assert!(!text.contains("budget"), "{text}"),
            }
        }
    }
}
