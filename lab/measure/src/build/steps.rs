//! The commands of a build: from the table of languages, with their placeholders in braces filled
//! in, to what they leave or print.

use super::cache::Cache;
use super::error::BuildError;
use super::library;
use super::toolchain::Toolchain;
use crate::children::run_job;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tiebreak_core::study::{Call, Recipe, Study};

/// What is built, with what, where it is kept, and the flag that interrupts it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Task<'a> {
    pub(super) study: &'a Study,
    pub(super) recipe: &'a Recipe,
    pub(super) toolchain: &'a Toolchain,
    pub(super) cache: &'a Cache,
    pub(super) interrupted: &'a AtomicBool,
}

impl Task<'_> {
    /// Returns the study's folder.
    pub(super) fn folder(&self) -> &Path {
        Path::new(&self.study.folder)
    }

    /// Returns whether kernels may be inlined.
    pub(super) fn is_inlined(&self) -> bool {
        self.study.call == Call::Inlined
    }

    /// Returns a command with the recipe's environment that runs in the study's folder.
    pub(super) fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command.current_dir(&self.study.folder).stdin(Stdio::null()).envs(self.environment());
        command
    }

    /// Returns the variables that the recipe sets.
    pub(super) fn environment(&self) -> impl Iterator<Item = (&str, &str)> {
        self.recipe.environment.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Fills in a command of the table of languages and runs it. Its output goes to the file `log`
    /// in a folder.
    pub(super) fn run_words(
        &self,
        places: &Places,
        words: &[String],
        folder: &Path,
    ) -> Result<(), BuildError> {
        let words = places.words(words);
        let mut command = self.command(words.first().map_or("", String::as_str));
        self.run(command.args(words.iter().skip(1)), folder)
    }

    /// Runs a command. Its output goes to the file `log` in a folder.
    pub(super) fn run(&self, command: &mut Command, folder: &Path) -> Result<(), BuildError> {
        run(command, &folder.join("log"), self.interrupted).map(drop)
    }

    /// Returns the values of the placeholders that hold for every command of the recipe.
    pub(super) fn places(&self) -> Places {
        let sources = &self.recipe.sources;
        let first = sources.first().map(String::as_str).unwrap_or_default();
        let stem = Path::new(first).file_stem().unwrap_or_default().to_string_lossy();
        Places::default()
            .with_path("program", &self.toolchain.program)
            .with("folder", [&self.study.folder])
            .with("flags", &self.recipe.flags)
            .with("sources", sources)
            .with("source", [first])
            .with("stem", [stem])
    }

    /// Returns the language standard: the flag that is added for it, and its name. A `-std=` among
    /// the recipe's flags takes precedence.
    pub(super) fn standard(&self) -> (Option<&'static str>, Option<String>) {
        let flags = &self.recipe.flags;
        let asked = flags.iter().rev().find_map(|flag| flag.strip_prefix("-std="));
        if let Some(asked) = asked {
            return (None, Some(asked.to_uppercase()));
        }
        let taken = *self.toolchain.standard.get_or_init(|| {
            let mut standards = self.recipe.language.entry().standards.iter();
            standards.find(|(flag, _)| self.takes(flag))
        });
        (taken.map(|(flag, _)| flag.as_str()), taken.map(|(_, name)| name.clone()))
    }

    /// Returns whether the compiler accepts a flag.
    fn takes(&self, flag: &str) -> bool {
        let mut command = self.command(&self.toolchain.program);
        command.args([flag, "-fsyntax-only", "-x", self.recipe.language.name(), "/dev/null"]);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success())
    }
}

/// The number of lines that an error shows from the beginning of an output: the first message says
/// most.
const FIRST_LINES: usize = 30;
/// The number of lines that an error shows from the end of an output.
const LAST_LINES: usize = 10;
/// The most bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 400;

/// Runs a command whose output goes to a file next to what it makes. Removes the file if the
/// command succeeds, and returns the output.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    interrupted: &AtomicBool,
) -> Result<String, BuildError> {
    let failed = BuildError::io("writing", log);
    let output = File::create(log).map_err(&failed)?;
    let errors = output.try_clone().map_err(&failed)?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let status = run_job(command, interrupted).map_err(|reason| {
        match (command.get_program().to_str(), reason.kind()) {
            (Some("cc"), ErrorKind::NotFound) => BuildError::no_cc(),
            _ => BuildError::Start { command: shown(command), reason },
        }
    })?;
    match status {
        None => Err(BuildError::Interrupted),
        Some(status) => {
            let output = fs::read(log).map_err(BuildError::io("reading", log))?;
            let output = String::from_utf8_lossy(&output).into_owned();
            if status == 0 {
                return fs::remove_file(log).map_err(failed).map(|()| output);
            }
            let remedy = remedy(&output).map_or(String::new(), |remedy| format!("\n{remedy}"));
            let (status, output) = (ended(status), excerpt(&output) + &remedy);
            Err(BuildError::Failed { command: shown(command), status, output })
        }
    }
}

