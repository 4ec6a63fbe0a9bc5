//! Makes objects from a recipe, and one library with nothing drawn.

use super::cache::{Cache, Key};
use super::error::BuildError;
use super::link::{Pad, link_logged, pads};
use super::steps::{Places, Task};
use super::toolchain::surroundings;
use super::{rust, sources};
use crate::program::resolve;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tiebreak_core::language::{Compile, Link, Makes};
use tiebreak_core::study::BuiltForm;

/// The table that the library of a contestant exports.
pub(super) const CONTESTANT: &str = "tiebreak_contestant_table";
/// The table that the library of an oracle exports.
pub(super) const ORACLE: &str = "tiebreak_oracle_table";

/// What the linker may export. Every other symbol is local to the library, so two contestants that
/// share a name, or the same source, never conflict.
const EXPORTS: &str =
    "{\n  global: tiebreak_contestant_table; tiebreak_oracle_table;\n  local: *;\n};\n";

/// A library to make.
pub(super) struct Library<'a> {
    pub(super) task: Task<'a>,
    /// The table that it exports.
    pub(super) table: &'static str,
    compile: &'a Compile,
    inlined: Option<&'a str>,
    link: &'a Link,
    /// The folder of the kit.
    pub(super) kit: PathBuf,
    /// The pads for code and those for data.
    pads: (Vec<Pad>, Vec<Pad>),
}

/// The file name of the library with nothing drawn, in its entry.
const LIBRARY: &str = "library.so";

