//! Names of runs and prints: short, typable, and different in at least two characters; and the
//! search for one by what the user typed.

use crate::error::{StoreError, shown};
use crate::kind::{Kind, PRINT, RUN};
use crate::store::Store;
use rusqlite::{Row, Transaction};
use std::fmt;

/// Crockford's base 32: without `i`, `l`, `o` and `u`, which are easily mistaken for other
/// characters.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The name of a run or a print of a store. A method of [`Store`] makes it, and it is
/// valid for that store only.
///
/// The name is the letter of its kind, at least five digits, and a check digit. The digits of the
/// n-th row, counted from 1, are `n * 0x9e3779b1 + salt` modulo a power of two. The salt is the
/// hash of the row's text, so that runs in the stores of two people have different names, and the
/// same run in two stores of a test has the same name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Id<const LETTER: char> {
    pub(crate) name: String,
    pub(crate) row: i64,
}

/// The name of a run: `r` and so on.
pub type RunId = Id<'r'>;
/// The name of a print: `m` and so on.
pub type PrintId = Id<'m'>;

/// The word for the latest run or print.
pub const LATEST: &str = "latest";

impl<const LETTER: char> Id<LETTER> {
    pub(crate) const KIND: &'static Kind = if LETTER == 'm' { &PRINT } else { &RUN };

    pub(crate) fn of_row(row: i64, salt: u64) -> Self {
        Id { name: name_of(LETTER, row, salt), row }
    }

    /// Reads the columns `row` and `id`.
    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Id { row: row.get("row")?, name: row.get("id")? })
    }

    /// Makes the name of the next row of its table, which will hold this text.
    pub(crate) fn next(transaction: &Transaction<'_>, text: &str) -> rusqlite::Result<Self> {
        let noun = Self::KIND.noun;
        let last = format!("SELECT coalesce(max({noun}), 0) FROM {noun}s");
        let last: i64 = transaction.query_row(&last, [], |row| row.get(0))?;
        let taken = format!("SELECT EXISTS (SELECT 1 FROM {noun}s WHERE id = ?)");
        let mut salts = salt(text)..;
        loop {
            let id = Self::of_row(last + 1, salts.next().unwrap_or_default());
            if !transaction.query_row(&taken, [&id.name], |row| row.get(0))? {
                return Ok(id);
            }
        }
    }

    /// Returns the name, for a command line.
    pub fn as_str(&self) -> &str {
        &self.name
    }
}

/// Returns the name of a row: the letter of its kind, the digits, and the check digit.
fn name_of(letter: char, row: i64, salt: u64) -> String {
    let mut width = 5;
    while (row as u128) >> (5 * width) != 0 {
        width += 1;
    }
    let mixed = (row as u128).wrapping_mul(0x9e37_79b1).wrapping_add(u128::from(salt))
        & ((1 << (5 * width)) - 1);
    let digits = (0..width).rev().map(|place| (mixed >> (5 * place)) as u8 & 31);
    let mut name = String::from(letter);
    let mut check = 0;
    for digit in digits {
        check = times_x(check ^ digit);
        name.push(char::from(DIGITS[usize::from(digit)]));
    }
    name.push(char::from(DIGITS[usize::from(check)]));
    name
}

