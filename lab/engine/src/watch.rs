//! Watches a claim over a series of runs, to detect a change.
//!
//! Runs of the same claim about the same commands are a series, even if the files changed. An
//! e-detector combines the wealth of each run's bets at its end, against the claim and for it. The
//! mean number of runs between two false alarms is then at least the requested one, however long
//! each run was and whenever it was looked at.

use crate::error::{Result, data};
use crate::referee::Referee;
use crate::source;
use std::path::Path;
use tiebreak_core::claim::{Claim, Relation, Statement};
use tiebreak_core::journal::Wealth;
use tiebreak_core::plan::{Kind, Plan};
use tiebreak_core::watch::{Point, Series};
use tiebreak_stats::family::Detector;
use tiebreak_store::{StoppedRun, Store};

/// A series that is being read. Its claim, its commands and its statement identify it.
struct Watched {
    /// The cap of a mean may come from elsewhere than its sentence.
    statement: Statement,
    detector: Detector,
    series: Series,
}

/// Watches every claim of a store's runs; `only` names one claim.
///
/// # Errors
/// Fails if the store cannot be read, or if no run has the claim.
pub fn watch(store: Option<&Path>, only: Option<&str>, mean_runs: f64) -> Result<Vec<Series>> {
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

fn all_series(store: &Store, only: Option<&str>, mean_runs: f64) -> Result<Vec<Series>> {
    let mut found: Vec<Watched> = Vec::new();
    for run in store.stopped_runs()? {
        let plan = &run.header.plan;
        if matches!(plan.kind, Kind::SelfCheck { .. }) {
            continue;
        }
        for (index, wealth) in last_wealth(store, &run)? {
            let Claim { text, statement, .. } = &plan.claims[index].claim;
            if statement.is_question() || only.is_some_and(|only| only != *text) {
                continue;
            }
            let commands = commands(plan, index);
            let same = found.iter().position(|one| {
                (&one.series.claim, &one.series.commands) == (text, &commands)
                    && one.statement == *statement
            });
            let place = same.unwrap_or_else(|| {
                let (claim, points) = (text.clone(), Vec::new());
                let series = Series { claim, commands, mean_runs, points };
                let detector = Detector::new(mean_runs);
                found.push(Watched { statement: *statement, detector, series });
                found.len() - 1
            });
            found[place].take(&run, &wealth);
        }
    }
    Ok(found.into_iter().map(|one| one.series).collect())
}

impl Watched {
    /// Adds a run with the wealth of its bets at the end. After an alarm the detector restarts.
    fn take(&mut self, run: &StoppedRun, wealth: &Wealth) {
        // `within` is refuted by the larger of two bets, half of which is evidence.
        let is_within = matches!(self.statement, Statement::Ratio(Relation::Within { .. }));
        let against = wealth.evidence_against;
        let evidence = if is_within { against / 2.0 } else { against };
        let is_alarm = self.detector.observe(evidence);
        self.series.points.push(Point {
            run: run.id.as_str().to_owned(),
            created_unix_ms: run.header.created_unix_ms,
            evidence,
            detector: self.detector.value,
            is_alarm,
        });
        if is_alarm {
            self.detector = Detector::new(self.series.mean_runs);
        }
    }
}

fn last_wealth(store: &Store, run: &StoppedRun) -> Result<Vec<(usize, Wealth)>> {
    let claims = run.header.plan.claims.len();
    if !matches!(run.header.plan.kind, Kind::Stream { .. }) {
        let known = run.wealth.iter().filter(|wealth| wealth.claim < claims);
        return Ok(known.map(|wealth| (wealth.claim, *wealth)).collect());
    }
    // Lines of a stream are events, so the wealth is recomputed from them.
    let referee = Referee::from_journal(&store.journal(&run.id)?);
    let wealth = |claim| {
        let (evidence_for, evidence_against) = referee.test(claim).evidence();
        (claim, Wealth { claim, evidence_for, evidence_against })
    };
    Ok((0..claims).map(wealth).collect())
}

/// Returns the commands of the contestants of a claim, by name.
fn commands(plan: &Plan, claim: usize) -> String {
    let planned = &plan.claims[claim];
    let contestants = std::iter::once(planned.left).chain(planned.right);
    let named = contestants.filter_map(|index| plan.contestants.get(index));
    let named: Vec<String> = named.map(|one| format!("{}: {}", one.name, one.command)).collect();
    named.join("; ")
}
