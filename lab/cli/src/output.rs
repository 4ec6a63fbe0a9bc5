//! The targets of a result: a report for people, and files. A file that an option names is opened
//! before anything is measured, and written at the end.

use crate::io::Io;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tiebreak_lab::LabError;
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{json, sentence, terminal};

/// The target of `--json`.
#[derive(Default)]
pub enum JsonTarget {
    /// Not requested.
    #[default]
    None,
    /// Standard output, which then has no other output.
    Standard,
    /// A file.
    File(OutputFile),
}

impl JsonTarget {
    /// Opens the target that `--json` names; `-` is standard output.
    pub fn open(path: Option<&Path>) -> Result<JsonTarget, LabError> {
        match path {
            Some(path) if path.as_os_str() == "-" => Ok(JsonTarget::Standard),
            path => Ok(OutputFile::open("json", path)?.map_or(JsonTarget::None, JsonTarget::File)),
        }
    }

    /// Returns whether JSON goes to standard output.
    pub fn is_standard(&self) -> bool {
        matches!(self, JsonTarget::Standard)
    }

    /// Prints a page, unless JSON goes to standard output, and then writes the JSON. It comes last,
    /// so that no result is lost if the file cannot be written.
    pub fn write_beside(
        self,
        page: &str,
        json: impl FnOnce() -> String,
        io: &mut Io,
    ) -> Result<(), LabError> {
        if !self.is_standard() {
            io.out(page);
        }
        self.write(json, io)
    }

    /// Writes a text, if it was requested.
    pub fn write(self, text: impl FnOnce() -> String, io: &mut Io) -> Result<(), LabError> {
        match self {
            JsonTarget::None => {}
            JsonTarget::Standard => io.out(&text()),
            JsonTarget::File(file) => file.write(&text())?,
        }
        Ok(())
    }
}

/// Writes the result to its targets; with `quiet`, prints only the verdict sentences.
pub fn deliver(
    result: &RunResult,
    json: JsonTarget,
    quiet: bool,
    io: &mut Io,
) -> Result<(), LabError> {
    let page = page(result, quiet, io);
    json.write_beside(&page, || json::text(result), io)
}

fn page(result: &RunResult, quiet: bool, io: &Io) -> String {
    let page = terminal::render(result, &io.out_look());
    match result.self_check {
        _ if !quiet => {
            // If the beginning of the page has scrolled away, its first paragraph is repeated at
            // the end.
            let is_verdict = |paragraph: &&str| !paragraph.starts_with("Interrupted");
            let first = page.split("\n\n").find(is_verdict).unwrap_or_default();
            let again = if io.is_too_tall(&page) { format!("\n{first}\n") } else { String::new() };
            page.clone() + &again
        }
        // The first paragraph of a self-check is its finding.
        Some(_) => page.split("\n\n").next().unwrap_or_default().to_owned() + "\n",
        None => result.verdicts.iter().map(|claim| sentence(result, claim) + "\n").collect(),
    }
}

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
    pub fn open(option: &'static str, path: Option<&Path>) -> Result<Option<OutputFile>, LabError> {
        let Some(path) = path else { return Ok(None) };
        if path.as_os_str() == "-" {
            return Err(LabError::Usage(format!(
                "--{option} writes a file, not standard output: name one, such as \
                 /dev/stdout if that is meant"
            )));
        }
        let is_new = !path.exists();
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path);
        let file = file.map_err(|error| cannot(option, path, &error))?;
        Ok(Some(OutputFile { option, path: path.to_owned(), file, is_new }))
    }

    /// Writes the text, if there is a file.
    pub fn write_if(
        file: Option<OutputFile>,
        text: impl FnOnce() -> String,
    ) -> Result<(), LabError> {
        file.map_or(Ok(()), |file| file.write(&text()))
    }

    /// Replaces the content of the file by this text.
    pub fn write(mut self, text: &str) -> Result<(), LabError> {
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

fn cannot(option: &str, path: &Path, error: &std::io::Error) -> LabError {
    LabError::Data(format!("cannot write --{option} {}: {error}", path.display()))
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
        assert!(OutputFile::open("svg", Some(Path::new("-"))).is_err());
    }
}
