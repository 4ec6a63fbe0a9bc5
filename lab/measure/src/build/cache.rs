//! The folder in which builds are kept.

use super::error::BuildError;
use super::key::Key;
use super::scratch::Scratch;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

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
        make(scratch.path())?;
        write_out(scratch.path())?;
        match fs::rename(scratch.path(), &place) {
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
    let failed = |path: &Path| BuildError::io("writing", path);
    for entry in fs::read_dir(folder).map_err(failed(folder))? {
        let path = entry.map_err(failed(folder))?.path();
        if path.is_dir() {
            write_out(&path)?;
        } else {
            File::open(&path).and_then(|file| file.sync_all()).map_err(failed(&path))?;
        }
    }
    Ok(())
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
}
