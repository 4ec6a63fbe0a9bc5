//! Names of cache entries: hashes of all that an entry was made from.

use super::error::BuildError;
use crate::files::hexadecimal;
use sha2::{Digest, Sha256};
use std::path::Path;

/// Says of entries made by another version of this code that they are others.
const VERSION: &str = "tiebreak build 1";

/// Gathers what an entry depends on; equal gatherings in equal order give equal names.
#[derive(Clone, Debug)]
pub(super) struct Key(Sha256);

impl Key {
    pub(super) fn new() -> Key {
        Key(Sha256::new()).with(VERSION)
    }

    /// The same with one more text, whose length keeps it apart from the next.
    pub(super) fn with(mut self, text: impl AsRef<[u8]>) -> Key {
        let text = text.as_ref();
        self.0.update((text.len() as u64).to_le_bytes());
        self.0.update(text);
        self
    }

    pub(super) fn with_all<T: AsRef<[u8]>>(self, texts: impl IntoIterator<Item = T>) -> Key {
        texts.into_iter().fold(self, Key::with).with("")
    }

    /// The same with the content of a file, and with the name that it goes by.
    pub(super) fn with_file(self, folder: &Path, name: &Path) -> Result<Key, BuildError> {
        let path = folder.join(name);
        let content = std::fs::read(&path).map_err(BuildError::io("reading", &path))?;
        Ok(self.with(name.as_os_str().as_encoded_bytes()).with(content))
    }

    /// 32 hexadecimal digits: half of the hash, which no accident ever meets.
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
