//! The contestants of a study.

use super::contracts::{self, is_exact};
use super::folder::Folder;
use super::names::{self, Names};
use super::places::Place;
use super::recipe::{StatedLanguage, recipe};
use super::table::{Table, tables};
use super::threads::threads;
use crate::document::log::Log;
use crate::document::start;
use tiebreak_core::study::{Contract, Entrant, PUBLISHED, Threads};

const HELP: &str = "write two tables [[contestant]], each with name, language and sources";

/// The contestants, with what other tables need to know about them.
pub(super) struct Contestants {
    entrants: Vec<Entrant>,
    /// Whether each has an exact contract.
    exact: Vec<bool>,
    /// Whether they are runners, according to the first whose language is known.
    are_runners: Option<bool>,
}

impl Contestants {
    /// Returns their names, in the order of the file.
    pub(super) fn names(&self) -> Vec<&str> {
        let names = self.entrants.iter().map(|entrant| entrant.name.as_str());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Returns the contract of a contestant, if it is not exact.
    pub(super) fn inexact_contract(&self, name: &str) -> Option<&str> {
        let at = self.entrants.iter().position(|entrant| entrant.name == name)?;
        (!self.exact[at]).then_some(self.entrants[at].contract.as_str())
    }

    /// Returns whether they run in separate processes; `None` if that is unknown.
    pub(super) fn are_runners(&self) -> Option<bool> {
        self.are_runners
    }

    pub(super) fn into_entrants(self) -> Vec<Entrant> {
        self.entrants
    }
}

/// Reads `[[contestant]]`: at least two.
pub(super) fn contestants(
    root: &Table<'_>,
    contracts: &[Contract],
    folder: &Folder,
    log: &mut Log<'_>,
) -> Contestants {
    let mut names = Names::in_claims("contestants");
    let before = log.count();
    let tables = tables(root, "contestant", Place::Contestant, log);
    if tables.is_empty() && log.count() == before {
        log.error(start(), "this study has no contestants").help(HELP);
    }
    let mut read = Contestants { entrants: Vec::new(), exact: Vec::new(), are_runners: None };
    for table in &tables {
        let (entrants, said) = contestant(table, contracts, &mut names, folder, log);
        read.check_kind(said, log);
        for entrant in entrants {
            read.exact.push(is_exact(&entrant.contract, contracts));
            read.entrants.push(entrant);
        }
    }
    if let ([only], 1) = (&tables[..], read.entrants.len()) {
        log.error(only.span.clone(), "this is the study's only contestant").help(HELP);
    }
    read
}

/// Returns the contestants of a table: one, or one for each number of threads.
fn contestant(
    table: &Table<'_>,
    contracts: &[Contract],
    names: &mut Names,
    folder: &Folder,
    log: &mut Log<'_>,
) -> (Vec<Entrant>, StatedLanguage) {
    let name = names.read(table, "naive", log);
    let (recipe, said) = recipe(table, folder, log);
    let own = contracts.iter().map(|contract| contract.name.as_str());
    let known: Vec<&str> = contracts::KNOWN.into_iter().chain(own).collect();
    let contract = table
        .get("contract")
        .and_then(|item| names::known(item, "contract", &known, log).map(str::to_owned));
    let contract = contract.unwrap_or_else(|| PUBLISHED.to_owned());
    let about = table.text("about", log);
    let alone = Entrant { name: name.clone(), recipe, contract, about, threads: None };
    let counts = threads(table, &said, log);
    if counts.is_empty() {
        return (vec![alone], said);
    }
    let on = |(count, suffix): (_, String)| {
        let threads = Some(Threads { family: name.clone(), count });
        Entrant { name: names.longer(table, &name, &suffix, log), threads, ..alone.clone() }
    };
    (counts.into_iter().map(on).collect(), said)
}

impl Contestants {
    /// Checks that contestants are of one kind: libraries race in a worker and runners in separate
    /// processes, so the two cannot form a pair.
    fn check_kind(&mut self, said: StatedLanguage, log: &mut Log<'_>) {
        let Some((language, span)) = said else { return };
        match self.are_runners {
            None => self.are_runners = Some(language.is_runner()),
            Some(are_runners) if are_runners != language.is_runner() => {
                let (is, others) = if are_runners {
                    ("a library", "run in processes of their own")
                } else {
                    ("not a library", "are libraries")
                };
                log.error(span, format!("a contestant in {} is {is}", language.name()))
                    .label(format!("the contestants before it {others}"))
                    .help("the two kinds cannot race each other: make two studies of it");
            }
            Some(_) => {}
        }
    }
}
