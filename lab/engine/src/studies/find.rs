//! Finds, lists and creates studies.

use crate::error::LabError;
use std::io;
use std::path::{Path, PathBuf};
use tiebreak_core::study::Study;
use tiebreak_input::study_folder::{self, StudyErrors};

/// The folder that holds studies.
pub const FOLDER: &str = "studies";
/// The file that marks a folder as a study.
const FILE: &str = "study.toml";

/// A study in a list.
#[derive(Debug)]
pub struct Listed {
    /// Its name: that of its folder.
    pub name: String,
    /// What it is, or what is wrong with it.
    pub study: Result<Study, Box<StudyErrors>>,
}

/// Finds a study: a folder with a study.toml, a folder of that name under `studies`, or, if that is
/// not given, under the folder `studies` of `here` or of a folder above it.
///
/// # Errors
/// Fails if there is none; the text lists the known ones.
pub fn find(name: &str, studies: Option<&Path>, here: &Path) -> Result<PathBuf, LabError> {
    let is_study = |folder: &PathBuf| folder.join(FILE).is_file();
    let folders = || roots(studies, here).into_iter().map(|root| root.join(name));
    let found = std::iter::once(here.join(name)).chain(folders()).find(is_study);
    found.ok_or_else(|| {
        let known: Vec<String> = folders_of_studies(studies, here)
            .into_iter()
            .filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned()))
            .collect();
        let known = if known.is_empty() {
            String::new()
        } else {
            format!(" (there are {})", known.join(", "))
        };
        LabError::NoStudy { name: name.to_owned(), known }
    })
}

/// Reads the study in a folder.
///
/// # Errors
/// Returns all errors in it at once.
pub fn read(folder: &Path) -> Result<Study, Box<StudyErrors>> {
    study_folder::read(folder).map_err(Box::new)
}

/// Returns the studies that [`find`] finds by name, sorted by name.
pub fn list(studies: Option<&Path>, here: &Path) -> Vec<Listed> {
    let folders = folders_of_studies(studies, here).into_iter();
    let listed = folders.map(|folder| Listed {
        name: folder.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        study: read(&folder),
    });
    listed.collect()
}

/// Creates a new study that works as it is, and returns its folder: `name` in the folder of studies
/// or, if `name` is a path, there.
///
/// # Errors
/// Fails if the name is invalid, something of that name exists, or the folder cannot be written.
pub fn create(name: &str, studies: Option<&Path>, here: &Path) -> Result<PathBuf, LabError> {
    let folder = match (name.contains('/'), studies) {
        (true, _) => here.join(name),
        (false, Some(studies)) => studies.join(name),
        (false, None) => {
            roots(None, here).into_iter().next().unwrap_or(here.join(FOLDER)).join(name)
        }
    };
    let last = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    let is_fine = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if last.is_empty() || !last.chars().all(is_fine) {
        return Err(LabError::Usage(format!(
            "'{last}' is not a valid study name: small letters, digits and hyphens"
        )));
    }
    if folder.exists() {
        let folder = folder.display();
        return Err(LabError::Usage(format!("{folder} is there already: choose another name")));
    }
    for (path, content) in study_folder::skeleton(&last) {
        let path = folder.join(path);
        write(&path, &content).map_err(|source| LabError::Write { path: path.clone(), source })?;
    }
    Ok(folder)
}

fn write(path: &Path, content: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, content)
}

/// Returns the folders of studies, the nearest first.
fn roots(studies: Option<&Path>, here: &Path) -> Vec<PathBuf> {
    match studies {
        Some(studies) => vec![here.join(studies)],
        None => {
            let all = here.ancestors().map(|folder| folder.join(FOLDER));
            all.filter(|folder| folder.is_dir()).collect()
        }
    }
}

/// Returns the studies in them; of two with the same name, the nearest.
fn folders_of_studies(studies: Option<&Path>, here: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for root in roots(studies, here) {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        for folder in entries.map(|entry| entry.path()).filter(|path| path.join(FILE).is_file()) {
            if !found.iter().any(|other| other.file_name() == folder.file_name()) {
                found.push(folder);
            }
        }
    }
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}
