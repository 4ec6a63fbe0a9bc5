//! The contestants of a study: their contracts, and the numbers of threads on which they run.

use super::MAX_ENTRIES;
use super::folder::Folder;
use super::recipe::{Named, check_linked, language, recipe};
use super::variants::variants;
use crate::document::{Item, Table};
use crate::names::{self, Names};
use crate::suggest::closest;
use tiebreak_core::language::Language;
use tiebreak_core::study::{Contract, Entrant, PUBLISHED, ThreadCount, Threads};
use toml::de::DeValue;

/// Contracts that need no entry: their contestants give the same answers. The study's page says
/// what the last two promise less (slack, order of work).
const KNOWN: [&str; 3] = [PUBLISHED, "relaxed", "batch"];
/// The allowed values of `threads`.
const EXPECTED: &str = "a number of threads, \"all\", or several of these such as [1, 2, \"all\"]";

/// The contestants, with what other tables need to know about them.
pub struct Contestants {
    pub entrants: Vec<Entrant>,
    /// The study's own contracts.
    pub contracts: Vec<Contract>,
    /// Whether they are processes, as all are where one of them lives in another runtime; `None`
    /// without one whose language is known.
    pub are_runners: Option<bool>,
}

impl Contestants {
    /// Returns their names, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        let names = self.entrants.iter().map(|entrant| entrant.name.as_str());
        names.filter(|name| !name.is_empty()).collect()
    }

    /// Returns the contract of a contestant, if it is not exact.
    pub fn inexact_contract(&self, name: &str) -> Option<&str> {
        let entrant = self.entrants.iter().find(|entrant| entrant.name == name)?;
        let contract = self.contracts.iter().find(|contract| contract.name == entrant.contract)?;
        (!contract.is_exact).then_some(contract.name.as_str())
    }
}

/// Reads `[[contestant]]`: at least two.
pub fn contestants(root: &Table<'_>, folder: &Folder) -> Contestants {
    let contracts = contracts(root);
    let mut names = Names::in_claims("contestants");
    let tables = root.tables("contestant");
    let kinds = tables.iter().filter_map(|table| language(table, folder, named(table)));
    let kinds = kinds.map(Language::is_runner);
    let are_runners = kinds.reduce(|one, other| one || other);
    let mut read = Contestants { entrants: Vec::new(), contracts, are_runners };
    for table in &tables {
        let entrants = contestant(table, &read, &mut names, folder);
        read.entrants.extend(entrants);
        if read.entrants.len() > MAX_ENTRIES {
            table.error(format!("a study has at most {MAX_ENTRIES} contestants"));
            break;
        }
    }
    if let ([only], 1) = (&tables[..], read.entrants.len()) {
        let help = only.place.missing.as_ref().map(|(_, help)| help.as_str());
        only.error("this is the study's only contestant").help(help.unwrap_or_default());
    }
    read
}

/// Returns the contestants of a table: one, or one for each combination of its lists.
fn contestant(
    table: &Table<'_>,
    read: &Contestants,
    names: &mut Names,
    folder: &Folder,
) -> Vec<Entrant> {
    let name = names.read(table);
    let (mut recipe, language) = recipe(table, folder, named(table));
    check_linked(table, recipe.language, "linked");
    recipe.is_linked = table.flag("linked", false);
    let is_process = read.are_runners == Some(true);
    recipe.is_process = is_process && !recipe.language.is_runner();
    let own = read.contracts.iter().map(|contract| contract.name.as_str());
    let known: Vec<&str> = KNOWN.into_iter().chain(own).collect();
    let contract = table.read("contract", |item| names::known(item, "contract", &known));
    let contract = contract.unwrap_or(PUBLISHED).to_owned();
    let about = table.note("about");
    let counts = threads(table, is_process);
    let variants = variants(table, recipe, language);
    let mut entrants = Vec::new();
    for (recipe, suffix) in variants {
        let family = names.longer(table, &name, &suffix);
        let (contract, about) = (contract.clone(), about.clone());
        let (stem, threads) = (name.clone(), None);
        let alone = Entrant { name: family.clone(), stem, recipe, contract, about, threads };
        if counts.is_empty() {
            entrants.push(alone);
            continue;
        }
        entrants.extend(counts.iter().map(|(count, suffix)| {
            let threads = Some(Threads { family: family.clone(), count: *count });
            Entrant { name: names.longer(table, &family, suffix), threads, ..alone.clone() }
        }));
    }
    entrants
}

/// Returns a contestant by its name, if that is one; logs nothing.
fn named<'a>(table: &'a Table<'a>) -> Option<Named<'a>> {
    let item = table.get("name")?;
    let name = item.value.as_str().filter(|name| names::is_name(name))?;
    Some(Named { name, item, is_library: false })
}

/// Reads `[[contract]]`.
fn contracts(root: &Table<'_>) -> Vec<Contract> {
    let mut names = Names::of("contracts");
    let tables = root.tables("contract");
    tables.iter().map(|table| contract(table, &mut names)).collect()
}

fn contract(table: &Table<'_>, names: &mut Names) -> Contract {
    let name = names.read(table);
    if let Some(item) = table.get("name").filter(|_| KNOWN.contains(&name.as_str())) {
        item.error(format!("'{name}' is a contract that every study has"))
            .label("expected another name")
            .help("contestants can name it without an entry here");
    }
    let text = table.required_text("text");
    let is_exact = table.flag("exact", true);
    Contract { name, text, is_exact }
}

/// Reads `threads`: none if it is missing, one without a suffix, or a list in which each makes a
/// separate contestant.
fn threads(table: &Table<'_>, is_process: bool) -> Vec<(ThreadCount, String)> {
    let Some(item) = table.get("threads") else { return Vec::new() };
    if is_process {
        item.key_error("a contestant in a process of its own runs on one thread")
            .label("threads are those of a worker, which loads libraries")
            .help("leave 'threads' out");
        return Vec::new();
    }
    match item.elements() {
        Some(elements) => {
            let several = several(item, &elements).into_iter();
            several.map(|count| (count, suffix(count))).collect()
        }
        None => count(item, EXPECTED).into_iter().map(|count| (count, String::new())).collect(),
    }
}

/// Reads several numbers, each once.
fn several(item: &Item<'_>, elements: &[Item<'_>]) -> Vec<ThreadCount> {
    if elements.is_empty() || elements.len() > MAX_ENTRIES {
        item.wrong(EXPECTED);
    }
    let mut counts = Vec::new();
    for element in elements.iter().take(MAX_ENTRIES) {
        let Some(count) = count(element, "a number of threads or \"all\"") else { continue };
        if counts.contains(&count) {
            element
                .error("this number of threads stands here twice")
                .help("two contestants would have the same name: leave one of them out");
            continue;
        }
        counts.push(count);
    }
    counts
}

/// Returns the suffix of a contestant's name for a number of threads.
fn suffix(count: ThreadCount) -> String {
    match count {
        ThreadCount::Number(number) => format!("-x{number}"),
        ThreadCount::All => "-xall".to_owned(),
    }
}

fn count(item: &Item<'_>, expected: &str) -> Option<ThreadCount> {
    match item.value {
        DeValue::Integer(_) => item.whole().map(ThreadCount::Number),
        DeValue::String(text) if text == "all" => Some(ThreadCount::All),
        DeValue::String(text) => {
            let meant = closest(text, ["all"]);
            item.wrong(expected).meant(meant).none()
        }
        _ => item.wrong_type(expected).none(),
    }
}
