//! What must be true of a journal before anything is computed from it: every index in it names
//! something. A file can come from anywhere.

use tiebreak_core::journal::{Event, RecordedVerdict, Round};
use tiebreak_core::plan::Plan;
use tiebreak_core::schedule::RoundCoins;

type Checked = Result<(), String>;

fn contestant(plan: &Plan, index: usize, what: &str) -> Checked {
    match plan.contestants.len() {
        known if index < known => Ok(()),
        known => Err(format!("{what} names contestant {index} of {known} (counted from 0)")),
    }
}

fn claim(plan: &Plan, index: usize, what: &str) -> Checked {
    match plan.claims.len() {
        known if index < known => Ok(()),
        known => Err(format!("{what} names claim {index} of {known} (counted from 0)")),
    }
}

/// A plan can be judged: its numbers are in range, and its claims name its contestants.
pub(crate) fn plan(plan: &Plan) -> Checked {
    let is_error = |error: f64| error > 0.0 && error < 1.0;
    if !is_error(plan.error) || plan.claims.iter().any(|claim| !is_error(claim.error)) {
        return Err("an error of the plan is not between 0 and 1".to_owned());
    }
    let is_step = plan.clock_step_ns.is_finite() && plan.clock_step_ns > 0.0;
    if !(0.0..1.0).contains(&plan.resolution) || !is_step {
        return Err("the resolution or the clock's step of the plan is out of range".to_owned());
    }
    for (index, contestant) in plan.contestants.iter().enumerate() {
        if plan.contestants[..index].iter().any(|other| other.name == contestant.name) {
            return Err(format!("two contestants are called '{}'", contestant.name));
        }
    }
    for claim in &plan.claims {
        contestant(plan, claim.left, "a claim")?;
        contestant(plan, claim.right, "a claim")?;
    }
    Ok(())
}

/// The coins name contestants of the plan, each at most once in the order.
pub(crate) fn coins(plan: &Plan, coins: &RoundCoins) -> Checked {
    let what = format!("attempt {} at round {}", coins.attempt, coins.round);
    contestant(plan, coins.primer, &what)?;
    let mut seen = vec![false; plan.contestants.len()];
    for index in &coins.order {
        contestant(plan, *index, &what)?;
        if std::mem::replace(&mut seen[*index], true) {
            return Err(format!("{what} names contestant {index} twice"));
        }
    }
    Ok(())
}

/// The round is the one that comes next, has one sample an entry of its order, and its wealth names
/// claims of the plan.
pub(crate) fn round(plan: &Plan, expected: usize, round: &Round) -> Checked {
    if round.coins.round != expected as u64 {
        return Err(format!("round {} stands where round {expected} should", round.coins.round));
    }
    coins(plan, &round.coins)?;
    let (given, drawn) = (round.samples.len(), round.coins.order.len());
    let what = format!("round {}", round.coins.round);
    if given != drawn {
        return Err(format!("{what} has {given} samples for an order of {drawn}"));
    }
    round.wealth.iter().try_for_each(|wealth| claim(plan, wealth.claim, &what))
}

/// The event names contestants of the plan.
pub(crate) fn event(plan: &Plan, event: &Event) -> Checked {
    match event {
        Event::Void { contestant: index, .. } => contestant(plan, *index, "an event"),
        Event::FirstOutputs { outputs } if outputs.len() != plan.contestants.len() => Err(format!(
            "there are {} first outputs of {} contestants",
            outputs.len(),
            plan.contestants.len()
        )),
        _ => Ok(()),
    }
}

/// The verdict names a claim of the plan.
pub(crate) fn verdict(plan: &Plan, verdict: &RecordedVerdict) -> Checked {
    claim(plan, verdict.claim, "a verdict")
}