/// Says what a source lacks if a linker has missed the table that a library must export.
fn remedy(output: &str) -> Option<&'static str> {
    let misses = |table: &str| {
        output.lines().any(|line| {
            line.contains(table) && (line.contains("undefined") || line.contains("not defined"))
        })
    };
    if misses(library::ORACLE) {
        return Some("The oracle's source needs TIEBREAK_ORACLE or TIEBREAK_NUMBER_ORACLE, once.");
    }
    let macros = "A contestant's source needs TIEBREAK_CONTESTANT or TIEBREAK_NUMBER, once.";
    misses(library::CONTESTANT).then_some(macros)
}

fn ended(status: i32) -> String {
    if status > 128 {
        format!("was ended by signal {}", status - 128)
    } else {
        format!("failed with status {status}")
    }
}

/// Returns a command as it would be typed.
fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<_> = words.map(|word| quoted(&word.to_string_lossy())).collect();
    words.join(" ")
}

fn quoted(word: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=+/.,:@%".contains(&byte);
    if !word.is_empty() && word.bytes().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// Returns the beginning and the end of an output.
fn excerpt(output: &str) -> String {
    let lines = output.trim_end().lines();
    let lines: Vec<_> =
        lines.map(|line| &line[..line.floor_char_boundary(LINE_BYTES_MAX)]).collect();
    if lines.is_empty() {
        return "(it printed nothing)".to_owned();
    }
    if lines.len() <= FIRST_LINES + LAST_LINES + 1 {
        return lines.join("\n");
    }
    let left_out = lines.len() - FIRST_LINES - LAST_LINES;
    let (first, last) = (&lines[..FIRST_LINES], &lines[lines.len() - LAST_LINES..]);
    format!("{}\n... {left_out} lines left out ...\n{}", first.join("\n"), last.join("\n"))
}

/// The values of the placeholders in braces: no word, one, or several.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<(&'static str, Vec<String>)>);

impl Places {
    /// Adds a placeholder that stands for these words, and drops its earlier value.
    pub(super) fn with<W: Into<String>>(
        mut self,
        name: &'static str,
        words: impl IntoIterator<Item = W>,
    ) -> Places {
        self.0.retain(|(other, _)| *other != name);
        self.0.push((name, words.into_iter().map(Into::into).collect()));
        self
    }

    pub(super) fn with_path(self, name: &'static str, path: &Path) -> Places {
        self.with(name, [path.to_string_lossy()])
    }

    /// Fills in words. A word that is only a placeholder becomes all the words of its value.
    pub(super) fn words(&self, words: &[String]) -> Vec<String> {
        let mut filled = Vec::new();
        for word in words {
            match self.0.iter().find(|(name, _)| *word == format!("{{{name}}}")) {
                Some((_, words)) => filled.extend(words.iter().cloned()),
                None => filled.push(self.text(word)),
            }
        }
        filled
    }

    /// Fills in a text. A placeholder in it stands for the first word of its value.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, words)| {
            text.replace(&format!("{{{name}}}"), words.first().map_or("", String::as_str))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_shown_as_one_would_type_them() {
        let mut command = Command::new("cc");
        command.args(["-o", "a b", "it's", "", "-Wl,-u,x"]);
        assert_eq!(shown(&command), r"cc -o 'a b' 'it'\''s' '' -Wl,-u,x");
    }

    #[test]
    fn a_long_output_is_cut_in_the_middle() {
        let lines = |count: usize| (1..=count).map(|n| format!("{n}\n")).collect::<String>();
        assert_eq!(excerpt("\n"), "(it printed nothing)");
        assert_eq!(excerpt(&lines(41)), lines(41).trim_end());
        let cut = excerpt(&lines(100));
        assert!(cut.contains("30\n... 60 lines left out ...\n91\n"), "{cut}");
        assert_eq!(excerpt(&"x".repeat(1000)).len(), LINE_BYTES_MAX);
    }

    #[test]
    fn names_alone_are_words_and_others_texts() {
        let places = Places::default()
            .with("flags", ["-a", "-b"])
            .with("none", [""; 0])
            .with("out", ["/x y"]);
        let words = ["cc", "{flags}", "{none}", "-o={out}/{flags}", "{other}", "{{out}}"];
        let filled = places.words(&words.map(str::to_owned));
        assert_eq!(filled, ["cc", "-a", "-b", "-o=/x y/-a", "{other}", "{/x y}"]);
        let later = places.with("out", ["z"]);
        assert_eq!(later.text("{ {out} }"), "{ z }");
    }
}
