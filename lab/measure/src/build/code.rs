//! Which code a contestant is, whatever it is built with.

use super::cache::Key;
use super::error::BuildError;
use super::rust;
use super::sources::{self, Search, may_be_included};
use std::ffi::OsStr;
use std::path::Path;
use tiebreak_core::study::{Recipe, Study};

/// Separates hashes of different versions of this code.
const VERSION: &str = "tiebreak code 1";

/// Folders of a package that a build of it does not read.
const ASIDE: [&str; 3] = ["tests", "examples", "benches"];

/// Returns a hash of what a contestant is built from: whether kernels are inlined, the name of its
/// compiler, its flags, libraries and variables, its sources and the files that they name, and the
/// packages that its manifest names by path. Neither the machine nor the version of a compiler
/// changes it; a comment does. 32 hexadecimal digits.
///
/// # Errors
/// Fails if one of the files cannot be read.
pub fn code_of(study: &Study, recipe: &Recipe) -> Result<String, BuildError> {
    let folder = Path::new(&study.folder);
    let mut key = Key::of(VERSION)
        .with(format!("{:?}", study.call))
        .with(recipe.language.name())
        .with(&recipe.compiler)
        .with_all(&recipe.flags)
        .with_all(&recipe.libraries)
        .with_all(recipe.environment.iter().flat_map(|(name, value)| [name, value]))
        .with_all(
            recipe.sources.iter().map(|source| name_of(Path::new(source)).as_encoded_bytes()),
        );
    let packages = if recipe.language.is_package() { &recipe.sources[..] } else { &[] };
    for file in sources::dependencies(folder, recipe, Search::Sure)? {
        let inside = packages.iter().find_map(|package| file.strip_prefix(package).ok());
        if packages.is_empty() || is_read(inside.unwrap_or(&file)) {
            let place = if file.is_absolute() { file.parent() } else { None };
            key = key.with_files(place.unwrap_or(folder), [name_of(&file)])?;
        }
    }
    let mut others = Vec::new();
    for package in packages {
        for neighbour in rust::neighbours(&folder.join(package))? {
            let mut files = sources::list(&neighbour)?;
            files.retain(|file| is_read(file));
            others.push(Key::of(VERSION).with_files(&neighbour, files)?.name());
        }
    }
    // Where they lie, and so their order, may differ from machine to machine.
    others.sort_unstable();
    Ok(key.with_all(others).name())
}

/// Returns the name of a file of a study; of one elsewhere, whose path is one of this machine, the
/// last part.
fn name_of(file: &Path) -> &OsStr {
    if file.is_absolute() { file.file_name().unwrap_or_default() } else { file.as_os_str() }
}

/// Returns whether a build may read a file of a package, given by its path from there.
fn is_read(file: &Path) -> bool {
    let first = file.iter().next().unwrap_or_default();
    may_be_included(file) && !ASIDE.iter().any(|aside| first == *aside)
}
