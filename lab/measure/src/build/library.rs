//! Makes objects from a recipe, and one library with nothing drawn.

use super::cache::{Cache, Key};
use super::error::BuildError;
use super::link::{Pad, link_logged, pads};
use super::rust;
use super::sources::{self, Search};
use super::steps::{Places, Task};
use super::toolchain::surroundings;
use crate::program::resolve;
use object::{Object, ObjectSection, SectionFlags, elf};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tiebreak_core::language::{Compile, Link, Makes};
use tiebreak_core::quantity::hexadecimal;
use tiebreak_core::study::{BuiltForm, Reference};

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
/// That of the library by the linker of placements.
const REFERENCE: &str = "reference.so";
/// The extension of the list of files that are linked around the objects.
const AROUND: &str = "around";

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
            self.link(folder, is_gold, REFERENCE)?;
            self.link(folder, false, LIBRARY)
        })?;
        Ok((self.form(&place, is_gold), place.join(LIBRARY)))
    }

    /// Links the objects in a folder with nothing drawn, and lists the files that the linker read
    /// before and after them, with an empty line between.
    fn link(&self, folder: &Path, is_gold: bool, name: &str) -> Result<(), BuildError> {
        // Given twice, the linker names the members of archives, too.
        let trace = ["--trace", "--trace"].map(|word| self.pass(word)).concat();
        let (form, out) = (self.form(folder, is_gold), folder.join(name));
        let read = link_logged(&form, 0, &out, &trace, self.task.interrupted)?;
        let read: Vec<_> = read.lines().map(str::trim).filter(|file| is_object(file)).collect();
        let objects = self.objects(folder);
        let is_own = |file: &&str| objects.iter().any(|object| object == file);
        let first = read.iter().position(is_own).unwrap_or(0);
        let end = read.iter().rposition(is_own).map_or(first, |last| last + 1);
        let around = format!("{}\n\n{}\n", read[..first].join("\n"), read[end..].join("\n"));
        let list = out.with_extension(AROUND);
        fs::write(&list, around).map_err(BuildError::io("writing", &list))
    }

    /// Returns the words that pass a word to the linker itself.
    fn pass(&self, word: &str) -> Vec<String> {
        Places::default().with("word", [word]).words(&self.link.pass)
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
            reference: self.reference(folder),
        }
    }

    /// Returns the library in this folder that was linked with nothing drawn, if it is there and
    /// placements are to be made from it.
    fn reference(&self, folder: &Path) -> Option<Reference> {
        if self.task.recipe.is_linked {
            return None;
        }
        let library = folder.join(REFERENCE);
        let around = fs::read_to_string(library.with_extension(AROUND)).ok()?;
        let (before, after) = around.split_once("\n\n")?;
        let files = |text: &str| text.lines().map(str::to_owned).collect();
        let library = library.to_string_lossy().into_owned();
        Some(Reference { library, before: files(before), after: files(after) })
    }

    /// Returns the command that links, without its last arguments.
    fn linker(&self, is_gold: bool) -> Vec<String> {
        let exports = format!("--version-script={}", self.kit.join("exports").display());
        // Gold has no flag that also requires the symbol; the other linker has checked that it
        // exists.
        let required = if is_gold { "--undefined" } else { "--require-defined" };
        let required = format!("{required}={}", self.table);
        // No build id: equal placements are equal files. `now` resolves all addresses at load: the
        // first call is not slower. `defs` reports a missing symbol now and not at load. `-S`
        // leaves symbols for debuggers, and no more.
        let words = [&exports, &required, "--build-id=none", "-z", "now", "-z", "defs", "-S"];
        let gold = self.link.gold.as_ref().filter(|_| is_gold);
        let mut linker = self.task.places().words(&self.link.command);
        linker.extend(gold.cloned());
        linker.extend(words.iter().flat_map(|word| self.pass(word)));
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
        key = key.with_files(folder, sources::dependencies(folder, recipe, Search::All)?)?;
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

/// Returns whether a file that a linker named is an object, or a member of an archive, which gold
/// names `archive(member)` and the other linker `(archive)member`. One that is gone was one.
fn is_object(file: &str) -> bool {
    let mut begin = [0; 18];
    let read = File::open(file).and_then(|mut file| file.read_exact(&mut begin));
    let is_linked = begin.starts_with(b"\x7fELF") && begin[16] == 1;
    file.ends_with(')') || is_linked || read.is_err() && file.ends_with(".o")
}

/// Returns whether the linker gold is installed: it links C++ in 8 ms where the usual one takes 20.
fn has_gold() -> bool {
    static HAS_GOLD: OnceLock<bool> = OnceLock::new();
    *HAS_GOLD.get_or_init(|| resolve("ld.gold", None).is_ok())
}

/// Returns a hash of everything of a library that is loaded, except notes, which have the hash of
/// its whole file; `None` if it cannot be read. Libraries with the same hash do the same in the
/// same time.
pub fn print_of(library: &Path) -> Option<String> {
    let bytes = fs::read(library).ok()?;
    let file = object::File::parse(&*bytes).ok()?;
    let mut hash = Sha256::new();
    for section in file.sections() {
        let SectionFlags::Elf { sh_flags, .. } = section.flags() else { return None };
        let name = section.name().ok()?;
        if (sh_flags & elf::SHF_ALLOC).0 == 0 || name.starts_with(".note") {
            continue;
        }
        let data = section.data().ok()?;
        hash.update(format!("{name} {} {}\n", section.size(), data.len()));
        hash.update(data);
    }
    Some(hexadecimal(&hash.finalize()))
}

/// Returns a folder with what contestants are built with: the kit's headers and sources, and the
/// list of what a library exports.
pub(super) fn kit(cache: &Cache) -> Result<PathBuf, BuildError> {
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
