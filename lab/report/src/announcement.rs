//! The announcement before a run: the least observations that a claim needs.

use crate::prelude::*;
use crate::property::trial_noun;
use tiebreak_core::plan::Budget;

/// Returns the least trials that could settle a claim about a share, the reason, and whether the
/// budget is less; `None` of other claims. Of a load it is known how many `a_second` there are.
pub fn announcement(claim: &ClaimResult, budget: &Budget, a_second: Option<f64>) -> Option<String> {
    let share = claim.share.as_ref()?;
    let noun = trial_noun(claim);
    let (hold, refute) = (share.least_trials_to_hold, share.least_trials_to_refute);
    let time = |least: u64| a_second.map(|a_second| least as f64 / a_second);
    let [for_hold, for_refute] = [hold, refute]
        .map(|least| time(least).map_or(String::new(), |least| format!(" ({})", seconds(least))));
    let mut text = format!(
        "'{}' needs at least {hold} {noun}s{for_hold} to hold, and {refute}{for_refute} to be \
         refuted",
        claim.claim
    );
    if share.is_chain {
        text += ", some failures among them: without any nothing is known of how long they last";
    }
    if share.block > 1 {
        let block = share.block;
        text += &format!(
            ": {block} {noun}s one after the other are one observation, because failures come in \
             bursts{}",
            if noun == "message" { " (--block)" } else { "" }
        );
        if noun == "line" {
            text += " (--independent lets each be one, if nothing ties them together; --markov \
                     lets each depend on the one before)";
        }
    }
    if let Some(most) = budget.seconds.filter(|most| time(hold).is_some_and(|hold| hold > *most)) {
        let only = if time(refute).is_some_and(|refute| refute > most) {
            "is not enough for either"
        } else {
            "is not enough for it to hold"
        };
        text += &format!("; {} {only}", seconds(most));
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
            let text = announcement(&claim, &Budget { rounds, seconds: None }, None).unwrap();
            assert!(text.contains(&format!("at least {hold} ")), "{text}");
            match expected {
                Some(expected) => assert!(text.ends_with(expected), "{text}"),
                None => assert!(!text.contains("budget"), "{text}"),
            }
        }
        let a_second = 10.0;
        let (hold_s, refute_s) = (hold as f64 / a_second, refute as f64 / a_second);
        for (most, expected) in [
            (hold_s + 1.0, None),
            (hold_s - 0.01, Some("is not enough for it to hold")),
            (refute_s - 0.01, Some("is not enough for either")),
        ] {
            let budget = Budget { rounds: None, seconds: Some(most) };
            let text = announcement(&claim, &budget, Some(a_second)).unwrap();
            assert_eq!(expected.is_some(), text.contains("not enough"), "{text}");
            assert!(expected.is_none_or(|expected| text.ends_with(expected)), "{text}");
        }
    }
}
