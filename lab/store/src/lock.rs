//! At most one process runs or resumes a run.

use crate::error::{At, StoreError};
use crate::id::RunId;
use crate::store::Store;
use crate::sync::beside;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The number of attempts to take the lock. A list of runs holds the lock for a moment to see
/// whether it is free; the attempts outlast that.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(10);

/// The right to write a run. It is a lock of the kernel (`flock`) on a file in the store's folder,
/// and the file names the process. Dropping it releases the lock, and so does any end of the
/// process.
#[derive(Debug)]
pub struct RunLock {
    path: PathBuf,
    /// The locked file. Closing it unlocks.
    _file: File,
}

impl Drop for RunLock {
    fn drop(&mut self) {
        // The file is still locked here, so no other process can have locked the file that is
        // removed. If it stays, it is a small file without a lock.
        let _ = std::fs::remove_file(&self.path);
    }
}

impl Store {
    /// Takes the right to write a run: right after it was created, and before it is resumed.
    ///
    /// # Errors
    /// Fails if another process has it, or if no file can be created in the store's folder.
    pub fn claim_run_lock(&self, run: &RunId) -> Result<RunLock, StoreError> {
        let path = self.lock_path(run);

        let mut tries = 0;
        loop {
            let mut options = OpenOptions::new();
            let options = options.read(true).write(true).create(true).truncate(false);
            let mut file = options.open(&path).at(&path)?;
            match file.try_lock() {
                // Its last owner may have removed it after we opened it and before we locked it.
                Ok(()) if !is_at(&file, &path).at(&path)? => continue,
                Ok(()) => {
                    file.set_len(0).at(&path)?;
                    writeln!(file, "{}", std::process::id()).at(&path)?;
                    return Ok(RunLock { path, _file: file });
                }
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    std::thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::InUse(run.name.clone(), read_pid(&mut file)));
                }
                Err(TryLockError::Error(error)) => return Err(StoreError::from_io(&path, error)),
            }
        }
    }

    /// Returns whether a process holds the lock of the run.
    pub(crate) fn is_running(&self, run: &RunId) -> bool {
        let file = File::open(self.lock_path(run));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn lock_path(&self, run: &RunId) -> PathBuf {
        beside(&self.path, &format!(".{}.lock", run.name))
    }
}

fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((held.dev(), held.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn read_pid(file: &mut File) -> Option<u32> {
    let mut text = String::new();
    file.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::journals::header;

    #[test]
    fn one_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal.db");
        let (mut one, two) = (Store::open(&path).unwrap(), Store::open(&path).unwrap());
        let (run, other) = (one.create_run(&header()).unwrap(), one.create_run(&header()).unwrap());
        let lock = one.claim_run_lock(&run).unwrap();
        assert!(two.is_running(&run) && !two.is_running(&other));
        let refused = two.claim_run_lock(&run).unwrap_err();
        let pid = Some(std::process::id());
        assert!(matches!(&refused, StoreError::InUse(_, found) if *found == pid));
        assert!(refused.to_string().contains(run.as_str()), "{refused}");
        let other_lock = two.claim_run_lock(&other).unwrap();
        drop(lock);
        assert!(!two.is_running(&run));
        let again = two.claim_run_lock(&run).unwrap();
        drop((again, other_lock));
        let left: Vec<_> = std::fs::read_dir(folder.path()).unwrap().flatten().collect();
        assert!(left.iter().all(|entry| !entry.path().to_string_lossy().ends_with(".lock")));
    }

    #[test]
    fn a_file_left_by_a_kill_is_not_a_lock() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(&folder.path().join("journal.db")).unwrap();
        let run = store.create_run(&header()).unwrap();
        std::fs::write(store.lock_path(&run), "4194304999\n").unwrap();
        assert!(!store.is_running(&run));
        assert!(store.claim_run_lock(&run).is_ok());
    }
}
