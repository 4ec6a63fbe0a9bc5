//! Contestants in another runtime: nothing is compiled.

use super::error::BuildError;
use super::sources::dependencies;
use super::toolchain::Toolchain;
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_core::study::{BuiltForm, Language, Recipe, Study};

/// The command of a contestant: its interpreter, its flags, its script, in the study's folder.
/// Python is told to write nothing beside the sources. What a runner needs to find the protocol's
/// clients is added where it is started. Nothing of the script is kept, so what it may import is
/// named: a run goes on only while these files are what they were.
pub(super) fn form(
    study: &Study,
    recipe: &Recipe,
    toolchain: &Toolchain,
) -> Result<BuiltForm, BuildError> {
    let folder = Path::new(&study.folder);
    let script = folder.join(recipe.sources.first().map(String::as_str).unwrap_or_default());
    fs::metadata(&script).map_err(BuildError::io("reading", &script))?;
    let mut command = vec![toolchain.program.to_string_lossy().into_owned()];
    command.extend(recipe.flags.iter().cloned());
    command.push(script.to_string_lossy().into_owned());
    let mut environment = Vec::new();
    if recipe.language == Language::Python {
        environment.push(("PYTHONDONTWRITEBYTECODE".to_owned(), "1".to_owned()));
    }
    environment.extend(recipe.environment.iter().cloned());
    let absolute = |file: PathBuf| folder.join(file).to_string_lossy().into_owned();
    let files = dependencies(folder, recipe)?.into_iter().map(absolute).collect();
    Ok(BuiltForm::Runner { command, environment, directory: study.folder.clone(), files })
}
