//! Where a result goes: a report for people, JSON for programs.

use crate::failure::Failure;
use crate::io::Io;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use tiebreak::core::result::RunResult;
use tiebreak::report::{json, sentence, svg, terminal};

/// The file of `--json`, opened before anything is measured.
pub enum JsonTarget {
    /// Not asked for.
    None,
    /// Standard output, which then carries nothing else.
    Standard,
    /// A file.
    File(File, PathBuf),
}

impl JsonTarget {
    /// Opens what `--json` names; `-` is standard output.
    pub fn open(path: Option<&PathBuf>) -> Result<JsonTarget, Failure> {
        match path {
            None => Ok(JsonTarget::None),
            Some(path) if path.as_os_str() == "-" => Ok(JsonTarget::Standard),
            Some(path) => {
                let file = File::create(path).map_err(|error| {
                    Failure::data(format!("cannot write --json {}: {error}", path.display()))
                })?;
                Ok(JsonTarget::File(file, path.clone()))
            }
        }
    }

    /// Writes the result; says whether standard output is taken.
    fn write(self, result: &RunResult, io: &mut Io) -> Result<bool, Failure> {
        self.write_text(|| json::text(result), io)
    }

    /// Writes a text if one was asked for; says whether standard output is taken.
    pub fn write_text(self, text: impl FnOnce() -> String, io: &mut Io) -> Result<bool, Failure> {
        match self {
            JsonTarget::None => Ok(false),
            JsonTarget::Standard => {
                io.out(&text());
                Ok(true)
            }
            JsonTarget::File(mut file, path) => {
                file.write_all(text().as_bytes()).map_err(|error| {
                    Failure::data(format!("cannot write --json {}: {error}", path.display()))
                })?;
                Ok(false)
            }
        }
    }
}

/// Opens the file that an option names, before anything is measured.
pub fn open_text(option: &str, path: Option<&PathBuf>) -> Result<Option<(File, PathBuf)>, Failure> {
    let open = |path: &PathBuf| match File::create(path) {
        Ok(file) => Ok((file, path.clone())),
        Err(error) => {
            Err(Failure::data(format!("cannot write --{option} {}: {error}", path.display())))
        }
    };
    path.map(open).transpose()
}

/// The file of `--svg`, opened before anything is measured.
pub struct SvgTarget(Option<(File, PathBuf)>);

impl SvgTarget {
    /// Opens what `--svg` names.
    pub fn open(path: Option<&PathBuf>) -> Result<SvgTarget, Failure> {
        Ok(SvgTarget(open_text("svg", path)?))
    }

    /// No picture.
    pub fn none() -> SvgTarget {
        SvgTarget(None)
    }

    /// Draws the result, if that was asked for.
    pub fn draw(self, result: &RunResult) -> Result<(), Failure> {
        let Some((mut file, path)) = self.0 else { return Ok(()) };
        let picture = svg::slo(result).unwrap_or_default();
        file.write_all(picture.as_bytes()).map_err(|error| {
            Failure::data(format!("cannot write --svg {}: {error}", path.display()))
        })
    }
}

/// Writes the result where it was asked for: with `quiet`, only the verdict sentences are printed.
pub fn deliver(
    result: &RunResult,
    json: JsonTarget,
    quiet: bool,
    io: &mut Io,
) -> Result<(), Failure> {
    if json.write(result, io)? {
        return Ok(());
    }
    let page = terminal::render(result, &io.out_look());
    match result.self_check {
        _ if !quiet => {
            // What the eye should meet first is the end of the page, where its beginning has gone.
            let is_verdict = |paragraph: &&str| !paragraph.starts_with("Interrupted");
            let first = page.split("\n\n").find(is_verdict).unwrap_or_default();
            let again = if io.is_too_tall(&page) { format!("\n{first}\n") } else { String::new() };
            io.out(&(page.clone() + &again));
        }
        // The first paragraph of a self-check is its finding.
        Some(_) => io.out(&(page.split("\n\n").next().unwrap_or_default().to_owned() + "\n")),
        None => {
            let said = result.verdicts.iter().map(|claim| sentence(result, claim) + "\n");
            io.out(&said.collect::<String>());
        }
    }
    Ok(())
}
