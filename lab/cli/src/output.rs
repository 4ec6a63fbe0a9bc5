//! The targets of a result: a report for people, JSON for programs.

use crate::failure::Failure;
use crate::io::Io;
use crate::output_file::OutputFile;
use std::path::PathBuf;
use tiebreak_lab::core::result::RunResult;
use tiebreak_lab::report::{json, sentence, svg, terminal};

/// The target of `--json`.
pub enum JsonTarget {
    /// Not requested.
    None,
    /// Standard output, which then has no other output.
    Standard,
    /// A file.
    File(OutputFile),
}

impl JsonTarget {
    /// Opens the target that `--json` names; `-` is standard output.
    pub fn open(path: Option<&PathBuf>) -> Result<JsonTarget, Failure> {
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
    ) -> Result<(), Failure> {
        if !self.is_standard() {
            io.out(page);
        }
        self.write(json, io)
    }

    /// Writes a text, if it was requested.
    pub fn write(self, text: impl FnOnce() -> String, io: &mut Io) -> Result<(), Failure> {
        match self {
            JsonTarget::None => Ok(()),
            JsonTarget::Standard => {
                io.out(&text());
                Ok(())
            }
            JsonTarget::File(file) => file.write(&text()),
        }
    }
}

/// The target of `--svg`.
pub struct SvgTarget(Option<OutputFile>);

impl SvgTarget {
    /// Opens the target that `--svg` names.
    pub fn open(path: Option<&PathBuf>) -> Result<SvgTarget, Failure> {
        Ok(SvgTarget(OutputFile::open("svg", path)?))
    }

    /// Returns a target without a picture.
    pub fn none() -> SvgTarget {
        SvgTarget(None)
    }

    /// Draws the result, if it was requested.
    pub fn draw(self, result: &RunResult) -> Result<(), Failure> {
        let Some(file) = self.0 else { return Ok(()) };
        file.write(&svg::slo(result).unwrap_or_default())
    }
}

/// Writes the result to its targets; with `quiet`, prints only the verdict sentences.
pub fn deliver(
    result: &RunResult,
    json: JsonTarget,
    quiet: bool,
    io: &mut Io,
) -> Result<(), Failure> {
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
