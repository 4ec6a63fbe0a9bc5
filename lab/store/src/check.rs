//! The checks of a journal before anything is computed from it: every index in it must be valid. A
//! file can come from anywhere.

use tiebreak_core::claim::{Property, Relation, Statement};
use tiebreak_core::journal::{Event, Journal, RecordedVerdict, Round, Tally};
use tiebreak_core::plan::{Centre, Contestant, Kind, Plan, PlannedClaim};
use tiebreak_core::schedule::RoundCoins;

type Checked = Result<(), String>;

fn require<S: Into<String>>(is_met: bool, otherwise: impl FnOnce() -> S) -> Checked {
    if is_met { Ok(()) } else { Err(otherwise().into()) }
}

fn contestant(plan: &Plan, index: usize, what: &str) -> Checked {
    exists(index, plan.contestants.len(), what, "contestant")
}

fn claim(plan: &Plan, index: usize, what: &str) -> Checked {
    exists(index, plan.claims.len(), what, "claim")
}

fn exists(index: usize, known: usize, what: &str, kind: &str) -> Checked {
    require(index < known, || format!("{what} names {kind} {index} of {known} (counted from 0)"))
}

/// Checks a whole journal.
pub(crate) fn journal(journal: &Journal) -> Checked {
    let of = &journal.header.plan;
    plan(of)?;
    journal.lost.iter().try_for_each(|lost| coins(of, lost))?;
    let mut rounds = journal.rounds.iter().enumerate();
    rounds.try_for_each(|(number, one)| round(of, number, one))?;
    journal.events.iter().try_for_each(|one| event(of, one))?;
    journal.verdicts.iter().try_for_each(|one| verdict(of, one))
}

/// Checks that a plan can be judged: its numbers are in range, and its claims name its contestants.
pub(crate) fn plan(plan: &Plan) -> Checked {
    let mut errors = plan.claims.iter().map(|claim| claim.error).chain([plan.error]);
    require(errors.all(is_share), || "an error of the plan is not between 0 and 1")?;
    require(
        (0.0..1.0).contains(&plan.resolution) && is_factor(plan.clock_step_ns),
        || "the resolution or the clock's step of the plan is out of range",
    )?;
    for (index, Contestant { name, .. }) in plan.contestants.iter().enumerate() {
        let is_new = plan.contestants[..index].iter().all(|other| other.name != *name);
        require(is_new, || format!("two contestants are called '{name}'"))?;
    }
    require(plan.block_runs > 0, || "the blocks of the plan have no runs")?;
    if let Kind::Stream { scale: Some(scale), .. } = plan.kind {
        require(is_factor(scale), || "the scale of the plan's stream is out of range")?;
    }
    plan.claims.iter().try_for_each(|claim| planned(plan, claim))
}

/// Checks that a claim names its contestants: a ratio needs two, a property of one contestant has
/// no other.
fn planned(plan: &Plan, claim: &PlannedClaim) -> Checked {
    let statement = claim.claim.statement;
    let (is_of_two, has_two) = (statement.is_of_two(), claim.right.is_some());
    let named = [Some(claim.left), claim.right];
    named.into_iter().flatten().try_for_each(|index| contestant(plan, index, "a claim"))?;
    require(!is_of_two || has_two, || "a claim about two contestants names only one")?;
    require(is_of_two || !has_two, || "a claim about one contestant names two")?;
    let is_stream = matches!(plan.kind, Kind::Stream { .. });
    require(
        !(is_stream && is_of_two),
        || "a claim about the lines of a stream compares contestants",
    )?;
    let is_mean = plan.centre == Centre::Mean && statement.relation().is_some();
    let is_capped = plan.cap_of_means(claim.claim.metric).is_some_and(|cap| cap > 0.0);
    let uncapped = || {
        format!(
            "'{}' is about a ratio of means that nothing caps: it must be about wall time, and its \
         plan needs a time-out above 0",
            claim.claim.text
        )
    };
    require(!is_mean || is_capped, uncapped)?;
    require(is_in_range(statement), || "a number of a claim is out of range")
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
    coins.primer.iter().try_for_each(|primer| contestant(plan, *primer, &what))?;
    for (place, index) in coins.order.iter().enumerate() {
        contestant(plan, *index, &what)?;
        let is_first = !coins.order[..place].contains(index);
        require(is_first, || format!("{what} names contestant {index} twice"))?;
    }
    let placements = coins.unit.as_ref().map(|unit| unit.placements.len());
    let has_each = placements.is_none_or(|count| count == coins.order.len());
    require(has_each, || format!("{what} has not one placement for each contestant"))
}

