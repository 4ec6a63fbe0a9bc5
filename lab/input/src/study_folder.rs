//! Folders of studies: contestants, workloads, an oracle, claims, and the published tables that
//! they reproduce, as described by `study.toml` in the folder.
//!
//! [`read`] returns a [`Study`] or all errors of the file, each at its word. A study that was read
//! names only contestants, workloads, contracts and files that exist. [`skeleton`] is a new study
//! that works. docs/manual/studies.md has every key.

mod added;
mod claims;
mod contestants;
mod folder;
mod published;
mod recipe;
mod variants;
mod workloads;

pub use added::add;
pub use folder::StudyErrors;

use crate::document::{self, Item, Table};
use crate::error::shown;
use crate::inputs::Place;
use crate::names;
use contestants::Contestants;
use folder::Folder;
use recipe::Named;
use std::path::Path;
use tiebreak_core::plan::Scope;
use tiebreak_core::study::{Call, Recipe, Study, Workload};

/// The file that marks a folder as a study.
pub const FILE_NAME: &str = "study.toml";
/// The most entries of one kind that a study may have: contestants, workloads, claims.
pub const MAX_ENTRIES: usize = document::MAX_TABLES;
/// The name of an oracle's source whose study does not name it.
const ORACLE: &str = "oracle";
/// The default source.
const OUR_OWN: &str = "our own";
/// The default precision of a ratio.
const PRECISION: f64 = 0.05;

/// The files of a new study, with `NAME` in place of the study's name.
const FILES: [(&str, &str); 5] = [
    ("study.toml", include_str!("study_folder/skeleton/study.toml")),
    ("oracle.c", include_str!("study_folder/skeleton/oracle.c")),
    ("plain.c", include_str!("study_folder/skeleton/plain.c")),
    ("unrolled.c", include_str!("study_folder/skeleton/unrolled.c")),
    ("README.md", include_str!("study_folder/skeleton/README.template")),
];

/// Reads a study from its folder.
///
/// Cost: linear in the file, and a check of each file of the folder for each contestant that states
/// no sources.
///
/// # Errors
/// Fails if there is no study in the folder, or if it cannot be read; otherwise returns all errors
/// of its file.
pub fn read(folder: &Path) -> Result<Study, StudyErrors> {
    let path = folder.join(FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(folder::unread(folder, &path, &error)),
    };
    let text = String::from_utf8(text).map_err(|_| StudyErrors::NotUtf8 { path })?;
    parse(folder, &text)
}

/// Reads a study from the text of its file and the other files in its folder.
///
/// # Errors
/// As [`read`].
pub fn parse(folder: &Path, text: &str) -> Result<Study, StudyErrors> {
    let opened = Folder::open(folder)?;
    let name = folder.join(FILE_NAME).display().to_string();
    let study = document::read(&name, text, Place::of("study"), |root| study(root, &opened));
    study.map_err(StudyErrors::File)
}

/// Reads the content of the file. If something is wrong with it, which is logged, the result only
/// serves to find further errors.
fn study(root: &Table<'_>, folder: &Folder) -> Study {
    check_name(root, &folder.name);
    let contestants = contestants::contestants(root, folder);
    let oracle = oracle(root, &contestants, folder);
    let has_oracle = oracle.is_some() || root.get("oracle").is_some();
    let reference = reference(root, &contestants);
    let workloads = workloads::workloads(root, has_oracle, &contestants, &reference, folder);
    let names: Vec<&str> = workloads::names_of(&workloads);
    let item = root.note("item");
    let reads_input: Option<String> = root.read("reads_input", Item::word);
    let precision = root.get("precision").and_then(|item| {
        let expected = "a share above 0 and at most 100%, such as \"5%\"";
        item.share_where(|share| share > 0.0 && share <= 1.0, expected)
    });
    let reads_whole = reads_input.as_deref() == Some("whole");
    Study {
        folder: folder.path.clone(),
        name: folder.name.clone(),
        title: root.required_text("title"),
        source: root.read("source", Item::string).unwrap_or_else(|| OUR_OWN.to_owned()),
        item: if item.is_empty() { "item".to_owned() } else { item },
        call: root.read("call", Item::word).unwrap_or(Call::Separate),
        scope: scope(root, &contestants),
        reference,
        budget: root.read("budget", Item::budget),
        precision: precision.unwrap_or(PRECISION),
        reads_in_run: reads_whole || reads_input.as_deref() == Some("run"),
        reads_whole,
        starts_processes: root.flag("starts_processes", false),
        calls: root.read("calls", Item::whole),
        centre: root.read("centre", Item::word),
        oracle,
        verifications: workloads::verifications(root, has_oracle, &contestants),
        published: published::published(root, &contestants, &names),
        claims: claims::claims(root, &contestants, &workloads),
        contestants: contestants.entrants,
        files: files(&workloads, folder),
        workloads,
        contracts: contestants.contracts,
    }
}

