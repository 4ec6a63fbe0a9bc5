//! What is said before anything is observed: how many observations it takes at least.

use crate::property::trial_noun;
use tiebreak_core::result::ClaimResult;

/// The least that could settle a claim about a share, and why it is so much; `None` of others.
pub fn announcement(claim: &ClaimResult) -> Option<String> {
    let share = claim.share.as_ref()?;
    let noun = trial_noun(claim);
    let (hold, refute) = (share.least_trials_to_hold, share.least_trials_to_refute);
    let least = format!(
        "'{}' needs at least {hold} {noun}s to hold, and {refute} to be refuted",
        claim.claim
    );
    Some(match share.block {
        1 => least,
        block => format!(
            "{least}: {block} {noun}s one after the other are one observation, because failures \
             come in bursts (--independent lets each be one, if nothing ties them together)"
        ),
    })
}
