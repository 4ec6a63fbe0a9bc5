//! What is read from a recipe's flags, and what is added to them.

use super::toolchain::Toolchain;
use std::ffi::OsStr;
use std::process::{Command, Stdio};
use tiebreak_core::study::{Recipe, Study};

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
