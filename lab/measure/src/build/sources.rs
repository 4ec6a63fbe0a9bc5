//! Which files of a study's folder a build depends on.

use super::error::BuildError;
use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use tiebreak_core::study::Recipe;

/// Longer files are data: they are not searched for the names of other files.
const TEXT_BYTES_MAX: u64 = 1 << 20;
/// Folders that contain no source of a study.
const SKIPPED: [&str; 3] = ["target", "node_modules", "__pycache__"];

/// Names of files that stand for their folder in JavaScript and Python.
const FOLDERS: [&str; 3] = ["index", "__init__", "__main__"];

/// Returns the files that a recipe may depend on, relative to the study's folder, in order: its
/// sources, and every file of the folder whose name, without its extension, occurs in one of these,
/// in the flags or in the environment, as far as [`Search`] says. `index.mjs` or `__init__.py` also
/// goes by the name of its folder. That covers `#include`, `mod` and `import`. All files of a
/// package are sources. Of a source outside of the folder, the files next to it are searched in the
/// same way. A file outside is one, too, where a text has its path in quotes, from its own
/// folder.
///
/// # Errors
/// Fails if the folder, or one of the sources, cannot be read.
pub(super) fn dependencies(
    folder: &Path,
    recipe: &Recipe,
    search: Search,
) -> Result<Vec<PathBuf>, BuildError> {
    let mut others = list(folder)?;
    // Every file of a package, which is a folder, is a source.
    let mut found = others.clone();
    let is_of = |file: &Path, source: &str| source == "." || file.starts_with(source);
    found.retain(|file| recipe.sources.iter().any(|source| is_of(file, source)));
    if !recipe.language.is_package() {
        found.extend(recipe.sources.iter().map(PathBuf::from));
    }
    others.retain(|file| !found.contains(file) && may_be_included(file));
    let said = |text: &str| Text { text: text.to_owned(), ending: None, place: PathBuf::new() };
    let mut texts = vec![said(&recipe.flags.join(" "))];
    texts.extend(recipe.environment.iter().map(|(_, value)| said(value)));
    for source in &found {
        texts.push(text(folder, source)?);
    }
    while let Some(seen) = texts.pop() {
        let named = others.iter().filter(|file| seen.names(file, search)).cloned();
        let outside = seen.outside().filter(|file| may_be_included(file));
        let outside = outside.filter(|file| folder.join(file).is_file());
        for file in named.chain(outside).collect::<Vec<_>>() {
            others.remove(&file);
            if !found.contains(&file) {
                texts.push(text(folder, &file)?);
                found.insert(file);
            }
        }
    }
    for source in recipe.sources.iter().map(Path::new).filter(|source| source.is_absolute()) {
        found.extend(neighbours(source, search)?);
    }
    Ok(found.into_iter().collect())
}

/// How sure it must be that one file names another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Search {
    /// Its name without the extension is enough, anywhere. Finds files too many, which costs an
    /// unnecessary build.
    All,
    /// The whole name, or that without the extension in a file with the same one, unless it is of C
    /// or C++, where the whole name is written.
    Sure,
}

/// Extensions of files that are included by their whole names.
const INCLUDED: [&str; 9] = ["c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "inc"];

/// A text that is searched for names of files.
#[derive(Debug)]
struct Text {
    text: String,
    /// The extension of its file.
    ending: Option<OsString>,
    /// The folder of its file, from that of the study.
    place: PathBuf,
}

impl Text {
    fn names(&self, file: &Path, search: Search) -> bool {
        let by_stem = || called(file).any(|name| names(&self.text, name));
        let may_leave_out_the_ending = || {
            let ending = file.extension();
            let is_included =
                INCLUDED.iter().any(|included| ending.is_some_and(|of| of == *included));
            ending == self.ending.as_deref() && !is_included
        };
        let whole = file.file_name().and_then(|name| name.to_str());
        match search {
            Search::All => by_stem(),
            Search::Sure => {
                whole.is_some_and(|name| names(&self.text, name))
                    || may_leave_out_the_ending() && by_stem()
            }
        }
    }
}

impl Text {
    /// Returns the paths in quotes that lead out of the study's folder, from that folder.
    fn outside(&self) -> impl Iterator<Item = PathBuf> {
        let quoted = self.text.lines().flat_map(|line| line.split(['"', '\'']).skip(1));
        let paths = quoted.filter(|path| !path.is_empty());
        paths.map(|path| folded(&self.place.join(path))).filter(|path| path.starts_with(".."))
    }
}

/// Returns a path without what it goes into and out of again, so that a file has one.
fn folded(path: &Path) -> PathBuf {
    let mut folded = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if folded.file_name().is_some() => {
                folded.pop();
            }
            other => folded.push(other),
        }
    }
    folded
}

