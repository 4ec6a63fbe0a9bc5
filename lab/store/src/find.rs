//! The search for a run, or another named thing, by what the user typed.

use crate::error::StoreError;
use crate::id::{RunId, distance, normalise};
use crate::store::Store;
use rusqlite::OptionalExtension;

/// The maximum distance from the typed text at which an id is suggested.
const NEAR: usize = 2;
/// The number of names listed when a prefix is ambiguous.
const NAMED: usize = 5;

/// The meaning of a text among some names.
pub(crate) enum Choice {
    /// The name at this index.
    One(usize),
    /// The beginning of several names; the first few of them.
    Several(Vec<String>),
    /// None of them.
    None {
        /// The nearest name, if one is near.
        near: Option<String>,
    },
}

/// Finds the name that was typed: in full, or as a unique prefix.
pub(crate) fn choose(asked: &str, names: &[&str]) -> Choice {
    let typed = normalise(asked);
    if let Some(exact) = names.iter().position(|name| *name == typed) {
        return Choice::One(exact);
    }
    let begins = |name: &&str| !typed.is_empty() && name.starts_with(&typed);
    let matching: Vec<&str> = names.iter().copied().filter(begins).take(NAMED).collect();
    match matching.as_slice() {
        [only] => Choice::One(names.iter().position(|name| name == only).unwrap_or_default()),
        [] => {
            let near = names.iter().map(|name| (distance(&typed, name), name));
            let near = near.filter(|(distance, _)| *distance <= NEAR).min_by_key(|near| near.0);
            Choice::None { near: near.map(|(_, name)| (*name).to_owned()) }
        }
        several => Choice::Several(several.iter().map(|name| (*name).to_owned()).collect()),
    }
}

impl Store {
    /// Finds the run that a name means: `latest`, an id, or a unique prefix of one.
    ///
    /// # Errors
    /// Fails if no run or several runs have such a name, or if the file cannot be read.
    pub fn find(&self, asked: &str) -> Result<RunId, StoreError> {
        if asked == "latest" {
            return self.latest()?.ok_or_else(|| StoreError::NoRuns { path: self.path.clone() });
        }
        let ids = self.ids()?;
        let names: Vec<&str> = ids.iter().map(RunId::as_str).collect();
        match choose(asked, &names) {
            Choice::One(index) => Ok(ids[index].clone()),
            Choice::Several(matches) => {
                Err(StoreError::Ambiguous { asked: asked.to_owned(), matches })
            }
            Choice::None { .. } if ids.is_empty() => {
                Err(StoreError::NoRuns { path: self.path.clone() })
            }
            Choice::None { near } => Err(StoreError::UnknownRun {
                path: self.path.clone(),
                asked: asked.to_owned(),
                runs: ids.len() as u64,
                near,
            }),
        }
    }

    /// Returns all runs, the earliest first.
    pub(crate) fn ids(&self) -> Result<Vec<RunId>, StoreError> {
        self.asked(|| {
            let mut statement = self.connection.prepare("SELECT run, id FROM runs ORDER BY run")?;
            let rows =
                statement.query_map([], |row| Ok(RunId { row: row.get(0)?, name: row.get(1)? }))?;
            rows.collect::<rusqlite::Result<Vec<_>>>()
        })
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
