//! The checks of a journal before anything is computed from it: every index in it must be valid. A
//! file can come from anywhere.

use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::journal::{Event, RecordedVerdict, Round};
use tiebreak_core::plan::{Centre, Kind, Plan, PlannedClaim};
use tiebreak_core::schedule::RoundCoins;

type Checked = Result<(), String>;

fn contestant(plan: &Plan, index: usize, what: &str) -> Checked {
    exists(index, plan.contestants.len(), what, "contestant")
}

fn claim(plan: &Plan, index: usize, what: &str) -> Checked {
    exists(index, plan.claims.len(), what, "claim")
}

fn exists(index: usize, known: usize, what: &str, kind: &str) -> Checked {
    let is_known = (index < known).then_some(());
    is_known.ok_or_else(|| format!("{what} names {kind} {index} of {known} (counted from 0)"))
}

/// Checks that a plan can be judged: its numbers are in range, and its claims name its contestants.
pub(crate) fn plan(plan: &Plan) -> Checked {
    if !is_share(plan.error) || plan.claims.iter().any(|claim| !is_share(claim.error)) {
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
    if plan.block_runs == 0 {
        return Err("the blocks of the plan have no runs".to_owned());
    }
    if let Kind::Stream { scale: Some(scale), .. } = plan.kind
        && !is_factor(scale)
    {
        return Err("the scale of the plan's stream is out of range".to_owned());
    }
    plan.claims.iter().try_for_each(|claim| planned(plan, claim))
}

/// Checks that a claim names its contestants: a ratio needs two, a property of one contestant has
/// no other.
fn planned(plan: &Plan, claim: &PlannedClaim) -> Checked {
    let statement = claim.claim.statement;
    contestant(plan, claim.left, "a claim")?;
    if let Some(right) = claim.right {
        contestant(plan, right, "a claim")?;
    }
    let is_of_two = statement.is_of_two();
    if is_of_two != claim.right.is_some() {
        return Err(if is_of_two {
            "a claim about two contestants names only one".to_owned()
        } else {
            "a claim about one contestant names two".to_owned()
        });
    }
    if matches!(plan.kind, Kind::Stream { .. }) && is_of_two {
        return Err("a claim about the lines of a stream compares contestants".to_owned());
    }
    let cap = plan.cap_of_means(claim.claim.metric).filter(|cap| *cap > 0.0);
    if plan.centre == Centre::Mean && statement.relation().is_some() && cap.is_none() {
        return Err(format!(
            "'{}' is about a ratio of means that nothing caps: it must be about wall time, and its \
             plan needs a time-out above 0",
            claim.claim.text
        ));
    }
    if is_in_range(statement) { Ok(()) } else { Err("a number of a claim is out of range".into()) }
}

fn is_in_range(statement: Statement) -> bool {
    match statement {
        Statement::Ratio(relation) => match relation {
            Relation::Order => true,
            Relation::Measure { precision } => is_factor(precision),
            Relation::AtLeast { factor } => is_factor(factor),
            Relation::NoMoreThan { fraction } | Relation::Within { fraction } => {
                fraction >= 0.0 && fraction.is_finite()
            }
        },
        Statement::Property(property) => match property {
            Property::InShareOfRounds { factor, share } => is_factor(factor) && is_share(share),
            Property::Succeeds { good, bad } => are_shares(good, bad),
            Property::Quantile { good, bad, bar } => are_shares(good, bad) && bar.is_finite(),
            Property::Mean { bar, cap, .. } => {
                bar.is_finite() && cap.is_none_or(|cap| cap.is_finite() && cap > bar)
            }
        },
    }
}

fn is_share(share: f64) -> bool {
    share > 0.0 && share < 1.0
}

fn are_shares(good: f64, bad: f64) -> bool {
    is_share(good) && is_share(bad) && bad <= good
}

fn is_factor(factor: f64) -> bool {
    factor > 0.0 && factor.is_finite()
}

/// Checks that the coins name contestants of the plan, each at most once in the order.
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
    if coins.unit.as_ref().is_some_and(|unit| unit.placements.len() != coins.order.len()) {
        return Err(format!("{what} has not one placement for each contestant"));
    }
    Ok(())
}

/// Checks that the round is the next one, has one sample per entry of its order, and that its
/// wealth names claims of the plan.
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
    let rounds_a_unit = round.batches.first().map(Vec::len);
    let differ = round.batches.iter().any(|batches| Some(batches.len()) != rounds_a_unit);
    if differ || rounds_a_unit.is_some() && round.batches.len() != drawn {
        return Err(format!("{what} has not equally many batches for each sample"));
    }
    round.wealth.iter().try_for_each(|wealth| claim(plan, wealth.claim, &what))
}

/// Checks that the event names contestants of the plan, and that its counts are possible.
pub(crate) fn event(plan: &Plan, event: &Event) -> Checked {
    match event {
        Event::Void { contestant: index, .. } | Event::FirstFailure { contestant: index, .. } => {
            contestant(plan, *index, "an event")
        }
        Event::Observed { lines, successes, failure_runs, .. }
            if successes.checked_add(*failure_runs).is_none_or(|counted| counted > *lines) =>
        {
            Err(format!(
                "of {lines} lines, {successes} are successes and {failure_runs} begin failures"
            ))
        }
        Event::Observed { lines, transitions, .. }
            if transitions.total().is_none_or(|total| total > *lines) =>
        {
            Err(format!("of {lines} lines, more come after another"))
        }
        Event::Observed { transitions, by_age, .. }
            if by_age.total().is_none_or(|total| total > 0 && by_age.sum() != *transitions) =>
        {
            Err("what came after what is not the same by age".to_owned())
        }
        Event::Observed { values, .. } if values.iter().any(|value| value.is_nan()) => {
            Err("a number of a stream is none".to_owned())
        }
        Event::Relaxed { error, .. } if !is_share(*error) => {
            Err("an error of an event is not between 0 and 1".to_owned())
        }
        Event::FirstOutputs { outputs } if outputs.len() != plan.contestants.len() => Err(format!(
            "there are {} first outputs of {} contestants",
            outputs.len(),
            plan.contestants.len()
        )),
        _ => Ok(()),
    }
}

/// Checks that the verdict names a claim of the plan.
pub(crate) fn verdict(plan: &Plan, verdict: &RecordedVerdict) -> Checked {
    claim(plan, verdict.claim, "a verdict")
}
