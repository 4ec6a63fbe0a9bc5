//! Which code a contestant is, whatever it is built with.

use super::cache::Key;
use super::error::BuildError;
use super::{rust, sources};
use std::fs;
use std::path::Path;
use tiebreak_core::study::Recipe;

/// Separates hashes of different versions of this code.
const VERSION: &str = "tiebreak code 1";

/// Returns a hash of what a contestant is built from: the name of its compiler, its flags,
/// libraries and variables, and every file that a build reads of the study and of the packages that
/// it names by path. Neither the machine nor the version of a compiler changes it. 32 hexadecimal
/// digits.
///
/// # Errors
/// Fails if one of the files cannot be read.
pub fn code_of(folder: &Path, recipe: &Recipe) -> Result<String, BuildError> {
    let mut key = Key::of(VERSION)
        .with(recipe.language.name())
        .with(&recipe.compiler)
        .with_all(&recipe.flags)
        .with_all(&recipe.libraries)
        .with_all(recipe.environment.iter().flat_map(|(name, value)| [name, value]));
    for file in sources::dependencies(folder, recipe)? {
        let path = folder.join(&file);
        let content = fs::read(&path).map_err(BuildError::io("reading", &path))?;
        // A file elsewhere is named by a path of this machine.
        let name = if file.is_absolute() { file.file_name() } else { Some(file.as_os_str()) };
        key = key.with(name.unwrap_or_default().as_encoded_bytes()).with(content);
    }
    if recipe.language.is_package() {
        for package in &recipe.sources {
            for neighbour in rust::neighbours(&folder.join(package))? {
                key = key.with_files(&neighbour, sources::list(&neighbour)?)?;
            }
        }
    }
    Ok(key.name())
}
