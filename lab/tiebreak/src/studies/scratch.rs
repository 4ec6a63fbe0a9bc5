//! A folder that goes when it is not needed any more.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// Folders of this process so far.
static MADE: AtomicU32 = AtomicU32::new(0);

/// A new folder under `TMPDIR`, for this process alone.
#[derive(Debug)]
pub(super) struct Scratch(PathBuf);

impl Scratch {
    /// Makes it.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub(super) fn new() -> io::Result<Scratch> {
        loop {
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let name = format!("tiebreak-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Scratch(path)),
                // Of a process that had the same number before.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
