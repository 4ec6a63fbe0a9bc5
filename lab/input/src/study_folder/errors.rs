//! Why a folder is no study.

use super::FILE_NAME;
use crate::document::errors::FileErrors;
use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a folder is no study that could be run.
///
/// `Display` is what people read: of a file all errors, each with its line and the wrong words
/// underlined, without colours; [`StudyErrors::render`] has them in colour.
#[derive(Debug, Error)]
pub enum StudyErrors {
    /// There is no such folder, or no `study.toml` in it.
    #[error(
        "there is no {FILE_NAME} in '{}': a study is a folder with a {FILE_NAME} that names its \
         contestants, workloads and claims; 'tiebreak study new NAME' makes one that works",
        folder.display()
    )]
    NoStudy {
        /// The folder, as it was named.
        folder: PathBuf,
    },
    /// A file or folder cannot be read.
    #[error("cannot read '{}': {why}", path.display())]
    Unreadable {
        /// It.
        path: PathBuf,
        /// What the system says.
        why: String,
    },
    /// The file is no text, or the folder's path is none.
    #[error("'{}' is not UTF-8: write it in an editor that saves UTF-8", path.display())]
    NotUtf8 {
        /// It.
        path: PathBuf,
    },
    /// The folder holds far more than a study does.
    #[error(
        "'{}' holds more than {most} files: a study's folder holds its sources and data alone; \
         move what programs made out of it", folder.display()
    )]
    TooManyFiles {
        /// The folder.
        folder: PathBuf,
        /// The most files that it may hold.
        most: usize,
    },
    /// Everything that is wrong with the file.
    #[error("{}", .0.render(false))]
    File(FileErrors),
}

impl StudyErrors {
    /// As people read it, in colour or without: see [`FileErrors::render`].
    pub fn render(&self, color: bool) -> String {
        match self {
            StudyErrors::File(errors) => errors.render(color),
            other => other.to_string(),
        }
    }
}

/// The study's file could not be read.
pub(super) fn unread(folder: &Path, path: &Path, error: &Error) -> StudyErrors {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => {
            StudyErrors::NoStudy { folder: folder.to_owned() }
        }
        _ => unreadable(path, error),
    }
}

/// Something could not be read.
pub(super) fn unreadable(path: &Path, error: &Error) -> StudyErrors {
    StudyErrors::Unreadable { path: path.to_owned(), why: error.to_string() }
}
