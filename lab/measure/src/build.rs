//! Builds: a study's recipes become objects, and objects become placements.
//!
//! [`Builder`] compiles. What it makes is kept under a name that is a hash of all that it was made
//! from, in a cache outside the source tree, so that nothing is compiled twice. An entry of the
//! cache is made in a folder of its own and renamed in whole: processes may build side by side, and
//! a build that was killed leaves nothing that counts.
//!
//! [`Linker`] links the objects of one contestant into a shared library whose code and data stand
//! where a seed says: a *placement*. [`Stock`] links placements ahead, while nothing is timed.
//! `docs/manual/placements.md` says what is drawn and what is not.

mod cache;
mod cargo;
mod compile;
mod draw;
mod error;
mod flags;
mod key;
mod library;
mod link;
mod pads;
mod runner;
mod rust;
mod scratch;
mod sources;
mod steps;
mod stock;
mod toolchain;
mod versions;

pub use cache::default_cache;
pub use error::BuildError;
pub use link::Linker;
pub use stock::Stock;
pub use versions::compilers;

use cache::Cache;
use library::{Library, Table};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::study::{Built, BuiltForm, Entrant, Recipe, Study};
use toolchain::Toolchains;

/// Compiles what studies are made of. May be used by several threads at once.
#[derive(Debug)]
pub struct Builder {
    cache: Cache,
    toolchains: Toolchains,
}

impl Builder {
    /// A builder that keeps what it makes in this folder, which need not be there yet. Removes what
    /// builds that were killed left there, and what was not used for 30 days.
    pub fn new(cache: &Path) -> Builder {
        Builder { cache: Cache::new(cache), toolchains: Toolchains::default() }
    }

    /// Builds a contestant, unless it is there; some milliseconds if it is. Gives with it its
    /// shared library with nothing drawn, in the cache. A contestant in another runtime is not
    /// compiled: of it the receipt is taken, and the command is made; it has no library.
    ///
    /// # Errors
    /// [`BuildError::Missing`] where its compiler or interpreter is not there: others can go on.
    /// A failing compile or link, a cache that cannot be written, an interruption.
    pub fn build(
        &self,
        study: &Study,
        entrant: &Entrant,
        interrupted: &AtomicBool,
    ) -> Result<(Built, Option<PathBuf>), BuildError> {
        let recipe = &entrant.recipe;
        let toolchain = self.toolchains.find(recipe, &study.folder)?;
        let (form, standard, library) = if recipe.language.is_runner() {
            (runner::form(study, recipe, &toolchain)?, None, None)
        } else {
            let library = Library { study, recipe, toolchain: &toolchain, interrupted };
            let made = library.make(&self.cache, Table::Contestant)?;
            (made.form, made.standard, Some(made.object))
        };
        let contract = study.contracts.iter().find(|contract| contract.name == entrant.contract);
        let built = Built {
            contract: entrant.contract.clone(),
            is_exact: contract.is_none_or(|contract| contract.is_exact),
            language: recipe.language,
            receipt: toolchain.receipt.clone(),
            standard,
            form,
            // Whoever knows the machine says how many they are.
            team: None,
        };
        Ok((built, library))
    }

    /// What the compiler or the interpreter of a recipe says that it is; nothing is built.
    ///
    /// # Errors
    /// [`BuildError::Missing`] where it is not there.
    pub fn receipt(&self, study: &Study, recipe: &Recipe) -> Result<String, BuildError> {
        Ok(self.toolchains.find(recipe, &study.folder)?.receipt.clone())
    }

    /// Builds the oracle and gives its shared library, in the cache; `None` if the study has none.
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
        let toolchain = self.toolchains.find(recipe, &study.folder)?;
        if recipe.language.is_runner() {
            return Err(BuildError::NoLibrary { language: recipe.language.name() });
        }
        let library = Library { study, recipe, toolchain: &toolchain, interrupted };
        Ok(Some(library.make(&self.cache, Table::Oracle)?.object))
    }
}

/// The paths of the objects of a form; of a runner none.
fn objects(form: &BuiltForm) -> &[String] {
    match form {
        BuiltForm::Objects { objects, .. } => objects,
        BuiltForm::Runner { .. } => &[],
    }
}