impl<'a> Library<'a> {
    /// Returns the library that a recipe describes.
    ///
    /// # Errors
    /// [`BuildError::NoLibrary`] if the language's contestants are processes. Also fails if the kit
    /// or the pads cannot be made.
    pub(super) fn of(task: Task<'a>, table: &'static str) -> Result<Library<'a>, BuildError> {
        let language = task.recipe.language;
        let Makes::SharedLibrary { compile, inlined, link } = &language.entry().makes else {
            return Err(BuildError::NoLibrary { language: language.name() });
        };
        let (inlined, kit) = (inlined.as_deref(), kit(task.cache)?);
        let pads = pads(task.cache, task.interrupted)?;
        Ok(Library { task, table, compile, inlined, link, kit, pads })
    }

    /// Makes the library, unless the cache has it. Returns what its placements are linked from, and
    /// the library with nothing drawn.
    pub(super) fn make(&self) -> Result<(BuiltForm, PathBuf), BuildError> {
        let is_gold = self.link.gold.is_some() && has_gold();
        let place = self.task.cache.entry(self.key()?, |folder| {
            self.compile(folder)?;
            // A link failure should show here, and not during a race.
            let library = folder.join(LIBRARY);
            if is_gold {
                link_logged(&self.form(folder, true), 0, &library, self.task.interrupted)?;
            }
            link_logged(&self.form(folder, false), 0, &library, self.task.interrupted)
        })?;
        Ok((self.form(&place, is_gold), place.join(LIBRARY)))
    }

    /// Compiles the sources into objects.
    fn compile(&self, folder: &Path) -> Result<(), BuildError> {
        let task = &self.task;
        let inlined = self.inlined.filter(|_| task.is_inlined());
        let places = task.places().with_path("kit", &self.kit.join("include"));
        let places = places.with("standard", task.standard().0).with("inlined", inlined);
        match self.compile {
            Compile::EachSource(command) => {
                for (source, object) in task.recipe.sources.iter().zip(self.objects(folder)) {
                    let places = places.clone().with("source", [source]).with("object", [object]);
                    task.run_words(&places, command, folder)?;
                }
                Ok(())
            }
            Compile::AllSources(command) => {
                task.run_words(&places.with("object", self.objects(folder)), command, folder)
            }
            Compile::Rustc => self.rustc(folder),
            Compile::Cargo => self.cargo(folder),
        }
    }

    /// Returns the paths of the objects in this folder, in order.
    fn objects(&self, folder: &Path) -> Vec<String> {
        let each = matches!(self.compile, Compile::EachSource(_));
        let count = if each { self.task.recipe.sources.len() } else { 1 };
        let paths = (0..count).map(|number| folder.join(format!("{number}.o")));
        paths.map(|path| path.to_string_lossy().into_owned()).collect()
    }

    /// Returns what a placement is linked from, with the objects in this folder.
    fn form(&self, folder: &Path, is_gold: bool) -> BuiltForm {
        let libraries = self.task.recipe.libraries.iter().chain(&self.link.libraries);
        let (code_padding, data_padding) = self.pads.clone();
        BuiltForm::Objects {
            objects: self.objects(folder),
            linker: self.linker(is_gold),
            libraries: libraries.cloned().collect(),
            code_padding,
            data_padding,
        }
    }

    /// Returns the command that links, without its last arguments.
    fn linker(&self, is_gold: bool) -> Vec<String> {
        let exports = format!("--version-script={}", self.kit.join("exports").display());
        // Gold has no flag that also requires the symbol; the other linker has checked that it
        // exists.
        let required = if is_gold { "--undefined" } else { "--require-defined" };
        let required = format!("{required}={}", self.table);
        // No build id: equal placements are equal files. `now` resolves all addresses at load: the
        // first call is not slower. `defs` reports a missing symbol now and not at load.
        let words = [&exports, &required, "--build-id=none", "-z", "now", "-z", "defs", "-s"];
        let gold = self.link.gold.as_ref().filter(|_| is_gold);
        let mut linker = self.task.places().words(&self.link.command);
        linker.extend(gold.cloned());
        for word in words {
            linker.extend(Places::default().with("word", [word]).words(&self.link.pass));
        }
        linker.push(self.link.output.clone());
        linker
    }

    /// Returns a hash of everything that the objects depend on.
    fn key(&self) -> Result<Key, BuildError> {
        let (recipe, folder) = (self.task.recipe, self.task.folder());
        let mut key = surroundings()
            .with(self.table)
            .with(if has_gold() { "gold" } else { "ld" })
            .with(self.kit.as_os_str().as_encoded_bytes())
            .with(recipe.language.name())
            .with_all(self.task.toolchain.parts())
            .with_all(self.task.standard().0)
            .with(format!("{:?}", (self.compile, self.inlined, self.link)))
            .with_all(&recipe.flags)
            .with_all(&recipe.libraries)
            .with_all(self.task.environment().flat_map(|(name, value)| [name, value]))
            .with_all(&recipe.sources)
            .with(if self.task.is_inlined() { "inlined" } else { "separate" });
        key = key.with_files(folder, sources::dependencies(folder, recipe)?)?;
        if matches!(self.compile, Compile::Cargo) {
            for package in &recipe.sources {
                // The packages that this one names by path, and those that they name.
                for neighbour in rust::neighbours(&folder.join(package))? {
                    key = key.with_files(&neighbour, sources::list(&neighbour)?)?;
                }
            }
        }
        Ok(key)
    }
}

/// Returns whether the linker gold is installed: it links C++ in 8 ms where the usual one takes 20.
fn has_gold() -> bool {
    static HAS_GOLD: OnceLock<bool> = OnceLock::new();
    *HAS_GOLD.get_or_init(|| resolve("ld.gold", None).is_ok())
}

/// Returns a folder with what contestants are built with: the kit's headers and sources, and the
/// list of what a library exports.
fn kit(cache: &Cache) -> Result<PathBuf, BuildError> {
    let files = tiebreak_abi::SOURCES.iter().copied().chain([("exports", EXPORTS)]);
    let key = Key::new().with("kit").with_all(files.clone().flat_map(|(name, text)| [name, text]));
    cache.entry(key, |folder| {
        for (name, text) in files {
            let path = folder.join(name);
            let parent = path.parent().unwrap_or(folder);
            fs::create_dir_all(parent).map_err(BuildError::io("making", parent))?;
            fs::write(&path, text).map_err(BuildError::io("writing", &path))?;
        }
        Ok(())
    })
}
