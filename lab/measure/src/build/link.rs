//! Links a placement from objects and from pads, which are objects that contain only padding.

use super::cache::Cache;
use super::error::BuildError;
use super::steps::run;
use super::stock::{coin, shuffle};
use super::toolchain::surroundings;
use crate::interrupt::NEVER;
use crate::program::resolve;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::AtomicBool;
use tiebreak_abi::Random;
use tiebreak_core::study::BuiltForm;

/// Links the objects of a build.
#[derive(Clone, Copy, Debug)]
pub struct Linker;

impl Linker {
    /// Links the objects of a form into the shared library `out`, placed as the seed says. Seed 0
    /// links them as built, with no padding. Equal seeds and equal objects give equal bytes.
    ///
    /// Takes 5 to 30 ms. Ctrl-C does not end a link of this process: it is too short for that.
    ///
    /// # Errors
    /// Fails if the linker is missing or fails, or if the form is a process and has nothing to
    /// link.
    pub fn link(form: &BuiltForm, seed: u64, out: &Path) -> Result<(), BuildError> {
        link_logged(form, seed, out, &[], &NEVER).map(drop)
    }
}

/// Links with these further words. Returns the linker's output, which is in a file next to `out`
/// while it runs.
pub(super) fn link_logged(
    form: &BuiltForm,
    seed: u64,
    out: &Path,
    further: &[String],
    interrupted: &AtomicBool,
) -> Result<String, BuildError> {
    let BuiltForm::Objects { objects, linker, libraries, code_padding, data_padding, .. } = form
    else {
        return Err(BuildError::NoLibrary { language: "a process" });
    };
    let [program, words @ .., last] = linker.as_slice() else {
        return Err(BuildError::NoLibrary { language: "a form without a linker" });
    };
    let mut command = Command::new(program);
    command.args(words).args(further);
    if last.ends_with('=') {
        command.arg(joined(last, out));
    } else {
        command.arg(last).arg(out);
    }
    command.args(order(objects, code_padding, data_padding, seed)).args(libraries);
    run(&mut command, &out.with_extension("log"), interrupted)
}

/// Returns objects and pads in link order: before each object, padding for code and for data, each
/// pad drawn by its own coin.
pub(super) fn order<'a>(
    objects: &'a [String],
    code_padding: &'a [(String, u32)],
    data_padding: &'a [(String, u32)],
    seed: u64,
) -> Vec<&'a str> {
    if seed == 0 {
        return objects.iter().map(String::as_str).collect();
    }
    let mut random = Random::new(seed);
    let mut objects: Vec<_> = objects.iter().collect();
    shuffle(&mut random, &mut objects);
    let mut files = Vec::new();
    for object in objects {
        for (pad, _) in code_padding.iter().chain(data_padding) {
            if coin(&mut random) {
                files.push(pad.as_str());
            }
        }
        files.push(object.as_str());
    }
    files
}

/// Joins a word and a path into one argument.
pub(super) fn joined(word: &str, path: &Path) -> OsString {
    let mut joined = OsString::from(word);
    joined.push(path);
    joined
}

/// The sizes. A fair coin includes or excludes each, so the sum of a set is each multiple of 16
/// bytes below 4096 with the same probability: any offset in a page.
const SIZES_BYTES: [u32; 8] = [16, 32, 64, 128, 256, 512, 1024, 2048];

