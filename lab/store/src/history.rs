//! The list of runs, and the wealth of their bets when they stopped, by which a series is watched.

use crate::columns::{VerdictWord, number, wealth_of};
use crate::error::StoreError;
use crate::id::RunId;
use crate::store::Store;
use rusqlite::params;
use serde::Deserialize;
use serde_json::Value;
use tiebreak_core::journal::{Event, RunHeader, StopReason, Wealth};
use tiebreak_core::verdict::Verdict;

/// A run in a list.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    /// The name of the run.
    pub id: RunId,
    /// The time of creation, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The command line that made it, word by word.
    pub command: Vec<String>,
    /// The study and the workload, for a study's run.
    pub study: Option<(String, String)>,
    /// The number of finished rounds; of a stream that of its lines, of a load of its arrivals.
    pub rounds: u64,
    /// The run's own time until the end of its last round.
    pub seconds: f64,
    /// The reason why it stopped; `None` while it runs, and after a kill.
    pub stopped: Option<StopReason>,
    /// Whether a process holds the run's lock: it is running now.
    pub running: bool,
    /// Its claims, in the order of the plan.
    pub claims: Vec<ClaimSummary>,
    /// The index of this run among the runs of its claims on its files, counted from 1. In `n`
    /// runs, any is wrong with probability at most `n` times the error.
    pub repetition: u64,
}

/// A claim of a run in a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimSummary {
    /// The sentence.
    pub text: String,
    /// Its last verdict; `None` if none was reached.
    pub verdict: Option<Verdict>,
}

/// The parts of a header that a list shows: they can be read even where the rest cannot.
#[derive(Deserialize)]
struct HeaderPart {
    command: Vec<String>,
    claim_key: String,
    plan: PlanPart,
}

#[derive(Deserialize)]
struct PlanPart {
    claims: Vec<Value>,
    #[serde(default)]
    functions: Option<Value>,
}

/// The events of a run that are evidence where there are no rounds: lines of a stream, and blocks
/// of the messages of a load.
macro_rules! observed {
    () => {
        "events WHERE events.run = runs.run AND body ->> 'event' IN ('observed', 'block')"
    };
}

