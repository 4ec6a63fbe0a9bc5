//! The commands of a build, in sequence.
//!
//! Commands of the table of languages, with their placeholders in braces.
//!
//! What is read from a recipe's flags, and what is added to them.
//!
//! From sources to objects, by the commands of the table of languages.

use super::error::BuildError;
use super::toolchain::Toolchain;
use crate::children::run_job;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use tiebreak_core::language::{Compile, Makes};
use tiebreak_core::study::{Recipe, Study};

/// What every step of one build needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Steps<'a> {
    pub(super) study: &'a Study,
    pub(super) recipe: &'a Recipe,
    /// The compiler.
    pub(super) program: &'a Path,
    /// Whether kernels may be inlined.
    pub(super) is_inlined: bool,
    /// The folder with the kit's headers.
    pub(super) kit: &'a Path,
    pub(super) interrupted: &'a AtomicBool,
}

/// The number of lines that an error shows from the beginning of an output: the first message says
/// most.
const FIRST_LINES: usize = 30;
/// The number of lines that an error shows from the end of an output.
const LAST_LINES: usize = 10;
/// The most bytes of a line that are shown.
const LINE_BYTES_MAX: usize = 400;

/// Runs a command whose output goes to a file next to what it makes. Removes the file if the
/// command succeeds.
pub(super) fn run(
    command: &mut Command,
    log: &Path,
    interrupted: &AtomicBool,
) -> Result<(), BuildError> {
    let failed = || BuildError::io("writing", log);
    let output = File::create(log).map_err(failed())?;
    let errors = output.try_clone().map_err(failed())?;
    command.stdin(Stdio::null()).stdout(output).stderr(errors);
    let status = run_job(command, interrupted)
        .map_err(|reason| BuildError::Start { command: shown(command), reason })?;
    match status {
        Some(0) => fs::remove_file(log).map_err(failed()),
        None => Err(BuildError::Interrupted),
        Some(status) => {
            let output = fs::read(log).map_err(BuildError::io("reading", log))?;
            let output = excerpt(&String::from_utf8_lossy(&output));
            Err(BuildError::Failed { command: shown(command), status: ended(status), output })
        }
    }
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
    let lines: Vec<_> = output.trim_end().lines().map(shortened).collect();
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

fn shortened(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES_MAX)]
}

/// The values of the placeholders in braces: no word, one, or several.
#[derive(Clone, Debug, Default)]
pub(super) struct Places(Vec<(&'static str, Vec<String>)>);

impl Places {
    /// Returns the values that hold for every command of a recipe.
    pub(super) fn of(recipe: &Recipe, folder: &str, program: &Path) -> Places {
        let first = recipe.sources.first().map(String::as_str).unwrap_or_default();
        let stem = Path::new(first).file_stem().unwrap_or_default().to_string_lossy();
        Places::default()
            .with_path("program", program)
            .with("folder", [folder])
            .with("flags", &recipe.flags)
            .with("sources", &recipe.sources)
            .with("source", [first])
            .with("stem", [stem])
    }

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
        let filled = |word: &String| {
            let alone = self.0.iter().find(|(name, _)| is_alone(word, name));
            alone.map_or_else(|| vec![self.text(word)], |(_, words)| words.clone())
        };
        words.iter().flat_map(filled).collect()
    }

    /// Fills in a text. A placeholder in it stands for the first word of its value.
    pub(super) fn text(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, (name, words)| {
            text.replace(&format!("{{{name}}}"), words.first().map_or("", String::as_str))
        })
    }
}

fn is_alone(word: &str, name: &str) -> bool {
    word.strip_prefix('{').and_then(|word| word.strip_suffix('}')) == Some(name)
}

/// Returns the language standard of a recipe: the flag that is added for it, and its name. A
/// `-std=` among the recipe's flags takes precedence.
pub(super) fn standard(
    recipe: &Recipe,
    toolchain: &Toolchain,
) -> (Option<&'static str>, Option<String>) {
    let asked = recipe.flags.iter().rev().find_map(|flag| flag.strip_prefix("-std="));
    if let Some(asked) = asked {
        return (None, Some(asked.to_uppercase()));
    }
    let takes = |flag: &str| {
        let mut command = Command::new(&toolchain.program);
        command.args([flag, "-fsyntax-only", "-x", recipe.language.name(), "/dev/null"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
        command.status().is_ok_and(|status| status.success())
    };
    let mut standards = recipe.language.entry().standards.iter();
    let taken = *toolchain.standard.get_or_init(|| standards.find(|(flag, _)| takes(flag)));
    (taken.map(|(flag, _)| flag.as_str()), taken.map(|(_, name)| name.clone()))
}

/// Returns whether the flags of rustc set the optimisation level.
pub(super) fn has_rust_level(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "-O" || flag.contains("opt-level"))
}

/// Returns whether the flags of rustc set the edition.
pub(super) fn has_edition(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with("--edition"))
}

/// Returns a command with a recipe's environment that runs in the study's folder.
pub(super) fn command(study: &Study, recipe: &Recipe, program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&study.folder).stdin(Stdio::null());
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}

/// Returns such a command, word by word, from its program on.
pub(super) fn command_of(study: &Study, recipe: &Recipe, words: &[String]) -> Command {
    let mut words = words.iter();
    let mut command = command(study, recipe, words.next().map_or("", String::as_str));
    command.args(words);
    command
}

/// Returns the names of the objects of a recipe, in order.
pub(super) fn names(recipe: &Recipe) -> Vec<String> {
    let count = match recipe.language.entry().makes {
        Makes::SharedLibrary { compile: Compile::EachSource(_), .. } => recipe.sources.len(),
        _ => 1,
    };
    (0..count).map(|number| format!("{number}.o")).collect()
}

/// Compiles each source into its own object.
pub(super) fn each(
    steps: &Steps<'_>,
    places: &Places,
    command: &[String],
    folder: &Path,
) -> Result<(), BuildError> {
    for (source, name) in steps.recipe.sources.iter().zip(names(steps.recipe)) {
        all(steps, &places.clone().with("source", [source]), command, &folder.join(name))?;
    }
    Ok(())
}

/// Compiles what the command names into one object.
pub(super) fn all(
    steps: &Steps<'_>,
    places: &Places,
    command: &[String],
    object: &Path,
) -> Result<(), BuildError> {
    let words = places.clone().with_path("object", object).words(command);
    let log = object.with_file_name("log");
    run(&mut command_of(steps.study, steps.recipe, &words), &log, steps.interrupted)
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