/// Returns the files next to a source that it names, or that these name; none that are data.
fn neighbours(source: &Path, search: Search) -> Result<Vec<PathBuf>, BuildError> {
    let is_text = |file: &PathBuf| {
        file.metadata().is_ok_and(|of| of.is_file() && of.len() <= TEXT_BYTES_MAX) && file != source
    };
    let entries = source.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().flatten().map(|entry| entry.path());
    let mut others: Vec<PathBuf> = files.filter(is_text).collect();
    let (mut found, mut texts) = (Vec::new(), vec![text(Path::new(""), source)?]);
    while let Some(seen) = texts.pop() {
        let is_named = |file: &PathBuf| seen.names(file, search);
        let (named, rest): (Vec<_>, Vec<_>) = others.into_iter().partition(is_named);
        others = rest;
        for file in named {
            texts.push(text(Path::new(""), &file)?);
            found.push(file);
        }
    }
    Ok(found)
}

/// Returns what a source may call this file: its name without the extension, and its folder's name
/// if it stands for the folder.
fn called(file: &Path) -> impl Iterator<Item = &str> {
    let stem = file.file_stem().and_then(|stem| stem.to_str());
    let stands_for_folder = stem.is_some_and(|stem| FOLDERS.contains(&stem));
    let folder = file.parent().filter(|_| stands_for_folder).and_then(Path::file_name);
    stem.into_iter().chain(folder.and_then(|folder| folder.to_str()))
}

/// Returns whether a word occurs in a text, and not only as a part of another word.
fn names(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let (before, after) = (&text[..start], &text[start + word.len()..]);
        let around = [before.chars().next_back(), after.chars().next()];
        !around.into_iter().flatten().any(char::is_alphanumeric)
    })
}

/// Returns false for pages and the study's own file: people and the laboratory read them, not
/// compilers.
pub(super) fn may_be_included(file: &Path) -> bool {
    file.extension().is_none_or(|ending| ending != "md") && file != Path::new("study.toml")
}

fn text(folder: &Path, file: &Path) -> Result<Text, BuildError> {
    let path = &folder.join(file);
    let failed = BuildError::io("reading", path);
    let ending = file.extension().map(OsStr::to_owned);
    let place = file.parent().unwrap_or(Path::new("")).to_owned();
    if fs::metadata(path).map_err(&failed)?.len() > TEXT_BYTES_MAX {
        return Ok(Text { text: String::new(), ending, place });
    }
    let text = String::from_utf8_lossy(&fs::read(path).map_err(&failed)?).into_owned();
    Ok(Text { text, ending, place })
}

/// Returns all files below a folder, as paths from it, without hidden ones.
pub(super) fn list(root: &Path) -> Result<BTreeSet<PathBuf>, BuildError> {
    let (mut files, mut folders) = (BTreeSet::new(), vec![PathBuf::new()]);
    while let Some(place) = folders.pop() {
        for path in entries(&root.join(&place))? {
            let name = path.file_name().unwrap_or_default();
            let is_skipped = SKIPPED.iter().any(|skipped| name == *skipped);
            if is_skipped || name.as_encoded_bytes().starts_with(b".") {
                continue;
            }
            // A link to a folder is not followed: it may lead back to this one.
            if path.is_dir() && !path.is_symlink() {
                folders.push(place.join(name));
            } else if path.is_file() {
                files.insert(place.join(name));
            }
        }
    }
    Ok(files)
}

