//! From a Rust source, or a Cargo package, to one object.

use super::error::BuildError;
use super::library::Library;
use super::link::joined;
use super::sources::entries;
use super::toolchain::surroundings;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

impl Library<'_> {
    /// Returns the kit as a Rust library for this compiler, built once.
    fn rust_kit(&self) -> Result<PathBuf, BuildError> {
        let headers = self.kit.join("include");
        let [program, receipt] = self.task.toolchain.parts();
        let key = surroundings().with("rlib").with(program).with(receipt);
        let key = key.with(headers.as_os_str().as_encoded_bytes());
        let entry = self.task.cache.entry(key, |folder| {
            let mut command = self.task.command(&self.task.toolchain.program);
            command.args(["--edition", "2024", "--crate-type", "rlib"]);
            command.args(["--crate-name", "tiebreak_abi"]);
            command.args(["-O", "-C", "panic=abort", "--cap-lints", "allow"]);
            command.arg(self.kit.join("src/lib.rs"));
            command.arg("-o").arg(folder.join("libtiebreak_abi.rlib"));
            self.task.run(&mut command, folder)
        })?;
        Ok(entry.join("libtiebreak_abi.rlib"))
    }

    /// Compiles a crate, whose root is the first source, with only the standard library and the
    /// kit.
    pub(super) fn rustc(&self, folder: &Path) -> Result<(), BuildError> {
        let flags = &self.task.recipe.flags;
        let mut command = self.task.command(&self.task.toolchain.program);
        if !flags.iter().any(|flag| flag.starts_with("--edition")) {
            command.args(["--edition", "2024"]);
        }
        if self.task.is_inlined() {
            command.args(["--cfg", "tiebreak_inlined"]);
        }
        command.args(["--check-cfg", "cfg(tiebreak_inlined)", "--crate-name", "contestant"]);
        command.args(["--crate-type", "staticlib", "-C", "panic=abort", "--extern"]);
        command.arg(joined("tiebreak_abi=", &self.rust_kit()?));
        let archive = folder.join("archive.a");
        command.args(flags).args(self.task.recipe.sources.first()).arg("-o").arg(&archive);
        self.task.run(&mut command, folder)?;
        self.reduce(&archive, folder)?;
        fs::remove_file(&archive).map_err(BuildError::io("removing", &archive))
    }

    /// Makes one object from the parts of an archive that the table needs. A static library of Rust
    /// contains the whole standard library: 20 MB, which each placement would have to search.
    fn reduce(&self, archive: &Path, folder: &Path) -> Result<(), BuildError> {
        let mut command = Command::new("cc");
        let words = format!("-Wl,--gc-sections,--strip-debug,--require-defined={}", self.table);
        command.args(["-r", "-nostdlib", &words, "-o"]).arg(folder.join("0.o")).arg(archive);
        self.task.run(&mut command, folder)
    }

    /// Builds the package in a separate folder and keeps what the table needs. The recipe's flags
    /// are arguments of `cargo build`; arguments of rustc are in its environment, as `RUSTFLAGS`.
    pub(super) fn cargo(&self, folder: &Path) -> Result<(), BuildError> {
        let recipe = self.task.recipe;
        let package = recipe.sources.first().map(String::as_str).unwrap_or_default();
        let target = folder.join("target");
        let mut fetch = self.cargo_in(package, &target);
        self.task
            .run(fetch.args(["fetch", "--locked"]), folder)
            .map_err(|error| missing_crates(error, package))?;
        let mut command = self.cargo_in(package, &target);
        command.args(["build", "--release", "--locked"]).args(&recipe.flags);
        if self.task.is_inlined() {
            let own = recipe.environment.iter().find(|(name, _)| name == "RUSTFLAGS");
            let own = own.map(|(_, value)| value.as_str()).unwrap_or_default();
            command.env("RUSTFLAGS", format!("{own} --cfg tiebreak_inlined"));
        }
        self.task.run(&mut command, folder)?;
        let mut archives = entries(&target.join("release"))?;
        archives.retain(|path| path.extension().is_some_and(|ending| ending == "a"));
        let [archive] = archives.as_slice() else {
            let found = format!("{} static libraries", archives.len());
            return Err(BuildError::Package { package: package.to_owned(), found });
        };
        self.reduce(archive, folder)?;
        fs::remove_dir_all(&target).map_err(BuildError::io("removing", &target))
    }

    /// Returns a cargo command in the package, with an environment that only the study determines.
    fn cargo_in(&self, package: &str, target: &Path) -> Command {
        let mut command = Command::new(&self.task.toolchain.program);
        for name in REMOVED {
            command.env_remove(name);
        }
        command.envs(self.task.environment());
        command.env("CARGO_TARGET_DIR", target);
        command.current_dir(self.task.folder().join(package));
        command
    }
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

/// Treats crates that cannot be downloaded now, and a linker that is not there, as a missing
/// compiler: the other contestants continue.
fn missing_crates(error: BuildError, package: &str) -> BuildError {
    let BuildError::Failed { output, .. } = &error else {
        return error;
    };
    if output.contains("linker `cc` not found") {
        return BuildError::no_cc();
    }
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

/// Returns the folders of all packages that a build of this one reads, except its own.
pub(super) fn neighbours(package: &Path) -> Result<BTreeSet<PathBuf>, BuildError> {
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

fn canonical(folder: &Path) -> Result<PathBuf, BuildError> {
    fs::canonicalize(folder).map_err(BuildError::io("finding", folder))
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
