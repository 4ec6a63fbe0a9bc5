//! Recomputes the verdict of a journal from its samples alone.

use crate::error::{LabError, Result, data};
use crate::outcome;
use crate::referee::Referee;
use tiebreak_core::journal::{Event, Journal, RecordedVerdict, Round, StopReason, Wealth};
use tiebreak_core::plan::{ENGINE_VERSION, Scope};
use tiebreak_core::result::RunResult;
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::Warning;
use tiebreak_stats::coins::{self, Seed};
use tiebreak_store::first_broken_link;

/// The first version of the engine whose journals all have a chain.
const CHAINED_SINCE: u32 = 2;

/// Returns why the run last stopped, if it has.
pub fn last_stop(journal: &Journal) -> Option<StopReason> {
    let last = journal.events.iter().rev().find_map(|event| match event {
        Event::Stopped { reason, .. } => Some(Some(*reason)),
        Event::Resumed { .. } => Some(None),
        _ => None,
    });
    last.flatten()
}

/// Returns the result of a journal, without comparing it with the recorded verdicts.
pub fn result(journal: &Journal) -> RunResult {
    of_referee(&Referee::from_journal(journal), journal)
}

fn of_referee(referee: &Referee, journal: &Journal) -> RunResult {
    let result = outcome::result(referee, journal, last_stop(journal), true);
    RunResult { chain_head: journal.chain_head().map(str::to_owned), ..result }
}

/// Returns the result of a journal after checking it. Every verdict must equal the recorded one,
/// bit for bit, and every link of its chain must be what its rows give.
///
/// # Errors
/// Fails if a later engine wrote the journal, a verdict differs, or a link of the chain is broken.
/// If there is no chain though the engine that wrote the journal makes one, all links are.
pub fn replay(journal: &Journal) -> Result<RunResult> {
    let engine = journal.header.plan.engine_version;
    if !(1..=ENGINE_VERSION).contains(&engine) {
        return data(format!(
            "run {} was judged by version {engine} of the engine, and this is version \
             {ENGINE_VERSION}: replay it with tiebreak {}",
            journal.id, journal.header.version
        ));
    }
    let missing = (journal.chain.is_empty() && engine >= CHAINED_SINCE)
        .then(|| format!("it is gone, which version {engine} of the engine always writes"));
    if let Some(what) = missing.or_else(|| first_broken_link(journal)) {
        return broken_chain(journal, &what);
    }
    let seed = Seed::from_text(&journal.header.plan.seed);
    let referee = Referee::walk(
        journal,
        |referee, round| check_coins(journal, seed, referee, round),
        |round, wealth| {
            if wealth.iter().map(wealth_bits).eq(round.wealth.iter().map(wealth_bits)) {
                return Ok(());
            }
            let what = format!("the evidence of round {}", round.coins.round);
            Err(differs(journal, what, format!("{:?}", round.wealth), format!("{wealth:?}")))
        },
    )?;
    for (claim, planned) in journal.header.plan.claims.iter().enumerate() {
        let mut latest_first = journal.verdicts.iter().rev();
        let recorded = latest_first.find(|verdict| verdict.claim == claim);
        let Some(recorded) = recorded.filter(|recorded| !is_overtaken(recorded, journal)) else {
            continue;
        };
        let replayed = referee.record(claim);
        if bits(recorded) != bits(&replayed) {
            let what = format!("'{}'", planned.claim.text);
            return Err(differs(journal, what, describe(recorded), describe(&replayed)));
        }
    }
    let mut result = of_referee(&referee, journal);
    if result.chain_head.is_none() {
        result.warnings.push(Warning::NoChain);
    }
    Ok(result)
}

/// Checks that the journal's chain has this head, or that its last hash begins with it. Only a
/// reader who knows the head from elsewhere can detect a chain that was recomputed after a change.
///
/// # Errors
/// Fails if the head differs, or if there is no chain.
pub fn check_head(journal: &Journal, head: &str) -> Result<()> {
    let what = match journal.chain_head() {
        None => format!("it has none, and its head should be {head}"),
        Some(found) if found.starts_with(&head.to_ascii_lowercase()) => return Ok(()),
        Some(found) => format!("its head is {found}, and should be {head}"),
    };
    broken_chain(journal, &what)
}

fn broken_chain<T>(journal: &Journal, what: &str) -> Result<T> {
    data(format!(
        "the chain of run {} is broken: {what}; the journal was changed after it was written",
        journal.id
    ))
}

/// Checks that a round's coins are what the seed gives.
fn check_coins(journal: &Journal, seed: Seed, referee: &Referee, round: &Round) -> Result<()> {
    if referee.company().is_empty() {
        let what = format!("the contestants of round {}", round.coins.round);
        return Err(differs(journal, what, "there are some".to_owned(), "none".to_owned()));
    }
    let mut coins = referee.draw(round.coins.attempt);
    let plan = &journal.header.plan;
    // At scope `layout` a process serves until the run is interrupted or a contestant fails.
    if plan.functions.is_some() && (plan.scope != Scope::Layout || round.coins.unit.is_some()) {
        coins.unit = Some(coins::draw_unit(seed, &coins, plan.scope));
    }
    if coins != round.coins {
        let what = format!("the coins of round {}", round.coins.round);
        return Err(differs(journal, what, format!("{:?}", round.coins), format!("{coins:?}")));
    }
    Ok(())
}

fn wealth_bits(wealth: &Wealth) -> (usize, u64, u64) {
    (wealth.claim, wealth.evidence_for.to_bits(), wealth.evidence_against.to_bits())
}

fn differs(journal: &Journal, what: String, recorded: String, replayed: String) -> LabError {
    LabError::Data(format!(
        "run {} does not replay: for {what} the journal has {recorded}, its seed and samples give \
         {replayed}; the file was changed, or this is a defect of tiebreak",
        journal.id
    ))
}

/// Returns whether the run continued after this verdict, which was then not final: `undecided`,
/// with limits that later rounds and lost attempts have moved.
fn is_overtaken(recorded: &RecordedVerdict, journal: &Journal) -> bool {
    recorded.verdict == Verdict::Undecided
        && journal.events.iter().any(
            |event| matches!(event, Event::Resumed { rounds, .. } if *rounds >= recorded.rounds),
        )
}

fn bits(one: &RecordedVerdict) -> (Verdict, u64, Option<u64>, Option<u64>) {
    (one.verdict, one.rounds, one.low.map(f64::to_bits), one.high.map(f64::to_bits))
}

fn describe(verdict: &RecordedVerdict) -> String {
    let [low, high] = [verdict.low, verdict.high]
        .map(|limit| limit.map_or("none".to_owned(), |limit| format!("{limit:e}")));
    let RecordedVerdict { verdict, rounds, .. } = verdict;
    format!("{verdict} after {rounds} rounds (log ratio from {low} to {high})")
}
