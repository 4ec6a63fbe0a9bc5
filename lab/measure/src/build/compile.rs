//! From sources to objects, by the commands of the table of languages.

use super::error::BuildError;
use super::flags::command_of;
use super::steps::{Steps, run};
use super::template::Places;
use std::path::Path;
use tiebreak_core::language::{Compile, Makes};
use tiebreak_core::study::Recipe;

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
