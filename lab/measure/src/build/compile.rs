//! From sources to objects, in C, C++ and D.

use super::error::BuildError;
use super::flags::command;
use super::steps::{Steps, run};
use std::path::{Path, PathBuf};
use tiebreak_core::study::{Language, Recipe};

/// The names of the objects of a recipe, in their order.
pub(super) fn names(recipe: &Recipe) -> Vec<String> {
    match recipe.language {
        Language::C | Language::Cpp => {
            (0..recipe.sources.len()).map(|number| format!("{number}.o")).collect()
        }
        _ => vec!["0.o".to_owned()],
    }
}

/// Compiles each source of C or C++ into an object of its own.
///
/// Everything but the table is hidden: the compiler may then do with a library's functions what it
/// does with a program's, though the code is position-independent.
pub(super) fn c(
    steps: &Steps<'_>,
    standard: Option<&str>,
    folder: &Path,
) -> Result<(), BuildError> {
    for (source, name) in steps.recipe.sources.iter().zip(names(steps.recipe)) {
        let mut command = command(steps, steps.program);
        command.args(standard).args(["-fPIC", "-fvisibility=hidden", "-I"]).arg(steps.kit);
        command.args(["-I", "."]);
        if steps.is_inlined {
            command.arg("-DTIEBREAK_INLINED");
        }
        command.args(&steps.recipe.flags).args(["-c", source, "-o"]).arg(folder.join(name));
        run(&mut command, &folder.join("log"), steps.interrupted)?;
    }
    Ok(())
}

/// Compiles the sources of D, and the kit's module, into one object.
pub(super) fn d(steps: &Steps<'_>, folder: &Path) -> Result<(), BuildError> {
    let mut command = command(steps, steps.program);
    command.args(["-c", "-relocation-model=pic", "-i=tiebreak"]);
    command.arg(joined("-I=", steps.kit)).arg("-I=.");
    if steps.is_inlined {
        command.arg("-d-version=TIEBREAK_INLINED");
    }
    command.args(&steps.recipe.flags).args(&steps.recipe.sources);
    command.arg(joined("-of=", &folder.join("0.o")));
    run(&mut command, &folder.join("log"), steps.interrupted)
}

/// A word and a path as one word.
pub(super) fn joined(word: &str, path: &Path) -> PathBuf {
    let mut joined = std::ffi::OsString::from(word);
    joined.push(path);
    joined.into()
}
