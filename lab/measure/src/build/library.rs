//! A recipe made into objects, and once into a library as it comes.

use super::cache::Cache;
use super::error::BuildError;
use super::key::Key;
use super::link::link_logged;
use super::pads::pads;
use super::steps::Steps;
use super::toolchain::{Toolchain, surroundings};
use super::{cargo, compile, flags, rust, sources};
use crate::program::resolve;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::AtomicBool;
use tiebreak_core::study::{BuiltForm, Call, Language, Recipe, Study};

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

/// What the linker may export: everything else is the library's own, so that two contestants that
/// share a name, or are built of the same source, never meet.
const EXPORTS: &str =
    "{\n  global: tiebreak_contestant_table; tiebreak_oracle_table;\n  local: *;\n};\n";

/// What std of Rust needs of the system, as `rustc --print native-static-libs` says.
const RUST_LIBRARIES: [&str; 7] = ["-lgcc_s", "-lutil", "-lrt", "-lpthread", "-lm", "-ldl", "-lc"];

/// A library to be made.
pub(super) struct Library<'a> {
    pub(super) study: &'a Study,
    pub(super) recipe: &'a Recipe,
    pub(super) toolchain: &'a Toolchain,
    pub(super) interrupted: &'a AtomicBool,
}

/// A library that was made.
pub(super) struct Made {
    pub(super) form: BuiltForm,
    /// The library with nothing drawn.
    pub(super) object: PathBuf,
    pub(super) standard: Option<String>,
}

/// The name of the library with nothing drawn, in its entry.
const LIBRARY: &str = "library.so";

impl Library<'_> {
    /// Makes it, unless the cache has it.
    pub(super) fn make(&self, cache: &Cache, table: Table) -> Result<Made, BuildError> {
        let kit = kit(cache)?;
        let (flag, standard) = flags::standard(self.recipe, self.toolchain);
        let headers = kit.join("include");
        let steps = Steps {
            study: self.study,
            recipe: self.recipe,
            program: &self.toolchain.program,
            is_inlined: self.study.call == Call::Inlined,
            kit: &headers,
            interrupted: self.interrupted,
        };
        let (code_padding, data_padding) = pads(cache, self.interrupted)?;
        let form = |folder: &Path, is_gold: bool| {
            let objects = compile::names(self.recipe);
            let path = |name: String| folder.join(name).to_string_lossy().into_owned();
            BuiltForm::Objects {
                objects: objects.into_iter().map(path).collect(),
                linker: self.linker(&kit, table, is_gold),
                libraries: self.libraries(),
                code_padding: code_padding.clone(),
                data_padding: data_padding.clone(),
            }
        };
        let key = self.key(&kit, table, flag)?;
        let place = cache.entry(key, |folder| {
            match self.recipe.language {
                Language::D => compile::d(&steps, folder)?,
                Language::Rust => {
                    let kit = rust::kit(cache, &steps, self.toolchain, surroundings())?;
                    rust::rust(&steps, &kit, table, folder)?;
                }
                Language::Cargo => cargo::cargo(&steps, table, folder)?,
                _ => compile::c(&steps, flag, folder)?,
            }
            // Whether it links is seen here, and not while something is raced.
            let library = folder.join(LIBRARY);
            if self.is_gold() {
                link_logged(&form(folder, true), 0, &library, self.interrupted)?;
            }
            link_logged(&form(folder, false), 0, &library, self.interrupted)
        })?;
        let form = form(&place, self.is_gold());
        Ok(Made { form, object: place.join(LIBRARY), standard })
    }

    /// Whether placements are linked by gold.
    fn is_gold(&self) -> bool {
        self.recipe.language != Language::D && has_gold()
    }

    /// The command that links, less its last words.
    fn linker(&self, kit: &Path, table: Table, is_gold: bool) -> Vec<String> {
        let exports = format!("--version-script={}", kit.join("exports").display());
        // Gold has no word that also insists: the other linker has seen that it is there.
        let required = if is_gold { "--undefined" } else { "--require-defined" };
        let required = format!("{required}={}", table.symbol());
        // No name of a build: equal placements are equal files. All addresses are found at once:
        // a call is not slower the first time. What is missing is seen now and not when it loads.
        let words = [&exports, &required, "--build-id=none", "-z", "now", "-z", "defs", "-s"];
        let (program, each, out) = match self.recipe.language {
            Language::D => (self.toolchain.program.to_string_lossy().into_owned(), "-L", "-of="),
            Language::C | Language::Cpp => {
                (self.toolchain.program.to_string_lossy().into_owned(), "-Xlinker", "-o")
            }
            _ => ("cc".to_owned(), "-Xlinker", "-o"),
        };
        let mut linker = vec![program];
        if matches!(self.recipe.language, Language::C | Language::Cpp | Language::D) {
            linker.extend(self.recipe.flags.iter().cloned());
        }
        linker.push("-shared".to_owned());
        if is_gold {
            linker.push("-fuse-ld=gold".to_owned());
        }
        for word in words {
            if each == "-L" {
                linker.push(format!("-L={word}"));
            } else {
                linker.extend([each.to_owned(), (*word).to_owned()]);
            }
        }
        linker.push(out.to_owned());
        linker
    }

    fn libraries(&self) -> Vec<String> {
        let own = self.recipe.libraries.iter().cloned();
        let is_rust = matches!(self.recipe.language, Language::Rust | Language::Cargo);
        let rust = RUST_LIBRARIES.iter().filter(|_| is_rust).map(|word| (*word).to_owned());
        own.chain(rust).collect()
    }

    /// Everything that the objects depend on.
    fn key(&self, kit: &Path, table: Table, standard: Option<&str>) -> Result<Key, BuildError> {
        let recipe = self.recipe;
        let folder = Path::new(&self.study.folder);
        let program = self.toolchain.program.as_os_str().as_encoded_bytes();
        let mut key = surroundings()
            .with(table.symbol())
            .with(if has_gold() { "gold" } else { "ld" })
            .with(kit.as_os_str().as_encoded_bytes())
            .with(recipe.language.name())
            .with_all([program, self.toolchain.receipt.as_bytes()])
            .with_all(standard)
            .with_all(&recipe.flags)
            .with_all(&recipe.libraries)
            .with_all(recipe.environment.iter().flat_map(|(name, value)| [name, value]))
            .with_all(&recipe.sources)
            .with(if self.study.call == Call::Inlined { "inlined" } else { "separate" });
        for file in sources::dependencies(folder, recipe)? {
            key = key.with_file(folder, &file)?;
        }
        if recipe.language == Language::Cargo {
            for package in &recipe.sources {
                key = cargo::with_neighbours(key, &folder.join(package))?;
            }
        }
        Ok(key)
    }
}

/// Whether the linker gold is here: it links C++ in 8 ms where the usual one takes 20.
fn has_gold() -> bool {
    static HAS_GOLD: OnceLock<bool> = OnceLock::new();
    *HAS_GOLD.get_or_init(|| resolve("ld.gold", None).is_ok())
}

/// Gives a folder with what contestants are built with: the kit's headers and sources, and the list
/// of what a library exports.
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
