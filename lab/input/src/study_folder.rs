//! Folders of studies: contestants, workloads, an oracle, claims, and the published tables that
//! they reproduce, as described by `study.toml` in the folder.
//!
//! [`read`] returns a [`Study`] or all errors of the file, each at its word. A study that was read
//! names only contestants, workloads, contracts and files that exist. [`skeleton`] is a new study
//! that works. docs/manual/studies.md has every key.

mod claims;
mod contestants;
mod contracts;
mod errors;
mod folder;
mod head;
mod names;
mod places;
mod programs;
mod published;
mod recipe;
mod skeleton;
mod sources;
mod table;
mod threads;
mod verifications;
mod workloads;

pub use errors::StudyErrors;
pub use skeleton::skeleton;

use crate::document;
use crate::document::keys::{self, Item};
use crate::document::log::Log;
use crate::document::start;
use crate::error::shown;
use contestants::Contestants;
use folder::Folder;
use places::Place;
use std::path::Path;
use table::Table;
use tiebreak_core::study::{Recipe, Study, Workload};

/// The file that marks a folder as a study.
pub const FILE_NAME: &str = "study.toml";
/// The most entries of one kind that a study may have: contestants, workloads, claims.
pub const MAX_ENTRIES: usize = 1000;

/// Reads a study from its folder.
///
/// Cost: linear in the file, and one check of each file of the folder.
///
/// # Errors
/// Fails if there is no study in the folder, or if it cannot be read; otherwise returns all errors
/// of its file.
pub fn read(folder: &Path) -> Result<Study, StudyErrors> {
    let path = folder.join(FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(errors::unread(folder, &path, &error)),
    };
    let text = String::from_utf8(text).map_err(|_| StudyErrors::NotUtf8 { path: path.clone() })?;
    parse(folder, &text)
}

/// Reads a study from the text of its file and the other files in its folder.
///
/// # Errors
/// As [`read`].
pub fn parse(folder: &Path, text: &str) -> Result<Study, StudyErrors> {
    let opened = Folder::open(folder)?;
    let name = folder.join(FILE_NAME).display().to_string();
    let study = document::read(&name, text, |items, log| Some(study(items, &opened, log)));
    study.map_err(StudyErrors::File)
}

/// Reads the content of the file. If something is wrong with it, which is logged, the result only
/// serves to find further errors.
fn study(items: &[Item<'_>], folder: &Folder, log: &mut Log<'_>) -> Study {
    keys::check(items, Place::Study, log);
    check_name(&folder.name, log);
    let root = Table { items: items.to_vec(), span: start(), place: Place::Study };
    let contracts = contracts::contracts(&root, log);
    let contestants = contestants::contestants(&root, &contracts, folder, log);
    let oracle = oracle(&root, &contestants, folder, log);
    let has_oracle = root.get("oracle").is_some();
    let workloads = workloads::workloads(&root, has_oracle, folder, log);
    let verifications = verifications::verifications(&root, has_oracle, log);
    let workload_names: Vec<&str> = workloads::names(&workloads);
    let head = head::head(&root, &contestants, log);
    Study {
        folder: folder.path.clone(),
        name: folder.name.clone(),
        title: head.title,
        source: head.source,
        item: head.item,
        call: head.call,
        scope: head.scope,
        reference: head.reference,
        budget: head.budget,
        precision: head.precision,
        reads_in_run: head.reads_in_run,
        reads_whole: head.reads_whole,
        centre: head.centre,
        oracle,
        verifications,
        published: published::published(&root, &contestants, &workload_names, log),
        claims: claims::claims(&root, &contestants, &workload_names, log),
        contestants: contestants.into_entrants(),
        files: files(&workloads, folder),
        workloads,
        contracts,
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
fn check_name(name: &str, log: &mut Log<'_>) {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if name.is_empty() || name.starts_with('-') || !name.chars().all(is_plain) {
        log.error(start(), format!("the folder is called '{}'", shown(name)))
            .label("it gives the study its name: expected lower-case letters, digits and '-'");
    }
}

/// Reads `[oracle]`, which a study of libraries must have.
fn oracle(
    root: &Table<'_>,
    contestants: &Contestants,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Option<Recipe> {
    let Some(item) = root.get("oracle") else {
        if contestants.are_runners() == Some(false) {
            log.error(start(), "this study has no oracle").help(
                "write [oracle] with language and sources: it makes the inputs and knows the \
                 answers",
            );
        }
        return None;
    };
    let table = table::table(item, Place::Oracle, log)?;
    let (recipe, language) = recipe::recipe(&table, folder, log);
    if let Some((language, span)) = language.filter(|(language, _)| language.is_runner()) {
        let message = format!("an oracle cannot be written in {}", language.name());
        log.error(span, message)
            .label(format!("expected {}", recipe::listed(|language| !language.is_runner())))
            .help("it is a shared library, also of a study whose contestants are runners");
    }
    Some(recipe)
}
