//! Folders of studies: contestants, workloads, an oracle, claims, and the published tables that
//! they reproduce, as `study.toml` in the folder says.
//!
//! [`read`] gives a [`Study`] or everything that is wrong with the file, each at its word; a study
//! that was read names no contestant, workload, contract or file that is not there. [`skeleton`] is
//! a new study that works. docs/manual/studies.md has every key.

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

/// The file that makes a folder a study.
pub const FILE_NAME: &str = "study.toml";
/// The most entries of one kind that a study may have: contestants, workloads, claims.
pub const MAX_ENTRIES: usize = 1000;

/// Reads a study from its folder.
///
/// Cost: linear in the file, and one look at each file of the folder.
///
/// # Errors
/// There is no study in the folder, it cannot be read, or all that is wrong with its file.
pub fn read(folder: &Path) -> Result<Study, StudyErrors> {
    let path = folder.join(FILE_NAME);
    let text = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) => return Err(errors::unread(folder, &path, &error)),
    };
    let text = String::from_utf8(text).map_err(|_| StudyErrors::NotUtf8 { path: path.clone() })?;
    parse(folder, &text)
}

/// Reads a study from what its file says, `text`, and what lies in its folder beside it.
///
/// # Errors
/// As [`read`].
pub fn parse(folder: &Path, text: &str) -> Result<Study, StudyErrors> {
    let opened = Folder::open(folder)?;
    let name = folder.join(FILE_NAME).display().to_string();
    let study = document::read(&name, text, |items, log| Some(study(items, &opened, log)));
    study.map_err(StudyErrors::File)
}

/// What the file says; where something is wrong with it, which is logged, it is only good for
/// finding what else is.
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

/// The files of the folder, with inputs that look like something a program made.
fn files(workloads: &[Workload], folder: &Folder) -> Vec<String> {
    let named = workloads.iter().filter_map(|workload| workload.file.clone());
    let mut files: Vec<String> = folder.files.iter().cloned().chain(named).collect();
    files.sort_unstable();
    files.dedup();
    files
}

/// The name of a study is that of its folder; it stands in commands, pages and journals.
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
