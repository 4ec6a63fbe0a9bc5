//! The targets of a result: a report for people, and files. A file that an option names is opened
//! before anything is measured, and written at the end.

use crate::io::Io;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use tiebreak_lab::LabError;
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{sentence, terminal};

/// The targets of a result: JSON, and the files that options name.
pub struct Targets<R> {
    /// Whether JSON goes to standard output, which then has no other output.
    is_json: bool,
    files: Vec<(OutputFile, Text<R>)>,
}

/// Makes the content of a file; `None` if it should stay as it is.
type Text<R> = Box<dyn Fn(&R) -> Option<String>>;

impl<R: 'static> Targets<R> {
    /// Returns the target that `--json` named alone, if any.
    pub fn of(json: Option<OutputFile>, text: fn(&R) -> String) -> Targets<R> {
        let is_json = json.as_ref().is_some_and(|file| file.file.is_none());
        let text: Text<R> = Box::new(move |result| Some(text(result)));
        Targets { is_json, files: json.map(|file| (file, text)).into_iter().collect() }
    }

    /// Opens the file that `--OPTION` names, if any; `text` makes its content.
    pub fn file<T: Into<Option<String>>>(
        mut self,
        option: &'static str,
        path: Option<&Path>,
        text: impl Fn(&R) -> T + 'static,
    ) -> Result<Targets<R>, LabError> {
        if let Some(file) = OutputFile::open(option, path)? {
            self.files.push((file, Box::new(move |result| text(result).into())));
        }
        Ok(self)
    }

    /// Prints a page, unless JSON goes to standard output.
    pub fn print(&self, page: &str, io: &mut Io) {
        if !self.is_json {
            io.out(page);
        }
    }

    /// Writes every file that can be written.
    pub fn write(self, result: &R, io: &mut Io) -> Result<(), LabError> {
        let mut written = Ok(());
        for (file, text) in self.files {
            written = written.and(text(result).map_or(Ok(()), |text| file.write(&text, io)));
        }
        written
    }

    /// Prints a page, and then writes the files: no result is lost if one cannot be written.
    pub fn deliver(self, page: &str, result: &R, io: &mut Io) -> Result<(), LabError> {
        self.print(page, io);
        self.write(result, io)
    }
}

/// Returns the report of a run; with `quiet`, only the verdict sentences.
pub fn page(result: &RunResult, quiet: bool, io: &Io) -> String {
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
    /// `None` is standard output.
    file: Option<File>,
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
        Ok(Some(OutputFile { option, path: path.to_owned(), file: Some(file), is_new }))
    }

    /// Opens the file that `--json` names, if any; `-` is standard output.
    pub fn open_json(path: Option<&Path>) -> Result<Option<OutputFile>, LabError> {
        match path {
            Some(path) if path.as_os_str() == "-" => {
                let (option, path) = ("json", path.to_owned());
                Ok(Some(OutputFile { option, path, file: None, is_new: false }))
            }
            path => OutputFile::open("json", path),
        }
    }

    /// Replaces the content of the file by this text.
    pub fn write(mut self, text: &str, io: &mut Io) -> Result<(), LabError> {
        let Some(file) = &mut self.file else {
            io.out(text);
            return Ok(());
        };
        // A pipe or a device has no length to truncate.
        let is_plain = file.metadata().is_ok_and(|data| data.is_file());
        let emptied = if is_plain { file.set_len(0) } else { Ok(()) };
        let written = emptied.and_then(|()| file.write_all(text.as_bytes()));
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
        let mut io = Io::to(Box::new(std::io::sink()), Box::new(std::io::sink()));
        for path in [&old, &new] {
            OutputFile::open("json", Some(path)).unwrap().unwrap().write("new", &mut io).unwrap();
            assert_eq!(std::fs::read_to_string(path).unwrap(), "new");
        }
        assert!(OutputFile::open("svg", Some(Path::new("-"))).is_err());
    }
}
