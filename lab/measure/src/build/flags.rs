//! What is read from a recipe's flags, and what is added to them.

use super::steps::Steps;
use super::toolchain::Toolchain;
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

/// Returns a command, argument by argument, with a recipe's environment, that runs in the study's
/// folder.
pub(super) fn in_folder(study: &Study, recipe: &Recipe, words: &[String]) -> Command {
    let (program, rest) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    let mut command = Command::new(program);
    command.args(rest).current_dir(&study.folder).stdin(Stdio::null());
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}

/// Returns a command with a recipe's environment that runs in the study's folder.
pub(super) fn command(steps: &Steps<'_>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&steps.study.folder).stdin(Stdio::null());
    command.envs(steps.recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}
