//! The studies of this project are right.

use std::path::{Path, PathBuf};
use std::process::Command;
use tiebreak_core::study::Recipe;
use tiebreak_input::study_folder::read;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Returns the folders of all studies.
fn folders() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(Path::new(ROOT).join("studies")).unwrap();
    let folders = folders.map(|entry| entry.unwrap().path());
    let folders: Vec<_> = folders.filter(|path| path.join("study.toml").is_file()).collect();
    assert!(!folders.is_empty());
    folders
}

#[test]
fn every_study_of_this_project_is_right() {
    let wrong: Vec<_> = folders().iter().filter_map(|folder| read(folder).err()).collect();
    let wrong: Vec<String> = wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n\n"));
}

/// A contestant that needs a feature of the CPU says so to its compiler too, by a flag: on a CPU
/// without it `-march=native` would not do, and the whole study would not be raced.
#[test]
#[cfg(target_arch = "x86_64")]
fn contestants_are_compiled_for_any_cpu() {
    let failures: Vec<String> = std::thread::scope(|scope| {
        let folders = folders().into_iter();
        let tasks: Vec<_> =
            folders.map(|folder| scope.spawn(move || not_compiled(&folder))).collect();
        tasks.into_iter().flat_map(|task| task.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

const NATIVE: &str = "-march=native";

/// Returns whether a source uses intrinsics, by itself or by a header of its study.
fn has_intrinsics(folder: &Path, source: &str) -> bool {
    let Ok(text) = std::fs::read_to_string(folder.join(source)) else { return false };
    let mut headers =
        text.lines().filter_map(|line| line.strip_prefix("#include \"")?.strip_suffix('"'));
    text.contains("immintrin.h") || headers.any(|header| has_intrinsics(folder, header))
}

/// Returns what compilers say of contestants that may not use all that this CPU has.
fn not_compiled(folder: &Path) -> Vec<String> {
    let contestants = read(folder).unwrap().contestants;
    let objects = tempfile::tempdir().unwrap();
    let mut failures = Vec::new();
    for Recipe { compiler, flags, sources, .. } in contestants.iter().map(|one| &one.recipe) {
        let uses_intrinsics = sources.iter().any(|source| has_intrinsics(folder, source));
        if !uses_intrinsics || !flags.iter().any(|flag| flag == NATIVE) {
            continue;
        }
        let compiled = Command::new(compiler)
            .args(flags.iter().filter(|flag| *flag != NATIVE))
            .arg("-I")
            .arg(Path::new(ROOT).join("kit/abi/include"))
            .args(["-O1", "-c"])
            .args(sources.iter().map(|source| folder.join(source)))
            .current_dir(objects.path())
            .output();
        match compiled {
            Ok(output) if output.status.success() => {}
            Ok(output) => failures.push(String::from_utf8_lossy(&output.stderr).into_owned()),
            Err(error) => eprintln!("skipped: {compiler}: {error}"),
        }
    }
    failures
}
