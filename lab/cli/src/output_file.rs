//! A file that an option names: opened before anything is measured, written at the end.

use crate::failure::Failure;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

/// An output file. If anything fails in between, an old file keeps its content, and a new one does
/// not stay empty.
pub struct OutputFile {
    option: &'static str,
    path: PathBuf,
    file: File,
    is_new: bool,
}

impl OutputFile {
    /// Opens the file that `--OPTION` names, if any.
    pub fn open(
        option: &'static str,
        path: Option<&PathBuf>,
    ) -> Result<Option<OutputFile>, Failure> {
        let Some(path) = path else { return Ok(None) };
        if path.as_os_str() == "-" {
            return Err(Failure::usage(format!(
                "--{option} writes a file, not standard output: name one, such as \
                 /dev/stdout if that is meant"
            )));
        }
        let is_new = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| cannot(option, path, &error))?;
        Ok(Some(OutputFile { option, path: path.clone(), file, is_new }))
    }

    /// Replaces the content of the file by this text.
    pub fn write(mut self, text: &str) -> Result<(), Failure> {
        // A pipe or a device has no length to truncate.
        let is_plain = self.file.metadata().is_ok_and(|data| data.is_file());
        let emptied = if is_plain { self.file.set_len(0) } else { Ok(()) };
        let written = emptied.and_then(|()| self.file.write_all(text.as_bytes()));
        written.map_err(|error| cannot(self.option, &self.path, &error))?;
        self.is_new = false;
        Ok(())
    }
}

impl Drop for OutputFile {
    fn drop(&mut self) {
        if self.is_new {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

fn cannot(option: &str, path: &Path, error: &std::io::Error) -> Failure {
    Failure::data(format!("cannot write --{option} {}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changes_only_when_it_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| folder.path().join(name));
        std::fs::write(&old, "what it held").unwrap();
        for path in [&old, &new] {
            drop(OutputFile::open("json", Some(path)).unwrap());
        }
        assert_eq!(std::fs::read_to_string(&old).unwrap(), "what it held");
        assert!(!new.exists());
        for path in [&old, &new] {
            OutputFile::open("json", Some(path)).unwrap().unwrap().write("new").unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), "new");
        }
        let dash = PathBuf::from("-");
        assert!(OutputFile::open("svg", Some(&dash)).is_err());
    }
}
