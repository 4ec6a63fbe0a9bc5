//! The text files of the repository, read once.

use anyhow::{Context, Result, bail};
use std::fs;
use std::path::Path;
use std::process::Command;

/// A text file and its place.
pub struct Source {
    /// The path from the root of the repository, with `/` between the parts.
    pub path: String,
    /// The text.
    pub text: String,
}

/// Folders without anything that people wrote, wherever they are.
const SKIPPED: [&str; 5] = ["target", "node_modules", "__pycache__", "corpus", "artifacts"];

/// The hidden folders that are not of tools.
const HIDDEN_OF_OURS: [&str; 3] = [".cargo", ".ci", ".github"];

/// Endings of the files that tidy reads; files without an ending are named in [`NAMES`].
const ENDINGS: [&str; 17] = [
    "rs", "toml", "sh", "md", "py", "c", "h", "json", "txt", "yml", "snap", "feature", "cpp",
    "hpp", "d", "js", "mjs",
];

const NAMES: [&str; 2] = ["Makefile", "run"];

impl Source {
    /// Returns a source for a test.
    #[cfg(test)]
    pub fn of(path: &str, text: &str) -> Source {
        Source { path: path.to_owned(), text: text.to_owned() }
    }

    /// Returns the last part of the path.
    pub fn name(&self) -> &str {
        self.path.rsplit('/').next().unwrap_or(&self.path)
    }

    /// Returns the part of the name after the last dot; empty without a dot.
    pub fn ending(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, ending)| ending)
    }

    /// Returns whether this is a record, for which no rule of style holds.
    pub fn is_record(&self) -> bool {
        let records = ["snapshots", "vectors", "measured", "broken_files"];
        self.ending() == "snap" || self.path.split('/').any(|part| records.contains(&part))
    }

    /// Returns whether this is a table of data in the form of code, which may have any length.
    pub fn is_table(&self) -> bool {
        self.name().starts_with("tables.")
    }

    /// Returns whether this is source code or configuration, rather than prose or data.
    pub fn is_code(&self) -> bool {
        matches!(self.ending(), "rs" | "toml" | "sh" | "py" | "c" | "h")
            || NAMES.contains(&self.name())
    }
}

/// Runs cargo at the root, without the network, and returns what it prints.
///
/// # Errors
/// Fails if it cannot be started, fails, or prints no UTF-8.
pub fn cargo(root: &Path, words: &[&str]) -> Result<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).env("COLUMNS", "80").env("NO_COLOR", "1").env("CARGO_NET_OFFLINE", "true");
    let output = command.current_dir(root).output().context("starting cargo")?;
    if !output.status.success() {
        bail!("cargo {}: {}", words[0], String::from_utf8_lossy(&output.stderr).trim());
    }
    String::from_utf8(output.stdout).context("what cargo prints is not UTF-8")
}

/// Reads every text file below the root, in the order of their paths.
///
/// # Errors
/// Fails if a folder or a file cannot be read, or if a file is not UTF-8.
pub fn read(root: &Path) -> Result<Vec<Source>> {
    let mut sources = Vec::new();
    walk(root, "", &mut sources)?;
    sources.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(sources)
}

fn walk(folder: &Path, prefix: &str, sources: &mut Vec<Source>) -> Result<()> {
    let entries = fs::read_dir(folder).with_context(|| format!("reading {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{prefix}{name}");
        let kind = entry.file_type()?;
        let hidden = name.starts_with('.') && !HIDDEN_OF_OURS.contains(&name.as_str());
        if kind.is_dir() && !hidden && !SKIPPED.contains(&name.as_str()) {
            walk(&entry.path(), &format!("{path}/"), sources)?;
        } else if kind.is_file() && is_text(&name) {
            let text = fs::read_to_string(entry.path())
                .with_context(|| format!("reading {path} as UTF-8 text"))?;
            sources.push(Source { path, text });
        }
    }
    Ok(())
}

fn is_text(name: &str) -> bool {
    match name.rsplit_once('.') {
        Some((_, ending)) => ENDINGS.contains(&ending),
        None => NAMES.contains(&name),
    }
}
