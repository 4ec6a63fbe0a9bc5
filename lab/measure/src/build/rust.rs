//! From a Rust source, or a Cargo package, to one object.

use super::cache::{Cache, Key};
use super::error::BuildError;
use super::link::joined;
use super::sources::{entries, list};
use super::steps::Task;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the kit as a Rust library for this compiler, built once.
pub(super) fn kit(
    cache: &Cache,
    task: &Task<'_>,
    headers: &Path,
    key: Key,
) -> Result<PathBuf, BuildError> {
    let [program, receipt] = task.toolchain.parts();
    let key = key.with("rlib").with(program).with(receipt);
    let key = key.with(headers.as_os_str().as_encoded_bytes());
    let entry = cache.entry(key, |folder| {
        let mut command = task.command(&task.toolchain.program);
        command.args(["--edition", "2024", "--crate-type", "rlib", "--crate-name", "tiebreak_abi"]);
        command.args(["-O", "-C", "panic=abort", "--cap-lints", "allow"]);
        let source = headers.with_file_name("src").join("lib.rs");
        command.arg(source).arg("-o").arg(folder.join("libtiebreak_abi.rlib"));
        task.run(&mut command, &folder.join("log"))
    })?;
    Ok(entry.join("libtiebreak_abi.rlib"))
}

/// Compiles a crate, whose root is the first source, with only the standard library and the kit.
pub(super) fn rust(
    task: &Task<'_>,
    kit: &Path,
    table: &str,
    folder: &Path,
) -> Result<(), BuildError> {
    let flags = &task.recipe.flags;
    let mut command = task.command(&task.toolchain.program);
    if !flags.iter().any(|flag| flag.starts_with("--edition")) {
        command.args(["--edition", "2024"]);
    }
    if !flags.iter().any(|flag| flag == "-O" || flag.contains("opt-level")) {
        command.arg("-O");
    }
    if task.is_inlined() {
        command.args(["--cfg", "tiebreak_inlined"]);
    }
    command.args(["--check-cfg", "cfg(tiebreak_inlined)", "--crate-name", "contestant"]);
    command.args(["--crate-type", "staticlib", "-C", "panic=abort", "--extern"]);
    command.arg(joined("tiebreak_abi=", kit));
    let archive = folder.join("archive.a");
    command.args(flags).args(task.recipe.sources.first()).arg("-o").arg(&archive);
    task.run(&mut command, &folder.join("log"))?;
    reduce(task, &archive, table, folder)?;
    fs::remove_file(&archive).map_err(BuildError::io("removing", &archive))
}

/// Makes one object from the parts of an archive that the table needs. A static library of Rust
/// contains the whole standard library: 20 MB, which each placement would have to search.
pub(super) fn reduce(
    task: &Task<'_>,
    archive: &Path,
    table: &str,
    folder: &Path,
) -> Result<(), BuildError> {
    let mut command = Command::new("cc");
    let words = format!("-Wl,--gc-sections,--strip-debug,--require-defined={}", table);
    command.args(["-r", "-nostdlib", &words, "-o"]).arg(folder.join("0.o")).arg(archive);
    task.run(&mut command, &folder.join("log"))
}

/// Variables that would change where cargo builds or what it passes to rustc.
const REMOVED: [&str; 5] = [
    "RUSTFLAGS",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_BUILD_RUSTFLAGS",
    "CARGO_BUILD_TARGET",
    "CARGO_BUILD_TARGET_DIR",
];

/// What cargo prints when crates cannot be downloaded.
const OFFLINE: [&str; 4] = ["download", "network", "resolve host", "unable to update registry"];