/// The latest runs: the number of finished rounds, lines or arrivals, the run's own time at the end
/// of the last one, and the last stop or start.
const LATEST_RUNS: &str = concat!(
    "SELECT run AS row, id, created_unix_ms, header,
  coalesce(
    nullif((SELECT count(*) FROM rounds WHERE rounds.run = runs.run), 0),
    (SELECT sum(coalesce(body ->> 'lines', body ->> 'arrivals')) FROM ",
    observed!(),
    "), 0) AS done,
  coalesce(
    (SELECT elapsed_ns FROM rounds WHERE rounds.run = runs.run ORDER BY round DESC LIMIT 1),
    (SELECT max(body ->> 'elapsed_ns') FROM ",
    observed!(),
    "), 0) AS elapsed_ns,
  (SELECT body FROM events
   WHERE events.run = runs.run AND body ->> 'event' IN ('stopped', 'resumed')
   ORDER BY sequence DESC LIMIT 1) AS last
FROM runs ORDER BY run DESC LIMIT ?"
);

/// Returns the text at this place of a JSON value; empty if there is none.
fn text_at(value: &Value, place: &str) -> String {
    value.pointer(place).and_then(Value::as_str).unwrap_or_default().to_owned()
}

impl Store {
    /// Returns the latest runs, the latest first; all of them without a limit.
    ///
    /// Cost: a few microseconds per run, and a few milliseconds for each 100 000 rounds.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if the header of a run is invalid.
    pub fn runs(&self, limit: Option<u64>) -> Result<Vec<RunSummary>, StoreError> {
        let limit = limit.and_then(|limit| i64::try_from(limit).ok()).unwrap_or(-1);
        let found = self.rows(LATEST_RUNS, [limit], |row| {
            let numbers = ["created_unix_ms", "done", "elapsed_ns"].map(|name| number(row, name));
            let [created, done, elapsed] = numbers;
            let texts: (String, Option<String>) = (row.get("header")?, row.get("last")?);
            Ok((RunId::read(row)?, [created?, done?, elapsed?], texts))
        })?;
        found.into_iter().map(|(id, numbers, texts)| self.summary(id, numbers, &texts)).collect()
    }

    fn summary(
        &self,
        id: RunId,
        [created_unix_ms, rounds, elapsed_ns]: [u64; 3],
        (header, last): &(String, Option<String>),
    ) -> Result<RunSummary, StoreError> {
        let header: HeaderPart = serde_json::from_str(header)
            .map_err(|error| self.unreadable(&id, format!("its header: {error}")))?;
        let texts = header.plan.claims.iter().map(|planned| text_at(planned, "/claim/text"));
        let mut claims: Vec<_> = texts.map(|text| ClaimSummary { text, verdict: None }).collect();
        for (claim, verdict) in self.last_verdicts(&id)? {
            let named = claims.get_mut(claim as usize);
            let Some(named) = named else {
                return Err(self.unreadable(&id, format!("a verdict names claim {claim}")));
            };
            named.verdict = Some(verdict);
        }
        let last = last.as_ref().map(|event| serde_json::from_str(event)).transpose();
        let stopped =
            match last.map_err(|error| self.unreadable(&id, format!("an event: {error}")))? {
                Some(Event::Stopped { reason, .. }) => Some(reason),
                _ => None,
            };
        Ok(RunSummary {
            repetition: 1 + self.previous_runs(&header.claim_key, Some(&id))?,
            created_unix_ms,
            command: header.command,
            study: (header.plan.functions.as_ref())
                .map(|of| (text_at(of, "/study"), text_at(of, "/workload/name"))),
            rounds,
            seconds: elapsed_ns as f64 / 1e9,
            stopped,
            running: self.is_running(&id),
            claims,
            id,
        })
    }

    /// Returns the verdicts of the run in order, so that the last one of a claim counts.
    fn last_verdicts(&self, run: &RunId) -> Result<Vec<(u64, Verdict)>, StoreError> {
        let sql = "SELECT claim, verdict FROM verdicts WHERE run = ? ORDER BY sequence";
        self.rows(sql, [run.row], |row| {
            Ok((number(row, "claim")?, row.get::<_, VerdictWord>("verdict")?.0))
        })
    }

    /// Counts the earlier runs of these claims on these files: with `before`, those before that
    /// run; without, all so far. Runs that showed nothing do not count.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn previous_runs(
        &self,
        claim_key: &str,
        before: Option<&RunId>,
    ) -> Result<u64, StoreError> {
        let sql = concat!(
            "SELECT count(*) AS runs FROM runs WHERE claim_key = ? AND run < ?
             AND (EXISTS (SELECT 1 FROM rounds WHERE rounds.run = runs.run)
             OR EXISTS (SELECT 1 FROM ",
            observed!(),
            "))"
        );
        let before = before.map_or(i64::MAX, |run| run.row);
        let runs = self.first(sql, params![claim_key, before], |row| number(row, "runs"))?;
        Ok(runs.unwrap_or(0))
    }

    /// Returns the latest run of these claims on these files.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn latest_of(&self, claim_key: &str) -> Result<Option<RunId>, StoreError> {
        let sql = "SELECT run AS row, id FROM runs WHERE claim_key = ? ORDER BY run DESC LIMIT 1";
        self.first(sql, [claim_key], RunId::read)
    }
}

/// A run of a series, as it stopped.
#[derive(Clone, Debug)]
pub struct StoppedRun {
    /// The name of the run.
    pub id: RunId,
    /// The part that was written before its first round.
    pub header: RunHeader,
    /// The wealth after the last round that was evidence of each claim, one entry per claim.
    pub wealth: Vec<Wealth>,
}

impl Store {
    /// Returns all runs that can be read, the earliest first, with the final wealth of their bets.
    ///
    /// Cost: a fraction of a millisecond per run.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn stopped_runs(&self) -> Result<Vec<StoppedRun>, StoreError> {
        let ids = self.ids()?;
        let mut runs = Vec::with_capacity(ids.len());
        for id in ids {
            // An invalid header, from another version, must not end the watch.
            let Ok(header) = self.header(&id) else { continue };
            let wealth = self.last_wealth(&id)?;
            runs.push(StoppedRun { id, header, wealth });
        }
        Ok(runs)
    }

    fn last_wealth(&self, run: &RunId) -> Result<Vec<Wealth>, StoreError> {
        let sql = "SELECT claim, evidence_for, evidence_against FROM wealth AS w WHERE run = ?1 \
                   AND round = (SELECT max(round) FROM wealth WHERE run = ?1 AND claim = w.claim) \
                   ORDER BY claim";
        self.rows(sql, [run.row], wealth_of)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::journals::{append, header, rich, round};

    #[test]
    fn the_latest_runs_come_first_with_their_verdicts() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let finished = append(&mut store, &rich(""));
        let begun = store.create_run(&header()).unwrap();
        let lock = store.claim_run_lock(&begun).unwrap();
        let runs = store.runs(None).unwrap();
        assert_eq!(runs.len(), 2);
        assert_eq!((&runs[0].id, runs[0].running, runs[0].stopped), (&begun, true, None));
        assert_eq!((runs[0].rounds, runs[0].seconds), (0, 0.0));
        let expected = RunSummary {
            repetition: 1,
            id: finished,
            created_unix_ms: header().created_unix_ms,
            command: header().command,
            study: None,
            rounds: 3,
            seconds: 0.006,
            stopped: Some(StopReason::Settled),
            running: false,
            claims: vec![
                ClaimSummary {
                    text: "A is at least 1.1x faster than B".into(),
                    verdict: Some(Verdict::Holds),
                },
                ClaimSummary {
                    text: "A is within 2% of B".into(),
                    verdict: Some(Verdict::TooClose),
                },
            ],
        };
        assert_eq!(runs[1], expected);
        drop(lock);
        let latest = store.runs(Some(1)).unwrap();
        assert_eq!((latest.len(), latest[0].running), (1, false));
    }

    #[test]
    fn runs_of_a_claim_are_counted_once_they_showed_something() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let first = append(&mut store, &rich(""));
        store.create_run(&header()).unwrap();
        let third = append(&mut store, &rich(""));
        for (before, expected) in [(None, 2), (Some(&third), 1), (Some(&first), 0)] {
            assert_eq!(store.previous_runs("key", before).unwrap(), expected);
        }
        assert_eq!(store.previous_runs("another", None).unwrap(), 0);
    }

    #[test]
    fn a_block_of_a_load_is_evidence_as_a_round_is() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let run = store.create_run(&header()).unwrap();
        for elapsed_ns in [2_000_000, 5_000_000] {
            assert_eq!(
                store.previous_runs("key", None).unwrap(),
                u64::from(elapsed_ns > 2_000_000)
            );
            store.event(&run, &Event::Block { arrivals: 7, tallies: vec![], elapsed_ns }).unwrap();
        }
        let runs = store.runs(None).unwrap();
        assert_eq!((runs[0].rounds, runs[0].seconds), (14, 0.005));
    }

    #[test]
    fn a_run_that_goes_on_has_not_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let run = store.create_run(&header()).unwrap();
        let begun = round(0, 0);
        store.begin_attempt(&run, &begun.coins).unwrap();
        store.finish_round(&run, &begun, &[], &[]).unwrap();
        let mut stopped = Vec::new();
        for event in rich("").events {
            store.event(&run, &event).unwrap();
            stopped.push(store.runs(None).unwrap()[0].stopped);
        }
        let (interrupted, settled) = (Some(StopReason::Interrupted), Some(StopReason::Settled));
        assert_eq!(stopped, [None, None, interrupted, None, None, settled]);
    }
}
