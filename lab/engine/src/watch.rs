//! Watches a claim over a series of runs, to detect a change.
//!
//! Runs of the same claim about the same commands are a series, even if the files changed. An
//! e-detector combines the wealth of each run's bets at its end, against the claim and for it. The
//! mean number of runs between two false alarms is then at least the requested one, however long
//! each run was and whenever it was looked at.

use crate::error::{LabError, data};
use crate::referee::Referee;
use crate::source;
use std::collections::BTreeMap;
use std::path::Path;
use tiebreak_core::claim::{Relation, Statement};
use tiebreak_core::journal::Wealth;
use tiebreak_core::plan::{Kind, Plan};
use tiebreak_core::watch::{Point, Series};
use tiebreak_stats::family::Detector;
use tiebreak_store::{StoppedRun, Store};

/// The key of a series: the claim, and its commands.
type Key = (String, Vec<(String, String)>, String);

/// Watches every claim of a store's runs; `only` names one claim. After an alarm the detector
/// restarts.
///
/// # Errors
/// Fails if the store cannot be read, or if no run has the claim.
pub fn watch(
    store: Option<&Path>,
    only: Option<&str>,
    mean_runs: f64,
) -> Result<Vec<Series>, LabError> {
    let store = source::store_if_any(store)?;
    let series = store.map_or(Ok(Vec::new()), |store| all_series(&store, only, mean_runs))?;
    match only {
        Some(claim) if series.is_empty() => data(format!("no run has the claim '{claim}'")),
        _ => Ok(series),
    }
}

/// Returns series as JSON.
pub fn json(series: &[Series]) -> String {
    format!("{:#}\n", serde_json::json!({ "schema": "tiebreak/watch/1", "series": series }))
}

fn all_series(store: &Store, only: Option<&str>, mean_runs: f64) -> Result<Vec<Series>, LabError> {
    let mut found: BTreeMap<Key, Vec<SeriesRun>> = BTreeMap::new();
    let mut order: Vec<Key> = Vec::new();
    for run in store.stopped_runs()? {
        let plan = &run.header.plan;
        if matches!(plan.kind, Kind::SelfCheck { .. }) {
            continue;
        }
        for (claim, wealth) in last_wealth(store, &run)? {
            let planned = &plan.claims[claim];
            let is_question = planned.claim.statement.is_question();
            if is_question || only.is_some_and(|only| only != planned.claim.text) {
                continue;
            }
            // The cap of a mean may come from elsewhere than its sentence.
            let statement = format!("{:?}", planned.claim.statement);
            let key = (planned.claim.text.clone(), commands(plan, claim), statement);
            if !found.contains_key(&key) {
                order.push(key.clone());
            }
            found.entry(key).or_default().push(SeriesRun {
                run: run.id.as_str().to_owned(),
                created_unix_ms: run.header.created_unix_ms,
                statement: planned.claim.statement,
                wealth,
            });
        }
    }
    let series = order.into_iter().filter_map(|key| {
        let seen = found.remove(&key)?;
        let (claim, commands, _) = key;
        let commands = commands.into_iter().map(|(name, command)| format!("{name}: {command}"));
        Some(series(claim, commands.collect::<Vec<_>>().join("; "), mean_runs, &seen))
    });
    Ok(series.collect())
}

/// A run of a series, and the wealth of its bets at the end.
struct SeriesRun {
    run: String,
    created_unix_ms: u64,
    statement: Statement,
    wealth: Wealth,
}

fn last_wealth(store: &Store, run: &StoppedRun) -> Result<Vec<(usize, Wealth)>, LabError> {
    let claims = run.header.plan.claims.len();
    if !matches!(run.header.plan.kind, Kind::Stream { .. }) {
        let known = run.wealth.iter().filter(|wealth| wealth.claim < claims);
        return Ok(known.map(|wealth| (wealth.claim, *wealth)).collect());
    }
    // Lines of a stream are events, so the wealth is recomputed from them.
    let referee = Referee::from_journal(&store.journal(&run.id)?);
    let (evidence_for, evidence_against) = referee.test(0).evidence();
    Ok(vec![(0, Wealth { claim: 0, evidence_for, evidence_against })])
}

fn commands(plan: &Plan, claim: usize) -> Vec<(String, String)> {
    let planned = &plan.claims[claim];
    let contestants = std::iter::once(planned.left).chain(planned.right);
    let named = contestants.filter_map(|index| plan.contestants.get(index));
    named.map(|contestant| (contestant.name.clone(), contestant.command.clone())).collect()
}

/// Returns the wealth of the bets against the claim. `within` is refuted by the larger of two bets,
/// half of which is evidence.
fn evidence(seen: &SeriesRun) -> f64 {
    let is_within = matches!(seen.statement, Statement::Ratio(Relation::Within { .. }));
    if is_within { seen.wealth.evidence_against / 2.0 } else { seen.wealth.evidence_against }
}

fn series(claim: String, commands: String, mean_runs: f64, seen: &[SeriesRun]) -> Series {
    let mut detector = Detector::new(mean_runs);
    let mut points = Vec::with_capacity(seen.len());
    for run in seen {
        let evidence = evidence(run);
        let is_alarm = detector.observe(evidence);
        points.push(Point {
            run: run.run.clone(),
            created_unix_ms: run.created_unix_ms,
            evidence,
            detector: detector.value(),
            is_alarm,
        });
        if is_alarm {
            detector = Detector::new(mean_runs);
        }
    }
    Series { claim, commands, mean_runs, points }
}
