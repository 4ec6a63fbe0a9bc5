//! Builds: a study's recipes become objects, and objects become placements.
//!
//! [`Builder`] compiles. It keeps what it makes in a cache outside the source tree, under a name
//! that is a hash of everything it was made from, so nothing is compiled twice. It makes each entry
//! of the cache in a separate folder and renames it when it is complete. Processes may therefore
//! build at the same time, and a build that was killed leaves no entry.
//!
//! [`Linker`] links the objects of one contestant into a shared library whose code and data lie at
//! addresses that a seed determines: a *placement*. [`Stock`] links placements ahead, while nothing
//! is timed. `docs/manual/placements.md` says what is drawn and what is not.

mod cache;
mod code;
mod error;
mod library;
mod link;
mod place;
mod process;
mod runner;
mod rust;
mod sources;
mod steps;
mod stock;
mod toolchain;

use crate::build::cache::Cache;
use crate::build::library::Library;
use crate::build::runner::Runner;
use crate::build::steps::Task;
use crate::build::toolchain::Toolchains;
use crate::clients;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tiebreak_core::language::Makes;
use tiebreak_core::study::{Built, BuiltForm, Entrant, Recipe, Study};

pub use cache::default_cache;
pub use code::code_of;
pub use error::BuildError;
pub use library::print_of;
pub use link::Linker;
pub use place::{Placer, Refusal};
pub use stock::Stock;
pub use toolchain::compilers;

/// Compiles the contestants and oracles of studies. Several threads may use it at once.
#[derive(Debug)]
pub struct Builder {
    folder: PathBuf,
    cache: Cache,
    toolchains: Toolchains,
}

impl Builder {
    /// Creates a builder that keeps its output in this folder, which need not exist yet. Removes
    /// what killed builds left there, and what was not used for 30 days.
    pub fn new(cache: &Path) -> Builder {
        let toolchains = Toolchains::default();
        Builder { folder: cache.to_owned(), cache: Cache::new(cache), toolchains }
    }

    /// Builds a contestant, unless the cache has it, which takes some milliseconds. Returns it with
    /// its shared library with nothing drawn, in the cache. A contestant that is a process has no
    /// library. For an interpreted contestant, only the receipt is recorded.
    ///
    /// # Errors
    /// [`BuildError::Missing`] if its compiler or interpreter is missing: other contestants can go
    /// on. Also fails if a compile or link fails, the cache cannot be written, or the user
    /// interrupts.
    pub fn build(
        &self,
        study: &Study,
        entrant: &Entrant,
        interrupted: &AtomicBool,
    ) -> Result<(Built, Option<PathBuf>), BuildError> {
        let recipe = &entrant.recipe;
        let toolchain = &*self.toolchains.find(recipe, &study.folder)?;
        // Before the build: files may change in the meantime.
        let code = code_of(study, recipe)?;
        let task = Task { study, recipe, toolchain, cache: &self.cache, interrupted };
        let clients = || {
            let failed = BuildError::io("writing the clients to", &self.folder);
            clients::install(&self.folder).map_err(failed)
        };
        let (form, standard, library) = match &recipe.language.entry().makes {
            Makes::Runner { files, build, run: command } => {
                let runner = Runner { task, clients: &clients()?, files, build, command };
                (runner.form()?, None, None)
            }
            Makes::SharedLibrary { .. } => {
                let library = Library::of(task, library::CONTESTANT)?;
                let (mut form, object) = library.make()?;
                if recipe.is_process {
                    form = process::form(task, &clients()?, &object)?;
                }
                (form, task.standard().1, Some(object))
            }
        };
        let contract = study.contracts.iter().find(|contract| contract.name == entrant.contract);
        let built = Built {
            contract: entrant.contract.clone(),
            is_exact: contract.is_none_or(|contract| contract.is_exact),
            language: recipe.language,
            receipt: toolchain.receipt.clone(),
            code: Some(code),
            standard,
            form,
            // The number is set by code that knows the machine.
            team: None,
        };
        Ok((built, library))
    }

    /// Returns what the compiler or the interpreter of a recipe reports as its version. Builds
    /// nothing.
    ///
    /// # Errors
    /// [`BuildError::Missing`] if it is not installed.
    pub fn receipt(&self, study: &Study, recipe: &Recipe) -> Result<String, BuildError> {
        Ok(self.toolchains.find(recipe, &study.folder)?.receipt.clone())
    }

    /// Builds the oracle and returns its shared library, in the cache; `None` if the study has
    /// none.
    ///
    /// # Errors
    /// As [`Builder::build`].
    pub fn build_oracle(
        &self,
        study: &Study,
        interrupted: &AtomicBool,
    ) -> Result<Option<PathBuf>, BuildError> {
        let Some(recipe) = &study.oracle else {
            return Ok(None);
        };
        let toolchain = &*self.toolchains.find(recipe, &study.folder)?;
        let task = Task { study, recipe, toolchain, cache: &self.cache, interrupted };
        let library = Library::of(task, library::ORACLE)?;
        Ok(Some(library.make()?.1))
    }
}

/// Locks a map of this module, which is intact even after a thread panicked: values are only ever
/// added or taken.
fn locked<T>(map: &Mutex<T>) -> MutexGuard<'_, T> {
    map.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the paths of the objects of a form; none for a runner.
pub(crate) fn objects(form: &BuiltForm) -> &[String] {
    match form {
        BuiltForm::Objects { objects, .. } => objects,
        BuiltForm::Runner { .. } => &[],
    }
}
