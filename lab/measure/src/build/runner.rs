//! Contestants that are processes: interpreted, or built by their language's own commands.

use super::cache::Key;
use super::error::BuildError;
use super::sources::{Search, dependencies, entries, list};
use super::steps::{Places, Task};
use super::toolchain::surroundings;
use crate::clients::Clients;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tiebreak_core::study::BuiltForm;

/// What the table says about a language whose contestants are processes.
pub(super) struct Runner<'a> {
    pub(super) task: Task<'a>,
    pub(super) clients: &'a Clients,
    pub(super) files: &'a BTreeMap<String, String>,
    pub(super) build: &'a [Vec<String>],
    pub(super) command: &'a [String],
}

impl Runner<'_> {
    /// Makes the runner, unless the cache has it, and returns its command, which runs in the
    /// study's folder.
    ///
    /// For an interpreted contestant, the form lists the files that the interpreter may import; for
    /// a built one, the files that the build has left. A run continues only while these files are
    /// unchanged.
    pub(super) fn form(&self) -> Result<BuiltForm, BuildError> {
        let (recipe, folder) = (self.task.recipe, self.task.folder());
        let sources = dependencies(folder, recipe, Search::All)?;
        let own = recipe.language.entry().environment.clone().into_iter();
        let environment = own.chain(recipe.environment.iter().cloned()).collect();
        let directory = self.task.study.folder.clone();
        if self.build.is_empty() {
            // Absolute, because the interpreter may start the script from any folder.
            let first = folder.join(recipe.sources.first().map_or("", String::as_str));
            fs::metadata(&first).map_err(BuildError::io("reading", &first))?;
            let command = self.places().with_path("source", &first).words(self.command);
            let files = absolute(folder, sources);
            return Ok(BuiltForm::Runner { command, environment, directory, files });
        }
        let place = self.task.cache.entry(self.key(folder, &sources)?, |out| self.fill(out))?;
        let command = self.places().with_path("out", &place).words(self.command);
        let files = absolute(&place, list(&place)?);
        Ok(BuiltForm::Runner { command, environment, directory, files })
    }

    fn places(&self) -> Places {
        self.task.places().with_path("sdk", &self.clients.0)
    }

    /// Fills the folder of a build. Removes what its commands keep there under a hidden name.
    fn fill(&self, out: &Path) -> Result<(), BuildError> {
        let places = self.places().with_path("out", out);
        for (name, text) in self.files {
            let path = out.join(name);
            fs::write(&path, places.text(text)).map_err(BuildError::io("writing", &path))?;
        }
        for command in self.build {
            self.task.run_words(&places, command, out)?;
        }
        for path in entries(out)? {
            let name = path.file_name().unwrap_or_default();
            if name.as_encoded_bytes().starts_with(b".") && path.is_dir() {
                fs::remove_dir_all(&path).map_err(BuildError::io("removing", &path))?;
            }
        }
        Ok(())
    }

    /// Returns a hash of everything that the build depends on.
    fn key(&self, folder: &Path, sources: &[PathBuf]) -> Result<Key, BuildError> {
        let recipe = self.task.recipe;
        let key = surroundings()
            .with(recipe.language.name())
            .with_all(self.task.toolchain.parts())
            .with(self.clients.0.as_os_str().as_encoded_bytes())
            .with_all(self.files.iter().flat_map(|(name, text)| [name, text]))
            .with_all(self.build.iter().flatten())
            .with_all(&recipe.flags)
            .with_all(self.task.environment().flat_map(|(name, value)| [name, value]))
            .with(folder.as_os_str().as_encoded_bytes())
            .with_all(&recipe.sources);
        key.with_files(folder, sources)
    }
}

/// Returns files of a folder as absolute paths.
fn absolute(folder: &Path, files: impl IntoIterator<Item = PathBuf>) -> Vec<String> {
    let paths = files.into_iter().map(|file| folder.join(file));
    paths.map(|path| path.to_string_lossy().into_owned()).collect()
}
