//! The folder in which builds are kept: entries under names that are hashes of everything that they
//! were made from, and folders that are removed when their owner ends, even if it is killed.

use super::error::BuildError;
use super::sources::entries;
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};
use tiebreak_core::quantity::hexadecimal;

/// Entries that were not used for this long are removed.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// Returns the default folder for builds: `$TIEBREAK_CACHE`, else `$XDG_CACHE_HOME/tiebreak`, else
/// `$HOME/.cache/tiebreak`.
///
/// # Errors
/// Fails if none of the three is an absolute path.
pub fn default_cache() -> Result<PathBuf, BuildError> {
    cache_among(|name| std::env::var_os(name).map(PathBuf::from)).ok_or(BuildError::NoCache)
}

fn cache_among(variable: impl Fn(&str) -> Option<PathBuf>) -> Option<PathBuf> {
    let set = |name| variable(name).filter(|folder| folder.is_absolute());
    let cache = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    set("TIEBREAK_CACHE").or_else(|| Some(cache?.join("tiebreak")))
}

/// Entries whose names are hashes of what they were made from.
#[derive(Debug)]
pub(super) struct Cache {
    root: PathBuf,
}

impl Cache {
    pub(super) fn new(folder: &Path) -> Cache {
        let cache = Cache { root: folder.join("builds") };
        Scratch::sweep(&cache.root);
        cache.remove_unused(SystemTime::now());
        cache
    }

    /// Returns the folder of an entry. If it is missing, `make` makes it in a separate folder
    /// first.
    pub(super) fn entry(
        &self,
        key: Key,
        make: impl FnOnce(&Path) -> Result<(), BuildError>,
    ) -> Result<PathBuf, BuildError> {
        let place = self.root.join(key.name());
        if place.is_dir() {
            // Records the use, which keeps the entry. If the folder belongs to another user, that
            // user's own use keeps it.
            let _ = File::open(&place).and_then(|folder| folder.set_modified(SystemTime::now()));
            return Ok(place);
        }
        let scratch = Scratch::new(&self.root)?;
        make(&scratch.path)?;
        write_out(&scratch.path)?;
        match fs::rename(&scratch.path, &place) {
            // Another process made the same entry in the meantime.
            Err(_) if place.is_dir() => Ok(place),
            renamed => renamed.map(|()| place.clone()).map_err(BuildError::io("making", &place)),
        }
    }

    fn remove_unused(&self, now: SystemTime) {
        for entry in fs::read_dir(&self.root).into_iter().flatten().flatten() {
            let name = entry.file_name();
            let is_entry = name.len() == 32 && name.as_encoded_bytes().is_ascii();
            let used = entry.metadata().and_then(|data| data.modified());
            let idle = used.ok().and_then(|used| now.duration_since(used).ok());
            if is_entry && idle.is_some_and(|idle| idle > KEPT) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
    }
}

/// Writes files to the disk before the folder gets its name: after a loss of power there is a
/// complete entry or none.
fn write_out(folder: &Path) -> Result<(), BuildError> {
    for path in entries(folder)? {
        if path.is_dir() {
            write_out(&path)?;
        } else {
            File::open(&path)
                .and_then(|file| file.sync_all())
                .map_err(BuildError::io("writing", &path))?;
        }
    }
    Ok(())
}

/// Separates the entries of different versions of this code.
const VERSION: &str = "tiebreak build 2";

/// A hash of what an entry depends on. Equal inputs in equal order give equal names.
#[derive(Clone, Debug)]
pub(super) struct Key(Sha256);

impl Key {
    pub(super) fn new() -> Key {
        Key::of(VERSION)
    }

    /// Begins with a text that separates hashes of one kind from those of others.
    pub(super) fn of(kind: &str) -> Key {
        Key(Sha256::new()).with(kind)
    }

