//! Finds and creates studies.

use crate::error::{LabError, Result, usage};
use std::path::{Path, PathBuf};
use tiebreak_input::study_folder::{self, FILE_NAME};

/// The folder that holds studies.
const FOLDER: &str = "studies";

/// Finds a study: a folder with a study.toml, a folder of that name under `studies`, or, if that is
/// not given, under the folder `studies` of `here` or of a folder above it.
///
/// # Errors
/// Fails if there is none; the text lists the known ones.
pub fn find(name: &str, studies: Option<&Path>, here: &Path) -> Result<PathBuf> {
    let folders = roots(studies, here).into_iter().map(|root| root.join(name));
    let mut found = std::iter::once(here.join(name)).chain(folders);
    found.find(|folder| folder.join(FILE_NAME).is_file()).ok_or_else(|| {
        let known: Vec<String> =
            folders_of_studies(studies, here).iter().map(|folder| name_of(folder)).collect();
        let known = match known.join(", ") {
            none if none.is_empty() => none,
            known => format!(" (there are {known})"),
        };
        LabError::Data(format!(
            "there is no study '{name}'{known}: 'tiebreak study new {name}' makes one"
        ))
    })
}

pub(crate) fn name_of(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Creates a new study that works as it is, and returns its folder: `name` in the folder of studies
/// or, if `name` is a path, there.
///
/// # Errors
/// Fails if the name is invalid, something of that name exists, or the folder cannot be written.
pub fn create(name: &str, studies: Option<&Path>, here: &Path) -> Result<PathBuf> {
    let folder = match studies {
        _ if name.contains('/') => here.join(name),
        Some(studies) => studies.join(name),
        None => roots(None, here).into_iter().next().unwrap_or(here.join(FOLDER)).join(name),
    };
    let last = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default().to_owned();
    if last.is_empty() || last.contains(|c| !matches!(c, 'a'..='z' | '0'..='9' | '-')) {
        return usage(format!(
            "'{last}' is not a valid study name: small letters, digits and hyphens"
        ));
    }
    if folder.exists() {
        let folder = folder.display();
        return usage(format!("{folder} is there already: choose another name"));
    }
    for (path, content) in study_folder::skeleton(&last) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder))
            .and_then(|()| std::fs::write(&path, &content))
            .map_err(|error| LabError::Data(format!("cannot write {}: {error}", path.display())))?;
    }
    Ok(folder)
}

/// Returns the folders of studies, the nearest first.
fn roots(studies: Option<&Path>, here: &Path) -> Vec<PathBuf> {
    let Some(studies) = studies else {
        let all = here.ancestors().map(|folder| folder.join(FOLDER));
        return all.filter(|folder| folder.is_dir()).collect();
    };
    vec![here.join(studies)]
}

/// Returns the folders of the studies that [`find`] finds by name, sorted by name; of two with the
/// same name, the nearest.
pub(crate) fn folders_of_studies(studies: Option<&Path>, here: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for root in roots(studies, here) {
        let entries = std::fs::read_dir(root).into_iter().flatten().flatten();
        for folder in
            entries.map(|entry| entry.path()).filter(|path| path.join(FILE_NAME).is_file())
        {
            if !found.iter().any(|other| other.file_name() == folder.file_name()) {
                found.push(folder);
            }
        }
    }
    found.sort_by(|a, b| a.file_name().cmp(&b.file_name()));
    found
}