/// A section: its name, flags and kind, and the directive that fills it with N bytes.
type Section = [&'static str; 4];
/// Sections of code. The linker places all `.text.unlikely` before all `.text.hot` before all
/// `.text`, so a pad in the first moves everything.
const CODE: [Section; 2] = [
    [".text.unlikely", "ax", "progbits", ".fill N, 1, 0xcc"],
    [".text", "ax", "progbits", ".fill N, 1, 0xcc"],
];
/// Sections of data.
const DATA: [Section; 3] = [
    [".rodata", "a", "progbits", ".fill N, 1, 0"],
    [".data", "aw", "progbits", ".fill N, 1, 0"],
    [".bss", "aw", "nobits", ".skip N"],
];

/// A pad as (path, bytes).
pub(super) type Pad = (String, u32);

/// Returns the pads for code and those for data, assembled once.
pub(super) fn pads(
    cache: &Cache,
    interrupted: &AtomicBool,
) -> Result<(Vec<Pad>, Vec<Pad>), BuildError> {
    let texts = every(&CODE).chain(every(&DATA)).map(|(section, bytes)| text(section, bytes));
    let key = surroundings().with("pads").with_all(texts);
    let folder = cache.entry(key, |folder| assemble(folder, interrupted))?;
    Ok((paths(&folder, &CODE), paths(&folder, &DATA)))
}

/// Returns every pad of these sections: its section and its size.
fn every(sections: &'static [Section]) -> impl Iterator<Item = (&'static Section, u32)> {
    sections.iter().flat_map(|section| SIZES_BYTES.map(|bytes| (section, bytes)))
}

fn paths(folder: &Path, sections: &'static [Section]) -> Vec<Pad> {
    let paths = every(sections).map(|(section, bytes)| (path(folder, section, bytes, "o"), bytes));
    paths.map(|(path, bytes)| (path.to_string_lossy().into(), bytes)).collect()
}

fn assemble(folder: &Path, interrupted: &AtomicBool) -> Result<(), BuildError> {
    // In every language, `cc` links the placement at the end.
    let program = resolve("cc", None).map_err(|_| BuildError::no_cc())?;
    let mut command = Command::new(program);
    command.current_dir(folder).arg("-c");
    let mut sources = Vec::new();
    for (section, bytes) in every(&CODE).chain(every(&DATA)) {
        let path = path(folder, section, bytes, "s");
        fs::write(&path, text(section, bytes)).map_err(BuildError::io("writing", &path))?;
        command.arg(&path);
        sources.push(path);
    }
    run(&mut command, &folder.join("log"), interrupted)?;
    sources
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(BuildError::io("removing", path)))
}

/// Returns the path of a pad's file with this extension.
fn path(folder: &Path, [name, ..]: &Section, bytes: u32, extension: &str) -> PathBuf {
    let name = name.trim_start_matches('.').replace('.', "-");
    folder.join(format!("{name}-{bytes}.{extension}"))
}

/// Returns a pad's source.
fn text([name, flags, kind, directive]: &Section, bytes: u32) -> String {
    let directive = directive.replace('N', &bytes.to_string());
    format!(
        "\t.section {name},\"{flags}\",%{kind}\n\t{directive}\n\
         \t.section .note.GNU-stack,\"\",%progbits\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn objects_change_places() {
        let objects = strings(&["a.o", "b.o"]);
        let pads = [("p".to_owned(), 16), ("q".to_owned(), 32)];
        assert_eq!(order(&objects, &pads, &[], 0), ["a.o", "b.o"]);
        let mut orders = std::collections::BTreeSet::new();
        let mut pads_seen = 0;
        for seed in 1..=1000 {
            let files = order(&objects, &pads, &[], seed);
            assert_eq!(files, order(&objects, &pads, &[], seed));
            let plain = files.iter().copied().filter(|file| file.contains('.'));
            orders.extend(plain.take(1));
            pads_seen += files.len() - 2;
        }
        assert_eq!(orders.len(), 2);
        // 4 coins a seed: mean 2000, standard deviation 32.
        assert!((1870..2130).contains(&pads_seen), "{pads_seen}");
    }

    #[test]
    fn a_process_is_not_linked() {
        let (command, environment, directory) = (Vec::new(), Vec::new(), String::new());
        let form = BuiltForm::Runner { command, environment, directory, files: Vec::new() };
        assert!(Linker::link(&form, 0, Path::new("out.so")).is_err());
    }
}
