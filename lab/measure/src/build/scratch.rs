//! Folders that are removed when their owner ends, even if it is killed.

use super::error::BuildError;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const PREFIX: &str = "tmp-";
const LOCK: &str = ".lock";

/// Makes the names of this process's folders unique.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A folder owned by this process. Next to it is a file that is locked while its owner lives. The
/// lock tells living owners from dead ones where process numbers do not: in other containers, or
/// after a restart.
#[derive(Debug)]
pub(super) struct Scratch {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Creates a folder in `parent`, and `parent` too if necessary.
    pub(super) fn new(parent: &Path) -> Result<Scratch, BuildError> {
        let failed = |path: &Path| BuildError::io("making", path);
        fs::create_dir_all(parent).map_err(failed(parent))?;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            let lock_path = lock_of(&path);
            let lock = match File::options().write(true).create_new(true).open(&lock_path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(failed(&lock_path))?,
            };
            // A sweep may have seen the file before it was locked, and removed it.
            let is_ours = lock.try_lock().is_ok();
            if !is_ours || lock.metadata().map_err(failed(&lock_path))?.nlink() == 0 {
                continue;
            }
            fs::create_dir(&path).map_err(failed(&path))?;
            return Ok(Scratch { path, lock_path, _lock: lock });
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders in `parent` whose owners have ended. Skips what it cannot remove.
    pub(super) fn sweep(parent: &Path) {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        for lock_path in entries.map(|entry| entry.path()) {
            let name = lock_path.file_name().unwrap_or_default().to_string_lossy();
            let Some(folder) = name.strip_suffix(LOCK).filter(|name| name.starts_with(PREFIX))
            else {
                continue;
            };
            let Ok(lock) = File::options().write(true).open(&lock_path) else {
                continue;
            };
            if lock.try_lock().is_ok() {
                let _ = fs::remove_dir_all(parent.join(folder));
                let _ = fs::remove_file(&lock_path);
            }
        }
    }
}

fn lock_of(folder: &Path) -> PathBuf {
    let mut name = folder.as_os_str().to_owned();
    name.push(LOCK);
    name.into()
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // The folder may have been renamed. The next start sweeps what is left.
        let _ = fs::remove_dir_all(&self.path);
        let _ = fs::remove_file(&self.lock_path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_the_dead_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let kept = Scratch::new(parent.path()).unwrap();
        fs::write(kept.path().join("a"), "a").unwrap();
        drop(Scratch::new(parent.path()).unwrap());
        assert_eq!(count(), 2, "the folder and its lock");
        // What a killed process leaves: a folder with an unlocked lock file.
        let left = parent.path().join("tmp-1-0");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("b"), "b").unwrap();
        fs::write(parent.path().join("tmp-1-0.lock"), "").unwrap();
        fs::write(parent.path().join("other.lock"), "").unwrap();
        Scratch::sweep(parent.path());
        assert!(!left.exists() && kept.path().join("a").exists());
        assert_eq!(count(), 3, "the one that lives, its lock, and a file that is not ours");
        drop(kept);
        assert_eq!(count(), 1);
    }
}
