//! What is read out of a recipe's flags, and what is added to them.

use super::steps::Steps;
use super::toolchain::Toolchain;
use std::process::{Command, Stdio};
use tiebreak_core::study::{Language, Recipe};

/// What C is compiled as: the first of these that the compiler takes.
const C_STANDARDS: [(&str, &str); 3] =
    [("-std=c23", "C23"), ("-std=c2x", "C2x (C23 draft)"), ("-std=c17", "C17")];

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
    if recipe.language != Language::C {
        return (None, None);
    }
    let takes = |flag: &str| {
        let mut command = Command::new(&toolchain.program);
        command.args([flag, "-fsyntax-only", "-x", "c", "/dev/null"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.envs(recipe.environment.iter().map(|(name, value)| (name, value)));
        command.status().is_ok_and(|status| status.success())
    };
    let taken =
        toolchain.c_standard.get_or_init(|| C_STANDARDS.into_iter().find(|(flag, _)| takes(flag)));
    (taken.map(|(flag, _)| flag), taken.map(|(_, name)| name.to_owned()))
}

/// Whether the flags of rustc say how much is optimised.
pub(super) fn has_rust_level(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag == "-O" || flag.contains("opt-level"))
}

/// Whether the flags of rustc say which edition the source is of.
pub(super) fn has_edition(flags: &[String]) -> bool {
    flags.iter().any(|flag| flag.starts_with("--edition"))
}

/// A command with a recipe's environment that runs in the study's folder.
pub(super) fn command(steps: &Steps<'_>, program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(&steps.study.folder).stdin(Stdio::null());
    command.envs(steps.recipe.environment.iter().map(|(name, value)| (name, value)));
    command
}