    /// Adds a text. Its length, added first, separates it from the next text.
    pub(super) fn with(mut self, text: impl AsRef<[u8]>) -> Key {
        let text = text.as_ref();
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    pub(super) fn with_all<T: AsRef<[u8]>>(self, texts: impl IntoIterator<Item = T>) -> Key {
        texts.into_iter().fold(self, Key::with).with("")
    }

    /// Adds the names of files in a folder, and their contents.
    pub(super) fn with_files<P: AsRef<Path>>(
        self,
        folder: &Path,
        names: impl IntoIterator<Item = P>,
    ) -> Result<Key, BuildError> {
        names.into_iter().try_fold(self, |key, name| {
            let path = folder.join(&name);
            let content = fs::read(&path).map_err(BuildError::io("reading", &path))?;
            Ok(key.with(name.as_ref().as_os_str().as_encoded_bytes()).with(content))
        })
    }

    /// Returns 32 hexadecimal digits: half of the hash, long enough that two entries never share a
    /// name by accident.
    pub(super) fn name(self) -> String {
        hexadecimal(&self.0.finalize()[..16])
    }
}

const PREFIX: &str = "tmp-";
const LOCK: &str = ".lock";

/// Makes the names of this process's folders unique.
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A folder owned by this process. Next to it is a file that is locked while its owner lives. The
/// lock tells living owners from dead ones where process numbers do not: in other containers, or
/// after a restart.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Creates a folder in `parent`, and `parent` too if necessary.
    pub(super) fn new(parent: &Path) -> Result<Scratch, BuildError> {
        fs::create_dir_all(parent).map_err(BuildError::io("making", parent))?;
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{PREFIX}{}-{number}", std::process::id()));
            let lock_path = lock_of(&path);
            let failed = BuildError::io("making", &lock_path);
            let lock = match File::options().write(true).create_new(true).open(&lock_path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                made => made.map_err(&failed)?,
            };
            // A sweep may have seen the file before it was locked, and removed it.
            let is_ours = lock.try_lock().is_ok();
            if !is_ours || lock.metadata().map_err(&failed)?.nlink() == 0 {
                continue;
            }
            fs::create_dir(&path).map_err(BuildError::io("making", &path))?;
            return Ok(Scratch { path, lock_path, _lock: lock });
        }
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
    fn the_cache_has_a_usual_place() {
        let check = |set: &[(&str, &str)], cache: Option<&str>| {
            let variable = |name: &str| {
                set.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into())
            };
            assert_eq!(cache_among(variable), cache.map(PathBuf::from), "{set:?}");
        };
        check(&[], None);
        check(&[("HOME", "relative")], None);
        check(&[("HOME", "/h")], Some("/h/.cache/tiebreak"));
        check(&[("HOME", "/h"), ("XDG_CACHE_HOME", "/x")], Some("/x/tiebreak"));
        check(&[("HOME", "/h"), ("TIEBREAK_CACHE", "/t")], Some("/t"));
    }

    #[test]
    fn an_entry_is_made_once_and_whole() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path());
        let key = || Key::new().with("a");
        let write = |folder: &Path, name: &str| {
            fs::write(folder.join(name), "").map_err(BuildError::io("writing", folder))
        };
        let half = |path: &Path| {
            write(path, "half")?;
            Err(BuildError::Interrupted)
        };
        assert!(cache.entry(key(), half).is_err());
        let whole = |path: &Path| {
            // Another process is faster.
            let other = Cache { root: cache.root.clone() };
            other.entry(key(), |path| write(path, "first"))?;
            write(path, "second")
        };
        let place = cache.entry(key(), whole).unwrap();
        assert!(place.join("first").exists() && !place.join("second").exists());
        assert_eq!(cache.entry(key(), |_| unreachable!()).unwrap(), place);
        assert_eq!(fs::read_dir(&cache.root).unwrap().count(), 1);
        cache.remove_unused(SystemTime::now() + KEPT / 2);
        assert!(place.exists());
        cache.remove_unused(SystemTime::now() + KEPT * 2);
        assert!(!place.exists());
    }

    #[test]
    fn texts_are_kept_apart() {
        let name = |texts: &[&[&str]]| {
            texts.iter().fold(Key::new(), |key, texts| key.with_all(*texts)).name()
        };
        assert_eq!(name(&[&["a", "b"]]), name(&[&["a", "b"]]));
        assert_eq!(name(&[]).len(), 32);
        for other in [&[&["ab"] as &[&str]] as &[&[&str]], &[&["a"], &["b"]], &[&["b", "a"]]] {
            assert_ne!(name(&[&["a", "b"]]), name(other), "{other:?}");
        }
    }

    #[test]
    fn folders_of_the_dead_are_swept() {
        let parent = tempfile::tempdir().unwrap();
        let count = || fs::read_dir(parent.path()).unwrap().count();
        let kept = Scratch::new(parent.path()).unwrap();
        fs::write(kept.path.join("a"), "a").unwrap();
        drop(Scratch::new(parent.path()).unwrap());
        assert_eq!(count(), 2, "the folder and its lock");
        // What a killed process leaves: a folder with an unlocked lock file.
        let left = parent.path().join("tmp-1-0");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("b"), "b").unwrap();
        fs::write(parent.path().join("tmp-1-0.lock"), "").unwrap();
        fs::write(parent.path().join("other.lock"), "").unwrap();
        Scratch::sweep(parent.path());
        assert!(!left.exists() && kept.path.join("a").exists());
        assert_eq!(count(), 3, "the one that lives, its lock, and a file that is not ours");
        drop(kept);
        assert_eq!(count(), 1);
    }
}