/// Returns the FNV-1a hash of a text (Fowler, Noll, Vo), which is enough to distinguish headers.
fn salt(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Multiplies by x in GF(32) with the polynomial x^5 + x^2 + 1. A check digit made in this way
/// changes with any single digit and with any swap of two neighbours.
fn times_x(digit: u8) -> u8 {
    let shifted = digit << 1;
    if shifted & 32 == 0 { shifted } else { (shifted ^ 0b100101) & 31 }
}

impl<const LETTER: char> fmt::Display for Id<LETTER> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// Normalises typed text to the form of names: small letters, and the digits that are meant.
fn normalise(typed: &str) -> String {
    typed.trim().to_ascii_lowercase().replace('o', "0").replace(['i', 'l'], "1")
}

/// Computes the Levenshtein distance in characters. The cost is quadratic in the lengths, which are
/// short.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

/// The maximum distance from the typed text at which an id is suggested.
const NEAR: usize = 2;
/// The number of names listed when a prefix is ambiguous.
const NAMED: usize = 5;

impl Store {
    /// Finds the run that a name means: [`LATEST`], an id, or a unique prefix of one.
    ///
    /// # Errors
    /// Fails if no run or several runs have such a name, or if the file cannot be read.
    pub fn find(&self, asked: &str) -> Result<RunId, StoreError> {
        self.find_named(asked, |runs| format!(", which holds {} runs", runs.len()))
    }

    /// Finds the print that a name means: [`LATEST`], a name, or a unique prefix of one.
    ///
    /// # Errors
    /// Fails if no print or several prints have such a name, or if the file cannot be read.
    pub fn find_print(&self, asked: &str) -> Result<PrintId, StoreError> {
        self.find_named(asked, |_| String::new())
    }

    /// Finds what was named, in full or by a unique prefix; `held` describes all names where none
    /// is meant.
    fn find_named<const LETTER: char>(
        &self,
        asked: &str,
        held: impl Fn(&[Id<LETTER>]) -> String,
    ) -> Result<Id<LETTER>, StoreError> {
        let (path, kind) = (shown(&self.path), Id::<LETTER>::KIND);
        let latest =
            format!("SELECT {0} AS row, id FROM {0}s ORDER BY {0} DESC LIMIT 1", kind.noun);
        let latest = self.first(&latest, [], Id::read)?;
        let latest = latest.ok_or_else(|| StoreError::NoneYet(path.clone(), kind))?;
        if asked == LATEST {
            return Ok(latest);
        }
        let (ids, typed, asked) = (self.ids()?, normalise(asked), asked.to_owned());
        let is_meant = |id: &&Id<LETTER>| !typed.is_empty() && id.name.starts_with(&typed);
        let exact = ids.iter().find(|id| id.name == typed);
        let meant = exact.map_or_else(|| ids.iter().filter(is_meant).collect(), |id| vec![id]);
        match meant[..] {
            [only] => Ok(only.clone()),
            [] => {
                let near = ids.iter().map(|id| (distance(&typed, &id.name), id));
                let near = near.filter(|(distance, _)| *distance <= NEAR).min_by_key(|near| near.0);
                let near = near.map(|(_, id)| format!("; did you mean {id}?"));
                let hint = held(&ids) + &near.unwrap_or_default();
                Err(StoreError::Unknown { path, kind, asked, hint })
            }
            _ => {
                let first = meant.iter().take(NAMED).map(|id| id.name.clone()).collect();
                Err(StoreError::Ambiguous(kind, asked, first))
            }
        }
    }

    /// Returns the error about a run or print that cannot be read back.
    pub(crate) fn unreadable<const LETTER: char>(
        &self,
        id: &Id<LETTER>,
        what: String,
    ) -> StoreError {
        let (path, kind, name) = (shown(&self.path), Id::<LETTER>::KIND, id.name.clone());
        StoreError::Unreadable { path, kind, name, what }
    }

    /// Returns the names of all runs, or of all prints.
    pub(crate) fn ids<const LETTER: char>(&self) -> Result<Vec<Id<LETTER>>, StoreError> {
        let Kind { noun, order, .. } = Id::<LETTER>::KIND;
        let sql = format!("SELECT {noun} AS row, id FROM {noun}s ORDER BY {noun} {order}");
        self.rows(&sql, [], Id::read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::journals::header;
    use std::collections::HashSet;
    use std::path::Path;

    #[test]
    fn names_are_unique_and_far_apart() {
        let names: Vec<String> = (1..=1000).map(|row| RunId::of_row(row, 0).name).collect();
        assert!(names.iter().all(|name| name.len() == 7 && name.starts_with('r')), "{names:?}");
        let all: HashSet<_> = names.iter().collect();
        for name in &names {
            for (place, digit) in (1..7).flat_map(|p| DIGITS.iter().map(move |d| (p, *d))) {
                let mut other = name.clone().into_bytes();
                other[place] = digit;
                let other = String::from_utf8(other).unwrap();
                assert!(other == *name || !all.contains(&other), "{other} is {name} mistyped");
            }
        }
    }

    #[test]
    fn many_runs_have_longer_names() {
        for (row, length) in [(1, 7), ((1 << 25) - 1, 7), (1 << 25, 8), (i64::MAX, 15)] {
            assert_eq!(RunId::of_row(row, 0).name.len(), length, "{row}");
        }
        let first: HashSet<_> =
            (1..=20).map(|row| RunId::of_row(row, 0).name[..3].to_owned()).collect();
        assert_eq!(first.len(), 20, "three characters name one of twenty runs");
    }

    #[test]
    fn what_is_typed_is_read_generously() {
        assert_eq!(normalise(" R7F3KO "), "r7f3k0");
        assert_eq!(distance("r7f3k2", "r7f3k2"), 0);
        assert_eq!(distance("r7f3k2", "r7f32"), 1);
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("abcd", "badc"), 3);
    }

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
        let StoreError::Ambiguous(_, _, matches) = &ambiguous else { panic!("{ambiguous}") };
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
            let StoreError::Unknown { hint, .. } = &error else { panic!("{typed}: {error}") };
            assert_eq!(hint, ", which holds 3 runs", "{typed}: {error}");
        }
    }

    #[test]
    fn an_empty_store_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let (store, _) = store(folder.path(), 0);
        for typed in ["latest", "r7f3k2"] {
            assert!(matches!(store.find(typed), Err(StoreError::NoneYet(..))), "{typed}");
        }
    }
}
