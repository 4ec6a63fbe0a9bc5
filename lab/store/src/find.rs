//! From what was typed to a run.

use crate::error::StoreError;
use crate::id::{RunId, distance, normalise};
use crate::store::Store;
use rusqlite::OptionalExtension;

/// An id that is at most this far from what was typed is suggested.
const NEAR: usize = 2;
/// So many runs are named when a prefix is ambiguous.
const NAMED: usize = 5;

impl Store {
    /// The run that a name means: `latest`, an id, or the beginning of one that is unique.
    ///
    /// # Errors
    /// No run or several runs have such a name, or the file cannot be read.
    pub fn find(&self, asked: &str) -> Result<RunId, StoreError> {
        if asked == "latest" {
            return self.latest()?.ok_or_else(|| StoreError::NoRuns { path: self.path.clone() });
        }
        let prefix = normalise(asked);
        let ids = self.ids()?;
        if let Some(exact) = ids.iter().find(|id| id.name == prefix) {
            return Ok(exact.clone());
        }
        let begins = |id: &&RunId| !prefix.is_empty() && id.name.starts_with(&prefix);
        let mut matching = ids.iter().filter(begins);
        match (matching.next(), matching.next()) {
            (Some(only), None) => Ok(only.clone()),
            (Some(_), Some(_)) => Err(StoreError::Ambiguous {
                asked: asked.to_owned(),
                matches: ids.iter().filter(begins).take(NAMED).map(RunId::to_string).collect(),
            }),
            (None, _) => Err(self.unknown(asked, &ids)),
        }
    }

    /// All runs, the earliest first.
    pub(crate) fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.asked(|| {
            let mut statement = self.connection.prepare("SELECT run, id FROM runs ORDER BY run")?;
            let rows =
                statement.query_map([], |row| Ok(RunId { row: row.get(0)?, name: row.get(1)? }))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })
    }

    fn unknown(&self, asked: &str, ids: &[RunId]) -> StoreError {
        let path = self.path.clone();
        if ids.is_empty() {
            return StoreError::NoRuns { path };
        }
        let typed = normalise(asked);
        let near = ids.iter().map(|id| (distance(&typed, &id.name), id));
        let near = near.filter(|(distance, _)| *distance <= NEAR).min_by_key(|near| near.0);
        StoreError::UnknownRun {
            path,
            asked: asked.to_owned(),
            runs: ids.len() as u64,
            near: near.map(|(_, id)| id.to_string()),
        }
    }

    fn latest(&self) -> Result<Option<RunId>, StoreError> {
        let sql = "SELECT run, id FROM runs ORDER BY run DESC LIMIT 1";
        self.asked(|| {
            let run = |row: &rusqlite::Row<'_>| Ok(RunId { row: row.get(0)?, name: row.get(1)? });
            self.connection.query_row(sql, [], run).optional()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_journal::header;
    use std::path::Path;

    fn store(folder: &Path, runs: usize) -> (Store, Vec<RunId>) {
        let mut store = Store::open(&folder.join("journal.db")).unwrap();
        let runs = (0..runs).map(|_| store.create_run(&header()).unwrap()).collect();
        (store, runs)
    }

    #[test]
    fn ids_prefixes_and_latest_name_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let (store, runs) = store(folder.path(), 40);
        for run in &runs {
            assert_eq!(store.find(run.as_str()).unwrap(), *run);
            assert_eq!(store.find(&run.as_str().to_uppercase()).unwrap(), *run);
            assert_eq!(store.find(&run.as_str()[..5]).unwrap(), *run);
        }
        assert_eq!(store.find("latest").unwrap(), runs[39]);
        let ambiguous = store.find("r").unwrap_err();
        let StoreError::Ambiguous { matches, .. } = &ambiguous else { panic!("{ambiguous}") };
        assert_eq!(matches.len(), NAMED);
    }

    #[test]
    fn an_unknown_run_is_answered_with_the_nearest() {
        let folder = tempfile::tempdir().unwrap();
        let (store, runs) = store(folder.path(), 3);
        let typed = runs[1].as_str().replace('r', "x");
        let text = store.find(&typed).unwrap_err().to_string();
        for part in [runs[1].as_str(), "3 runs", "journal.db", "tiebreak history", &typed] {
            assert!(text.contains(part), "{part} in {text}");
        }
        for typed in ["", "nothing like it", "r7f3k2-and-more"] {
            let error = store.find(typed).unwrap_err();
            assert!(matches!(error, StoreError::UnknownRun { near: None, .. }), "{typed}: {error}");
        }
    }

    #[test]
    fn an_empty_store_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = store(folder.path(), 0);
        for typed in ["latest", "r7f3k2"] {
            assert!(matches!(store.find(typed), Err(StoreError::NoRuns { .. })), "{typed}");
        }
    }
}
