//! Finds the file that a command runs, and checks before anything runs that it can run.

use crate::error::StartError;
use std::ffi::CString;
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

mod format;
#[cfg(test)]
mod tests;

/// Finds the program that the first word of a command names, as `execvp` does: a word with a slash
/// is a path, relative to `directory`; any other is searched along `PATH`.
///
/// # Errors
/// Fails if there is none, or if it is a directory, may not be executed, or needs an interpreter
/// that is missing. A file that can be executed but not read is accepted as it is.
pub fn resolve(word: &str, directory: Option<&Path>) -> Result<PathBuf, StartError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    resolve_along(word, directory, &folders)
}

fn resolve_along(
    word: &str,
    directory: Option<&Path>,
    folders: &[PathBuf],
) -> Result<PathBuf, StartError> {
    let seen_from_directory = |path: &Path| {
        let path = directory.map_or_else(|| path.to_owned(), |directory| directory.join(path));
        std::path::absolute(&path).unwrap_or(path)
    };
    let not_found =
        |place: &str| StartError::NotFound { word: word.to_owned(), place: place.to_owned() };
    if word.contains('/') {
        let path = seen_from_directory(Path::new(word));
        return match kind(&path) {
            Kind::Missing => Err(not_found("there is no such file")),
            found => judge(path, found),
        };
    }
    let mut second_best = None;
    for folder in folders.iter().filter(|_| !word.is_empty()) {
        let path = seen_from_directory(&folder.join(word));
        match kind(&path) {
            Kind::Executable => return judge(path, Kind::Executable),
            Kind::Missing => {}
            // As execvp: a later folder may have an executable one.
            found => second_best = second_best.or(Some((path, found))),
        }
    }
    match second_best {
        Some((path, found)) => judge(path, found),
        None => Err(not_found("no folder of PATH has it")),
    }
}

enum Kind {
    Missing,
    Directory,
    NotExecutable,
    Executable,
}

fn kind(path: &Path) -> Kind {
    match std::fs::metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => Kind::NotExecutable,
        Err(_) => Kind::Missing,
        Ok(data) if data.is_dir() => Kind::Directory,
        Ok(data) if data.is_file() && may_execute(path) => Kind::Executable,
        Ok(_) => Kind::NotExecutable,
    }
}

fn may_execute(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path ends with a zero byte and is only read.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

fn judge(path: PathBuf, kind: Kind) -> Result<PathBuf, StartError> {
    match kind {
        Kind::Missing | Kind::NotExecutable => Err(StartError::NotExecutable { path }),
        Kind::Directory => Err(StartError::IsDirectory { path }),
        Kind::Executable => {
            format::check(&path)?;
            Ok(path)
        }
    }
}

/// Returns the first bytes of a file, fewer if it is short; `None` if it cannot be read.
fn head(path: &Path, bytes: usize) -> Option<Vec<u8>> {
    let mut head = Vec::with_capacity(bytes);
    File::open(path).ok()?.take(bytes as u64).read_to_end(&mut head).ok()?;
    Some(head)
}
