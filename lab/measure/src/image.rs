//! The arguments of `execve`, laid out in memory before any clock is read.

use std::ffi::{CString, NulError, OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;
use std::ptr;

/// The most bytes of padding: Linux limits one variable to 128 KiB, with its name and final zero.
pub(crate) const MOST_PADDING_BYTES: u32 = (128 << 10) - PADDING.len() as u32 - 1;

const PADDING: &[u8] = b"TIEBREAK_PADDING=";
/// Its name.
pub(crate) const PADDING_NAME: &str = "TIEBREAK_PADDING";

/// A program and its arguments.
#[derive(Debug)]
pub(crate) struct Image {
    path: CString,
    /// Owns what `pointers` point to.
    _words: Vec<CString>,
    pointers: Vec<*mut libc::c_char>,
}

impl Image {
    pub(crate) fn new(path: &Path, words: &[String]) -> Result<Image, NulError> {
        let path = CString::new(path.as_os_str().as_bytes())?;
        let words = words.iter().map(|word| CString::new(word.as_str()));
        let words = words.collect::<Result<Vec<_>, _>>()?;
        let pointers = terminated(words.iter().map(|word| word.as_ptr().cast_mut()));
        Ok(Image { path, _words: words, pointers })
    }

    /// Returns the same program with other words.
    pub(crate) fn with_words(&self, words: &[String]) -> Result<Image, NulError> {
        Image::new(Path::new(OsStr::from_bytes(self.path.as_bytes())), words)
    }

    pub(crate) fn path(&self) -> *const libc::c_char {
        self.path.as_ptr()
    }

    /// Returns the argument vector, which ends with a null pointer.
    pub(crate) fn arguments(&self) -> *const *mut libc::c_char {
        self.pointers.as_ptr()
    }
}

/// The environment of this process and one more variable, whose length is drawn for each run. The
/// environment lies at the top of the stack, so its length moves the stack of a program.
#[derive(Debug)]
pub(crate) struct Environment {
    /// Owns what `pointers` point to, except the last one.
    _entries: Vec<CString>,
    padding: Vec<u8>,
    filled: usize,
    pointers: Vec<*mut libc::c_char>,
}

impl Environment {
    /// Creates an environment with these variables, without an older padding.
    pub(crate) fn new(variables: impl Iterator<Item = (OsString, OsString)>) -> Environment {
        let entries = variables.filter_map(|(name, value)| {
            let mut entry = name.into_vec();
            entry.push(b'=');
            entry.extend(value.as_bytes());
            if entry.starts_with(PADDING) { None } else { CString::new(entry).ok() }
        });
        let entries: Vec<_> = entries.collect();
        // Zeroed memory that is never touched costs no page.
        let mut padding = vec![0; PADDING.len() + MOST_PADDING_BYTES as usize + 1];
        padding[..PADDING.len()].copy_from_slice(PADDING);
        let last = padding.as_mut_ptr().cast();
        let all = entries.iter().map(|entry| entry.as_ptr().cast_mut());
        let pointers = terminated(all.chain([last]));
        Environment { _entries: entries, padding, filled: PADDING.len(), pointers }
    }

    /// Sets the length of the padding, at most [`MOST_PADDING_BYTES`]. Allocates nothing.
    pub(crate) fn pad(&mut self, bytes: u32) {
        let end = PADDING.len() + bytes.min(MOST_PADDING_BYTES) as usize;
        // The zero byte at the end of the previous length lies in the range that is filled.
        let from = self.filled.min(end);
        self.padding[from..end].fill(b'x');
        self.padding[end] = 0;
        self.filled = end;
    }

    /// Returns the environment, which ends with a null pointer.
    pub(crate) fn variables(&self) -> *const *mut libc::c_char {
        self.pointers.as_ptr()
    }
}

fn terminated(pointers: impl Iterator<Item = *mut libc::c_char>) -> Vec<*mut libc::c_char> {
    pointers.chain([ptr::null_mut()]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::CStr;

    fn texts(mut pointers: *const *mut libc::c_char) -> Vec<String> {
        let mut texts = Vec::new();
        // SAFETY: the vectors under test end with a null pointer and point to texts that end with a
        // zero byte, and all of these outlive this call.
        unsafe {
            while !(*pointers).is_null() {
                texts.push(CStr::from_ptr(*pointers).to_string_lossy().into_owned());
                pointers = pointers.add(1);
            }
        }
        texts
    }

    #[test]
    fn arguments_are_the_words() {
        let words = ["ls".to_owned(), String::new(), "a b".to_owned()];
        let image = Image::new(Path::new("/bin/ls"), &words).unwrap();
        assert_eq!(texts(image.arguments()), words);
        assert!(Image::new(Path::new("/bin/ls"), &["a\0b".to_owned()]).is_err());
        let other = image.with_words(&words[1..]).unwrap();
        assert_eq!(texts(other.arguments()), words[1..]);
        assert_eq!(other.path, image.path);
    }

    #[test]
    fn the_padding_has_the_length_that_was_drawn() {
        let pair = |name: &str, value: &str| (OsString::from(name), OsString::from(value));
        let variables = [pair("A", "1"), pair("TIEBREAK_PADDING", "old"), pair("B", "2=3")];
        let mut environment = Environment::new(variables.into_iter());
        for bytes in [0, 7, 3, 4096, 5, 9, MOST_PADDING_BYTES, 0, u32::MAX] {
            environment.pad(bytes);
            let padding = "x".repeat(bytes.min(MOST_PADDING_BYTES) as usize);
            let expected = ["A=1", "B=2=3", &format!("TIEBREAK_PADDING={padding}")];
            assert_eq!(texts(environment.variables()), expected, "{bytes}");
        }
    }
}
