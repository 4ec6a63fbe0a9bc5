//! Names of cache entries: hashes of everything that an entry was made from.

use super::error::BuildError;
use crate::files::hexadecimal;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Separates the entries of different versions of this code.
const VERSION: &str = "tiebreak build 1";

/// A hash of what an entry depends on. Equal inputs in equal order give equal names.
#[derive(Clone, Debug)]
pub(super) struct Key(Sha256);

impl Key {
    pub(super) fn new() -> Key {
        Key(Sha256::new()).with(VERSION)
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

    /// Adds the content of a file, and its name.
    pub(super) fn with_file(self, folder: &Path, name: &Path) -> Result<Key, BuildError> {
        let path = folder.join(name);
        let content = std::fs::read(&path).map_err(BuildError::io("reading", &path))?;
        Ok(self.with(name.as_os_str().as_encoded_bytes()).with(content))
    }

    /// Returns 32 hexadecimal digits: half of the hash, long enough that two entries never share a
    /// name by accident.
    pub(super) fn name(self) -> String {
        hexadecimal(&self.0.finalize()[..16])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
