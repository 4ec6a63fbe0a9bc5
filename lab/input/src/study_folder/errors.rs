//! Why a folder is not a study.

use super::FILE_NAME;
use crate::document::errors::FileErrors;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a folder is not a study that can be run.
///
/// `Display` is the text for people: for a file all errors, each with its line and the wrong words
/// underlined, without colours; [`StudyErrors::render`] has them in colour.
#[derive(Debug, Error)]
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
pub(super) fn unread(folder: &Path, path: &Path, error: &Error) -> StudyErrors {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            StudyErrors::NoStudy { folder: folder.to_owned() }
        }
        _ => unreadable(path, error),
    }
}

/// Returns the error for a file or folder that could not be read.
pub(super) fn unreadable(path: &Path, error: &Error) -> StudyErrors {
    StudyErrors::Unreadable { path: path.to_owned(), why: error.to_string() }
}