/// Checks that the round is the next one, has one sample per entry of its order, and that its
/// wealth names claims of the plan.
pub(crate) fn round(plan: &Plan, expected: usize, round: &Round) -> Checked {
    let (number, batches) = (round.coins.round, &round.batches);
    let is_next = number == expected as u64;
    require(is_next, || format!("round {number} stands where round {expected} should"))?;
    coins(plan, &round.coins)?;
    let (given, drawn) = (round.samples.len(), round.coins.order.len());
    let what = format!("round {number}");
    require(given == drawn, || format!("{what} has {given} samples for an order of {drawn}"))?;
    let are_equal = batches.windows(2).all(|two| two[0].len() == two[1].len());
    let has_each = batches.is_empty() || batches.len() == drawn && are_equal;
    require(has_each, || format!("{what} has not equally many batches for each sample"))?;
    let has_each = [0, drawn].contains(&round.histograms.len());
    require(has_each, || format!("{what} has not one histogram for each sample"))?;
    round.wealth.iter().try_for_each(|wealth| claim(plan, wealth.claim, &what))
}

/// Checks that the event names contestants of the plan, and that its counts are possible.
pub(crate) fn event(plan: &Plan, event: &Event) -> Checked {
    match event {
        Event::Void { contestant: index, .. } | Event::FirstFailure { contestant: index, .. } => {
            contestant(plan, *index, "an event")
        }
        Event::Observed { lines, successes, failure_runs, values, transitions, by_age, .. } => {
            let counted = successes.checked_add(*failure_runs);
            require(counted.is_some_and(|counted| counted <= *lines), || {
                format!(
                    "of {lines} lines, {successes} are successes and {failure_runs} begin failures"
                )
            })?;
            let has_room = transitions.total().is_some_and(|total| total <= *lines);
            require(has_room, || format!("of {lines} lines, more come after another"))?;
            let is_same = by_age.total().is_some_and(|n| n == 0 || by_age.sum() == *transitions);
            require(is_same, || "what came after what is not the same by age")?;
            let are_numbers = values.iter().all(|value| !value.is_nan());
            require(are_numbers, || "a number of a stream is none")
        }
        Event::Block { arrivals, tallies, .. } => {
            let (given, known) = (tallies.len(), plan.claims.len());
            require(given == known, || format!("a block has {given} counts for {known} claims"))?;
            tallies.iter().try_for_each(|tally| self::tally(*arrivals, tally))
        }
        Event::Relaxed { error, .. } => {
            require(is_share(*error), || "an error of an event is not between 0 and 1")
        }
        Event::FirstOutputs { outputs } => {
            let (given, known) = (outputs.len(), plan.contestants.len());
            require(given == known, || {
                format!("there are {given} first outputs of {known} contestants")
            })
        }
        _ => Ok(()),
    }
}

fn tally(arrivals: u64, tally: &Tally) -> Checked {
    let Tally { good, bad, good_runs, other_runs, mean_low, mean_high } = *tally;
    let is_possible = good.checked_add(bad).is_some_and(|known| known <= arrivals)
        && good_runs <= good
        && other_runs <= arrivals - good;
    require(is_possible, || {
        format!(
            "of {arrivals} arrivals, {good} in {good_runs} runs are good and {bad} bad, and the \
             others make {other_runs} runs"
        )
    })?;
    let is_interval = mean_low >= 0.0 && mean_low <= mean_high && mean_high.is_finite();
    require(is_interval, || "the mean of a block has no bounds")
}

/// Checks that the verdict names a claim of the plan.
pub(crate) fn verdict(plan: &Plan, verdict: &RecordedVerdict) -> Checked {
    claim(plan, verdict.claim, "a verdict")
}