/// Returns the paths of everything in a folder.
pub(super) fn entries(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let entries = fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>);
    let entries = entries.map_err(BuildError::io("reading", folder))?;
    Ok(entries.into_iter().map(|entry| entry.path()).collect())
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use tiebreak_core::language::Language;

    pub fn recipe(language: &str, sources: &[&str], flags: &[&str]) -> Recipe {
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Recipe {
            language: Language::named(language).unwrap(),
            sources: words(sources),
            compiler: "cc".into(),
            flags: words(flags),
            libraries: Vec::new(),
            version: Vec::new(),
            package: String::new(),
            environment: Vec::new(),
            is_linked: false,
            is_process: false,
        }
    }

    /// Makes a folder with sources of several languages.
    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("a.c", "#include \"sub/deep.h\"\n"),
            ("sub/deep.h", "#include \"../last.inc\" // of the parts\n"),
            ("last.inc", "README study"),
            ("chosen.h", ""),
            ("b.c", ""),
            ("README.md", ""),
            ("study.toml", ""),
            (".hidden/x.h", ""),
            ("package/Cargo.toml", ""),
            ("package/src/lib.rs", "#[path = \"../../shared.rs\"] mod shared;"),
            ("shared.rs", ""),
            ("package/target/a.rs", ""),
            ("a.py", "import pieces, parts"),
            ("pieces.py", ""),
            ("parts/__init__.py", ""),
        ] {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    #[test]
    fn what_is_named_is_depended_on() {
        let folder = folder();
        let check = |recipe: Recipe, files: &[&str]| {
            let found = dependencies(folder.path(), &recipe, Search::All).unwrap();
            assert_eq!(found, files.iter().map(PathBuf::from).collect::<Vec<_>>());
        };
        let c = ["a.c", "last.inc", "parts/__init__.py", "sub/deep.h"];
        check(recipe("c", &["a.c"], &[]), &c);
        check(recipe("c", &["b.c"], &[]), &["b.c"]);
        check(recipe("c", &["b.c"], &["-DFILE=chosen"]), &["b.c", "chosen.h"]);
        let package = ["package/Cargo.toml", "package/src/lib.rs", "shared.rs"];
        check(recipe("python", &["a.py"], &[]), &["a.py", "parts/__init__.py", "pieces.py"]);
        let mut preloads = recipe("python", &["b.c"], &[]);
        preloads.environment = vec![("OPTIONS".into(), "--require ./chosen.h".into())];
        check(preloads, &["b.c", "chosen.h"]);
        check(recipe("cargo", &["package"], &[]), &package);
        assert!(dependencies(folder.path(), &recipe("c", &["none.c"], &[]), Search::All).is_err());
        let outside = tempfile::tempdir().unwrap();
        let [mine, header] = ["mine.c", "mine.h"].map(|name| outside.path().join(name));
        fs::write(&mine, "#include \"mine.h\"\n#include \"chosen.h\"\n").unwrap();
        fs::write(&header, "").unwrap();
        fs::write(outside.path().join("other.h"), "").unwrap();
        let added = recipe("c", &[mine.to_str().unwrap()], &[]);
        let found = dependencies(folder.path(), &added, Search::All).unwrap();
        let expected: BTreeSet<PathBuf> = [mine, header, "chosen.h".into()].into();
        assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
    }

    #[test]
    fn what_lies_outside_is_depended_on_by_its_path() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("one/src/a.c", "#include \"../../two/b.c\"\n#include \"../in.h\"\n\"../../none.h\""),
            ("one/in.h", ""),
            ("two/b.c", "#include \"../three/c.h\"\n#include \"beside.h\"\n"),
            ("two/beside.h", ""),
            ("three/c.h", "#include \"../two/b.c\"\n"),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let recipe = recipe("c", &["src/a.c"], &[]);
        for search in [Search::All, Search::Sure] {
            let found = dependencies(&root.path().join("one"), &recipe, search).unwrap();
            let mut expected = vec!["src/a.c".into(), "in.h".into()];
            let outside = ["two/b.c", "two/beside.h", "three/c.h"];
            expected.extend(outside.map(|file| Path::new("..").join(file)));
            expected.sort();
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn what_is_surely_named_is_code() {
        let folder = folder();
        let sure = |recipe: Recipe, files: &[&str]| {
            let found = dependencies(folder.path(), &recipe, Search::Sure).unwrap();
            assert_eq!(found, files.iter().map(PathBuf::from).collect::<Vec<_>>());
        };
        sure(recipe("c", &["a.c"], &[]), &["a.c", "last.inc", "sub/deep.h"]);
        sure(recipe("c", &["b.c"], &["-DFILE=chosen"]), &["b.c"]);
        sure(recipe("python", &["a.py"], &[]), &["a.py", "parts/__init__.py", "pieces.py"]);
        let whole = dependencies(folder.path(), &recipe("cargo", &["."], &[]), Search::All);
        assert!(whole.unwrap().contains(&"package/src/lib.rs".into()));
    }
}
