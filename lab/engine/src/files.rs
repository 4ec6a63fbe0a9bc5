//! The files that a run depends on.

use crate::error::LabError;
use std::path::{Path, PathBuf};
use tiebreak_core::journal::FileDigest;
use tiebreak_measure::print_file;

/// Returns the digests of the files that a run depends on.
pub(crate) fn digests(paths: &[PathBuf]) -> Result<Vec<FileDigest>, LabError> {
    let digest = |path: &PathBuf| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        print_file(&absolute).map_err(|source| LabError::Read { path: path.clone(), source })
    };
    paths.iter().map(digest).collect()
}

/// Returns whether a file has changed since the run began.
pub(crate) fn has_changed(file: &FileDigest) -> bool {
    !print_file(Path::new(&file.path)).is_ok_and(|now| now == *file)
}
