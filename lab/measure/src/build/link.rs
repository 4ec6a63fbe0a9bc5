//! Links a placement.

use super::draw::{coin, shuffle};
use super::error::BuildError;
use super::steps::run;
use std::ffi::OsString;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;
use tiebreak_abi::Random;
use tiebreak_core::study::BuiltForm;

/// The flag for links that cannot be interrupted: they take milliseconds.
static NEVER: AtomicBool = AtomicBool::new(false);

/// Links the objects of a build.
#[derive(Clone, Copy, Debug)]
pub struct Linker;

impl Linker {
    /// Links the objects of a form into the shared library `out`, placed as the seed says. Seed 0
    /// links them as built, with no padding. Equal seeds and equal objects give equal bytes.
    ///
    /// Takes 5 to 30 ms. Ctrl-C does not end a link of this process.
    ///
    /// # Errors
    /// Fails if the linker is missing or fails, or if the form is a process and has nothing to
    /// link.
    pub fn link(form: &BuiltForm, seed: u64, out: &Path) -> Result<(), BuildError> {
        link_logged(form, seed, out, &NEVER)
    }
}

/// Links, with the linker's output in a file next to `out` while it runs.
pub(super) fn link_logged(
    form: &BuiltForm,
    seed: u64,
    out: &Path,
    interrupted: &AtomicBool,
) -> Result<(), BuildError> {
    let BuiltForm::Objects { objects, linker, libraries, code_padding, data_padding } = form else {
        return Err(BuildError::NoLibrary { language: "a process" });
    };
    let [program, words @ .., last] = linker.as_slice() else {
        return Err(BuildError::NoLibrary { language: "a form without a linker" });
    };
    let mut command = Command::new(program);
    command.args(words);
    if last.ends_with('=') {
        command.arg(joined(last, out));
    } else {
        command.arg(last).arg(out);
    }
    command.args(order(objects, code_padding, data_padding, seed)).args(libraries);
    run(&mut command, &out.with_extension("log"), interrupted)
}

/// Returns objects and pads in link order: before each object, padding for code and for data, each
/// pad drawn by its own coin. Archives stay last, in their order: the linker takes from them only
/// what was required before.
fn order<'a>(
    objects: &'a [String],
    code_padding: &'a [(String, u32)],
    data_padding: &'a [(String, u32)],
    seed: u64,
) -> Vec<&'a str> {
    if seed == 0 {
        return objects.iter().map(String::as_str).collect();
    }
    let mut random = Random::new(seed);
    let is_archive = |path: &&String| path.ends_with(".a");
    let (archives, mut plain): (Vec<_>, Vec<_>) = objects.iter().partition(is_archive);
    shuffle(&mut random, &mut plain);
    let mut files = Vec::new();
    for object in plain.into_iter().chain(archives) {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn objects_change_places_and_archives_stay_last() {
        let objects = strings(&["a.o", "x.a", "b.o", "y.a"]);
        let pads = [("p".to_owned(), 16), ("q".to_owned(), 32)];
        assert_eq!(order(&objects, &pads, &[], 0), ["a.o", "x.a", "b.o", "y.a"]);
        let mut orders = std::collections::BTreeSet::new();
        let mut pads_seen = 0;
        for seed in 1..=1000 {
            let files = order(&objects, &pads, &[], seed);
            assert_eq!(files, order(&objects, &pads, &[], seed));
            let plain = files.iter().copied().filter(|file| file.contains('.'));
            let plain: Vec<_> = plain.collect();
            assert_eq!(plain[2..], ["x.a", "y.a"]);
            orders.insert(plain[0]);
            pads_seen += files.len() - 4;
        }
        assert_eq!(orders.len(), 2);
        // 8 coins a seed: mean 4000, standard deviation 45.
        assert!((3800..4200).contains(&pads_seen), "{pads_seen}");
    }

    #[test]
    fn a_process_is_not_linked() {
        let (command, environment, directory) = (Vec::new(), Vec::new(), String::new());
        let form = BuiltForm::Runner { command, environment, directory, files: Vec::new() };
        assert!(Linker::link(&form, 0, Path::new("out.so")).is_err());
    }
}
