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
use tiebreak_core::language::{Compile, Link};
use tiebreak_core::study::BuiltForm;

/// What a library exports.
#[derive(Clone, Copy, Debug)]
pub(super) enum Table {
    Contestant,
    Oracle,
}

impl Table {
    pub(super) fn symbol(self) -> &'static str {
        match self {
            Table::Contestant => "tiebreak_contestant_table",
            Table::Oracle => "tiebreak_oracle_table",
        }
    }
}

/// What the linker may export. Every other symbol is local to the library, so two contestants that
/// share a name, or the same source, never conflict.
const EXPORTS: &str =
    "{\n  global: tiebreak_contestant_table; tiebreak_oracle_table;\n  local: *;\n};\n";

/// A library to make.
pub(super) struct Library<'a> {
    pub(super) task: Task<'a>,
    pub(super) compile: &'a Compile,
    pub(super) inlined: Option<&'a str>,
    pub(super) link: &'a Link,
}

/// A library that was made.
pub(super) struct Made {
    pub(super) form: BuiltForm,
    /// The library with nothing drawn.
    pub(super) object: PathBuf,
    pub(super) standard: Option<String>,
}

/// The file name of the library with nothing drawn, in its entry.
const LIBRARY: &str = "library.so";
/// The file name of its only object, in its entry.
const OBJECT: &str = "0.o";

impl Library<'_> {
    /// Makes the library, unless the cache has it.
    pub(super) fn make(&self, cache: &Cache, table: Table) -> Result<Made, BuildError> {
        let kit = kit(cache)?;
        let (flag, standard) = self.task.standard();
        let interrupted = self.task.interrupted;
        let headers = kit.join("include");
        let inlined = self.inlined.filter(|_| self.task.is_inlined());
        let places = self.task.places().with_path("kit", &headers);
        let places = places.with("standard", flag).with("inlined", inlined);
        let pads = pads(cache, interrupted)?;
        let place = cache.entry(self.key(&kit, table, flag)?, |folder| {
            self.compile(cache, &headers, &places, table, folder)?;
            // A link failure should show here, and not during a race.
            let library = folder.join(LIBRARY);
            if self.is_gold() {
                link_logged(
                    &self.form(folder, &kit, table, &pads, true),
                    0,
                    &library,
                    interrupted,
                )?;
            }
            link_logged(&self.form(folder, &kit, table, &pads, false), 0, &library, interrupted)
        })?;
        let form = self.form(&place, &kit, table, &pads, self.is_gold());
        Ok(Made { form, object: place.join(LIBRARY), standard })
    }

    /// Compiles the sources into objects.
    fn compile(
        &self,
        cache: &Cache,
        headers: &Path,
        places: &Places,
        table: Table,
        folder: &Path,
    ) -> Result<(), BuildError> {
        let log = folder.join("log");
        match self.compile {
            Compile::EachSource(command) => {
                for (source, name) in self.task.recipe.sources.iter().zip(self.names()) {
                    let places = places.clone().with("source", [source]);
                    let places = places.with_path("object", &folder.join(name));
                    self.task.run_words(&places, command, &log)?;
                }
                Ok(())
            }
            Compile::AllSources(command) => {
                let places = places.clone().with_path("object", &folder.join(OBJECT));
                self.task.run_words(&places, command, &log)
            }
            Compile::Rustc => {
                let kit = rust::kit(cache, &self.task, headers, surroundings())?;
                rust::rust(&self.task, &kit, table, folder)
            }
            Compile::Cargo => rust::cargo(&self.task, table, folder),
        }
    }

    /// Returns the file names of the objects, in order.
    fn names(&self) -> impl Iterator<Item = String> + use<> {
        let each = matches!(self.compile, Compile::EachSource(_));
        let count = if each { self.task.recipe.sources.len() } else { 1 };
        (0..count).map(|number| format!("{number}.o"))
    }

    /// Returns what a placement is linked from, with the objects in this folder.
    fn form(
        &self,
        folder: &Path,
        kit: &Path,
        table: Table,
        (code_padding, data_padding): &(Vec<Pad>, Vec<Pad>),
        is_gold: bool,
    ) -> BuiltForm {
        let objects = self.names().map(|name| folder.join(name).to_string_lossy().into_owned());
        let libraries = self.task.recipe.libraries.iter().chain(&self.link.libraries);
        BuiltForm::Objects {
            objects: objects.collect(),
            linker: self.linker(kit, table, is_gold),
            libraries: libraries.cloned().collect(),
            code_padding: code_padding.clone(),
            data_padding: data_padding.clone(),
        }
    }

    /// Returns whether gold links the placements.
    fn is_gold(&self) -> bool {
        self.link.gold.is_some() && has_gold()
    }

    /// Returns the command that links, without its last arguments.
    fn linker(&self, kit: &Path, table: Table, is_gold: bool) -> Vec<String> {
        let exports = format!("--version-script={}", kit.join("exports").display());
        // Gold has no flag that also requires the symbol; the other linker has checked that it
        // exists.
        let required = if is_gold { "--undefined" } else { "--require-defined" };
        let required = format!("{required}={}", table.symbol());
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
    fn key(&self, kit: &Path, table: Table, standard: Option<&str>) -> Result<Key, BuildError> {
        let (recipe, folder) = (self.task.recipe, self.task.folder());
        let mut key = surroundings()
            .with(table.symbol())
            .with(if has_gold() { "gold" } else { "ld" })
            .with(kit.as_os_str().as_encoded_bytes())
            .with(recipe.language.name())
            .with_all(self.task.toolchain.parts())
            .with_all(standard)
            .with(format!("{:?}", (self.compile, self.inlined, self.link)))
            .with_all(&recipe.flags)
            .with_all(&recipe.libraries)
            .with_all(recipe.environment.iter().flat_map(|(name, value)| [name, value]))
            .with_all(&recipe.sources)
            .with(if self.task.is_inlined() { "inlined" } else { "separate" });
        for file in sources::dependencies(folder, recipe)? {
            key = key.with_file(folder, &file)?;
        }
        if matches!(self.compile, Compile::Cargo) {
            for package in &recipe.sources {
                key = rust::with_neighbours(key, &folder.join(package))?;
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
