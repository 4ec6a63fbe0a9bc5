//! What is read out of a recipe's flags, and what is added to them.

use super::steps::Steps;
use super::toolchain::Toolchain;
use std::process::{Command, Stdio};
use tiebreak_core::study::{Recipe, Study};

/// The standard that a recipe is compiled as: the flag that is added for it, and what it is called.
/// A `-std=` among the recipe's flags goes before ours.
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

/// Whether the flags of rustc say how much is optimised.
pub(super) fn has_rust_level(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "-O" || flag.contains("opt-level"))
}

/// Whether the flags of rustc say which edition the source is of.
pub(super) fn has_edition(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with("--edition"))
}

/// A command, word by word, with a recipe's environment, that runs in the study's folder.
pub(super) fn in_folder(study: &Study, recipe: &Recipe, words: &[String]) -> Command {
    let (program, rest) = words.split_first().map_or(("", &[][..]), |(first, rest)| (first, rest));
    let mut command = Command::new(program);
    command.args(rest).current_dir(&study.folder).stdin(Stdio::null());
    command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}

/// A command with a recipe's environment that runs in the study's folder.
pub(super) fn command(steps: &Steps<'_>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&steps.study.folder).stdin(Stdio::null());
    command.envs(steps.recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}
