//! The folder of a study: the files on which its builds may depend.

use super::errors::{StudyErrors, unreadable};
use std::fs;
use std::path::{Component, Path, PathBuf};

/// The most files of a study.
const MAX_FILES: usize = 10_000;
/// Folders for the output of programs.
const MADE_FOLDERS: [&str; 3] = ["target", "node_modules", "__pycache__"];
/// Extensions of the output of programs.
const MADE: [&str; 6] = ["o", "a", "so", "rlib", "rmeta", "pyc"];
/// The pages of a study, on which nothing depends.
const PAGES: [&str; 2] = ["README.md", "BIAS.md"];

/// The folder of a study.
#[derive(Debug)]
pub(super) struct Folder {
    /// Its absolute path, without links.
    pub(super) path: String,
    /// Its name.
    pub(super) name: String,
    /// Files that builds may depend on, relative and sorted: all except its two pages, hidden ones,
    /// and the output of programs.
    pub(super) files: Vec<String>,
}

/// What is wrong with a path that `study.toml` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PathProblem {
    /// It leads out of the folder.
    Outside,
    /// It does not exist.
    Missing,
}

impl Folder {
    /// Lists all files of the folder. Links to folders are not followed.
    ///
    /// # Errors
    /// Fails if the folder does not exist, cannot be read, or contains far too much.
    pub(super) fn open(folder: &Path) -> Result<Folder, StudyErrors> {
        let missing = |_| StudyErrors::NoStudy { folder: folder.to_owned() };
        let root = fs::canonicalize(folder).map_err(missing)?;
        let Some(path) = root.to_str() else {
            return Err(StudyErrors::NotUtf8 { path: root });
        };
        let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let (path, name) = (path.to_owned(), name.to_owned());
        let mut files = Vec::new();
        collect(&root, "", &mut files)?;
        files.sort_unstable();
        Ok(Folder { path, name, files })
    }

    /// Returns the path of a file in the folder, relative and plain: without `.` and doubled
    /// slashes.
    pub(super) fn locate(&self, path: &str) -> Result<String, PathProblem> {
        let mut parts = Vec::new();
        for part in Path::new(path).components() {
            match part {
                Component::CurDir => {}
                Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
                _ => return Err(PathProblem::Outside),
            }
        }
        let plain = if parts.is_empty() { ".".to_owned() } else { parts.join("/") };
        match self.absolute(&plain).canonicalize() {
            Err(_) => Err(PathProblem::Missing),
            Ok(found) if found.starts_with(&self.path) => Ok(plain),
            Ok(_) => Err(PathProblem::Outside),
        }
    }

    /// Returns the absolute path of a file in the folder.
    pub(super) fn absolute(&self, path: &str) -> PathBuf {
        Path::new(&self.path).join(path)
    }
}

/// Adds the files below `folder`, which the study calls `prefix`.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<(), StudyErrors> {
    let wrong = |error| unreadable(folder, &error);
    for entry in fs::read_dir(folder).map_err(wrong)? {
        let entry = entry.map_err(wrong)?;
        // No study.toml could name a path that is not UTF-8.
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let kind = entry.file_type().map_err(wrong)?;
        let path = format!("{prefix}{name}");
        if kind.is_dir() {
            if !MADE_FOLDERS.contains(&name) {
                collect(&entry.path(), &format!("{path}/"), files)?;
            }
        } else if entry.path().is_file() && !is_made(name) && !PAGES.contains(&&path[..]) {
            files.push(path);
        }
        if files.len() > MAX_FILES {
            return Err(StudyErrors::TooManyFiles { folder: folder.to_owned(), most: MAX_FILES });
        }
    }
    Ok(())
}

fn is_made(name: &str) -> bool {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| MADE.contains(&ending))
}