/// Builds the package in a separate folder and keeps what the table needs. The recipe's flags are
/// arguments of `cargo build`; arguments of rustc are in its environment, as `RUSTFLAGS`.
pub(super) fn cargo(task: &Task<'_>, table: &str, folder: &Path) -> Result<(), BuildError> {
    let package = task.recipe.sources.first().map(String::as_str).unwrap_or_default();
    let (log, target) = (folder.join("log"), folder.join("target"));
    task.run(cargo_in(task, package, &target).args(["fetch", "--locked"]), &log)
        .map_err(|error| missing_crates(error, package))?;
    let mut command = cargo_in(task, package, &target);
    command.args(["build", "--release", "--locked"]).args(&task.recipe.flags);
    if task.is_inlined() {
        let own = task.recipe.environment.iter().find(|(name, _)| name == "RUSTFLAGS");
        let own = own.map(|(_, value)| value.as_str()).unwrap_or_default();
        command.env("RUSTFLAGS", format!("{own} --cfg tiebreak_inlined"));
    }
    task.run(&mut command, &log)?;
    let archives = archives(&target.join("release"))?;
    let [archive] = archives.as_slice() else {
        let found = format!("{} static libraries", archives.len());
        return Err(BuildError::Package { package: package.to_owned(), found });
    };
    reduce(task, archive, table, folder)?;
    fs::remove_dir_all(&target).map_err(BuildError::io("removing", &target))
}

/// Returns a cargo command in the package, with an environment that only the study determines.
fn cargo_in(task: &Task<'_>, package: &str, target: &Path) -> Command {
    let mut command = Command::new(&task.toolchain.program);
    for name in REMOVED {
        command.env_remove(name);
    }
    command.envs(task.recipe.environment.iter().map(|(name, value)| (name, value)));
    command.env("CARGO_TARGET_DIR", target);
    command.current_dir(task.folder().join(package));
    command
}

/// Treats crates that cannot be downloaded now as a missing compiler: the other contestants
/// continue.
fn missing_crates(error: BuildError, package: &str) -> BuildError {
    let BuildError::Failed { output, .. } = &error else {
        return error;
    };
    if !OFFLINE.iter().any(|word| output.to_lowercase().contains(word)) {
        return error;
    }
    let says = output.lines().find(|line| line.starts_with("error")).unwrap_or_default();
    BuildError::Missing {
        program: format!("a crate of the package '{package}'"),
        why: format!(" ({says})"),
        remedy: "'cargo fetch' where there is a network brings it".to_owned(),
    }
}

fn archives(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut paths = entries(folder)?;
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "a"));
    Ok(paths)
}

/// Returns a key that also depends on the packages that this one names by path, and on those that
/// they name.
pub(super) fn with_neighbours(mut key: Key, package: &Path) -> Result<Key, BuildError> {
    for folder in neighbours(package)? {
        for file in list(&folder)? {
            key = key.with_file(&folder, &file)?;
        }
    }
    Ok(key)
}

/// Returns the folders of all packages that a build of this one reads, except its own.
fn neighbours(package: &Path) -> Result<BTreeSet<PathBuf>, BuildError> {
    let canonical =
        |folder: &Path| fs::canonicalize(folder).map_err(BuildError::io("finding", folder));
    let package = canonical(package)?;
    let (mut found, mut open) = (BTreeSet::new(), vec![package.clone()]);
    while let Some(folder) = open.pop() {
        for named in named_folders(&folder)? {
            let named = canonical(&named)?;
            if named != package && found.insert(named.clone()) {
                open.push(named);
            }
        }
    }
    Ok(found)
}

/// Returns the folders that a package's manifest names as `path = "..."`.
fn named_folders(package: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let manifest = package.join("Cargo.toml");
    if !manifest.is_file() {
        return Ok(Vec::new());
    }
    let text = fs::read_to_string(&manifest).map_err(BuildError::io("reading", &manifest))?;
    let values = text.split("path").skip(1).filter_map(|part| {
        let value = part.trim_start().strip_prefix('=').map(str::trim_start)?;
        value.strip_prefix('"')?.split('"').next()
    });
    Ok(values.map(|value| package.join(value)).filter(|path| path.is_dir()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_depends_on_what_its_neighbours_name() {
        let folder = tempfile::tempdir().unwrap();
        let package = |name: &str, manifest: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(&path).unwrap();
            fs::write(path.join("Cargo.toml"), manifest).unwrap();
        };
        package("a", "[dependencies]\nb = { path = \"../b\" }\n[lib]\npath = \"lib.rs\"\n");
        package("b", "[dependencies.c]\npath = \"../c\"\n");
        package("c", "[dev-dependencies]\na = { path=\"../a\" }\n");
        let found = neighbours(&folder.path().join("a")).unwrap();
        let names: Vec<_> = found.iter().filter_map(|path| path.file_name()).collect();
        assert_eq!(names, ["b", "c"]);
    }
}
