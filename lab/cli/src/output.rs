//! Where a result goes: a report for people, JSON for programs.

use crate::failure::Failure;
use crate::io::Io;
use std::fs::File;
use std::io::Write;
use std::path::PathBuf;
use tiebreak::core::result::RunResult;
use tiebreak::report::{json, sentence, terminal};

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
        match self {
            JsonTarget::None => Ok(false),
            JsonTarget::Standard => {
                io.out(&json::text(result));
                Ok(true)
            }
            JsonTarget::File(mut file, path) => {
                file.write_all(json::text(result).as_bytes()).map_err(|error| {
                    Failure::data(format!("cannot write --json {}: {error}", path.display()))
                })?;
                Ok(false)
            }
        }
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
