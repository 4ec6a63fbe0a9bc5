//! The folder of a study: the files on which its builds may depend, and why a folder is not one.

use super::FILE_NAME;
use crate::document::errors::FileErrors;
use std::fs;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

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
pub struct Folder {
    /// Its absolute path, without links.
    pub path: String,
    /// Its name.
    pub name: String,
    /// Files that builds may depend on, relative and sorted: all except its two pages, hidden ones,
    /// and the output of programs.
    pub files: Vec<String>,
}

impl Folder {
    /// Lists all files of the folder. Links to folders are not followed.
    ///
    /// # Errors
    /// Fails if the folder does not exist, cannot be read, or contains far too much.
    pub fn open(folder: &Path) -> Result<Folder, StudyErrors> {
        let root = fs::canonicalize(folder)
            .map_err(|_| StudyErrors::NoStudy { folder: folder.to_owned() })?;
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

    /// Returns the absolute path of a file in the folder.
    pub fn absolute(&self, path: &str) -> PathBuf {
        Path::new(&self.path).join(path)
    }
}

/// Adds the files below `folder`, which the study calls `prefix`.
fn collect(folder: &Path, prefix: &str, files: &mut Vec<String>) -> Result<(), StudyErrors> {
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        // No study.toml could name a path that is not UTF-8.
        let name = entry.file_name();
        let Some(name) = name.to_str().filter(|name| !name.starts_with('.')) else { continue };
        let kind = entry.file_type().map_err(|error| unreadable(folder, &error))?;
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

/// Why a folder is not a study that can be run.
///
/// `Display` is the text for people: for a file all errors, each with its line and the wrong words
/// underlined, without colours; [`StudyErrors::render`] has them in colour.
#[derive(Debug, thiserror::Error)]
pub enum StudyErrors {
    /// The folder does not exist, or has no `study.toml`.
    #[error(
        "there is no {FILE_NAME} in '{}': a study is a folder with a {FILE_NAME} that names its \
         contestants, workloads and claims; 'tiebreak study new NAME' makes one that works",
        folder.display()
    )]
    NoStudy {
        /// The folder, as the user named it.
        folder: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read '{}': {why}", path.display())]
    Unreadable {
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        why: String,
    },
    /// The file, or the folder's path, is not UTF-8.
    #[error("'{}' is not UTF-8: write it in an editor that saves UTF-8", path.display())]
    NotUtf8 {
        /// The file or folder.
        path: PathBuf,
    },
    /// The folder contains far more than a study does.
    #[error(
        "'{}' holds more than {most} files: a study's folder holds its sources and data alone; \
         move what programs made out of it", folder.display()
    )]
    TooManyFiles {
        /// The folder.
        folder: PathBuf,
        /// The most files that it may contain.
        most: usize,
    },
    /// All errors of the file.
    #[error("{}", .0.render(false))]
    File(FileErrors),
}

impl StudyErrors {
    /// Returns the text for people, in colour or without: see [`FileErrors::render`].
    pub fn render(&self, color: bool) -> String {
        match self {
            StudyErrors::File(errors) => errors.render(color),
            other => other.to_string(),
        }
    }
}

/// Returns the error for a study's file that could not be read.
pub fn unread(folder: &Path, path: &Path, error: &Error) -> StudyErrors {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            StudyErrors::NoStudy { folder: folder.to_owned() }
        }
        _ => unreadable(path, error),
    }
}

/// Returns the error for a file or folder that could not be read.
fn unreadable(path: &Path, error: &Error) -> StudyErrors {
    StudyErrors::Unreadable { path: path.to_owned(), why: error.to_string() }
}