/// Returns the files of the folder, with inputs whose names look like a program's output.
fn files(workloads: &[Workload], folder: &Folder) -> Vec<String> {
    let named = workloads.iter().filter_map(|workload| workload.file.clone());
    let mut files: Vec<String> = folder.files.iter().cloned().chain(named).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// Checks the name of a study, which is that of its folder and occurs in commands, pages and
/// journals.
fn check_name(root: &Table<'_>, name: &str) {
    let is_other = |c: char| !c.is_ascii_lowercase() && !c.is_ascii_digit() && c != '-';
    if name.is_empty() || name.starts_with('-') || name.contains(is_other) {
        root.error(format!("the folder is called '{}'", shown(name)))
            .label("it gives the study its name: expected lower-case letters, digits and '-'");
    }
}

/// Reads `[oracle]`, which may be left out where a source is called so. A study of libraries must
/// have one.
fn oracle(root: &Table<'_>, contestants: &Contestants, folder: &Folder) -> Option<Recipe> {
    let (left_out, empty) = root.left_out(ORACLE);
    let item = root.get(ORACLE).unwrap_or(&left_out);
    let named = Named { name: ORACLE, item, is_library: true };
    let table = if root.get(ORACLE).is_some() {
        item.typed(item.table("study.oracle"), "a table, [oracle]")?
    } else if named.has_source(folder) {
        empty
    } else {
        if contestants.are_runners == Some(false) {
            root.error("this study has no oracle")
                .help("write oracle.c: it makes the inputs and knows the answers");
        }
        return None;
    };
    let (recipe, language) = recipe::recipe(&table, folder, Some(named));
    if let Some(language) = language.filter(|language| language.is_runner()) {
        let stated = table.get("language").or_else(|| table.get("sources")).unwrap_or(item);
        let message = format!("an oracle cannot be written in {}", language.name());
        stated
            .error(message)
            .label(format!("expected {}", recipe::listed(|language| !language.is_runner())))
            .help("it is a shared library, also of a study whose contestants are runners");
    }
    Some(recipe)
}

/// Reads what is drawn anew for each observation. A runner has no placement that could be drawn.
fn scope(root: &Table<'_>, contestants: &Contestants) -> Scope {
    let are_runners = contestants.are_runners == Some(true);
    let default = if are_runners { Scope::Binary } else { Scope::Code };
    let Some(item) = root.get("scope") else { return default };
    let scope = item.word();
    if scope == Some(Scope::Code) && are_runners {
        item.error("these contestants are not linked, so they have no placement")
            .label("expected \"binary\" or \"layout\"");
    }
    scope.unwrap_or(default)
}

/// Reads the contestant with which the others are compared: if none is said, the first that can be
/// it.
fn reference(root: &Table<'_>, contestants: &Contestants) -> String {
    let names = contestants.names();
    let Some(item) = root.get("reference") else {
        let exact = names.iter().find(|name| contestants.inexact_contract(name).is_none());
        if exact.is_none() && !names.is_empty() {
            root.error("no contestant has a contract that is exact")
                .help("the table compares all others with one that has");
        }
        return exact.map_or_else(String::new, |name| (*name).to_owned());
    };
    let Some(name) = names::known(item, "contestant", &names) else {
        return String::new();
    };
    if let Some(contract) = contestants.inexact_contract(name) {
        item.error(format!("'{name}' answers by the contract '{contract}'"))
            .label("expected a contestant whose contract is exact")
            .help("the table compares all others with it");
    }
    name.to_owned()
}

/// Returns the files of a new study, each as (path in its folder, content): two contestants in C
/// that add bytes, their oracle, a claim, and the pages that every study has. It can be run as it
/// is, if there is a gcc.
pub fn skeleton(name: &str) -> Vec<(String, String)> {
    FILES.map(|(path, content)| (path.to_owned(), content.replace("NAME", name))).to_vec()
}
