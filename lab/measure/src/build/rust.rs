//! From a Rust source to one object.

use super::cache::Cache;
use super::error::BuildError;
use super::flags::{command, has_edition, has_rust_level};
use super::key::Key;
use super::library::Table;
use super::link::joined;
use super::steps::{Steps, run};
use super::toolchain::Toolchain;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the kit as a Rust library for this compiler, built once.
pub(super) fn kit(
    cache: &Cache,
    steps: &Steps<'_>,
    toolchain: &Toolchain,
    key: Key,
) -> Result<PathBuf, BuildError> {
    let key = key.with("rlib").with(toolchain.program.as_os_str().as_encoded_bytes());
    let key = key.with(&toolchain.receipt).with(steps.kit.as_os_str().as_encoded_bytes());
    let entry = cache.entry(key, |folder| {
        let mut command = command(steps.study, steps.recipe, steps.program);
        command.args(["--edition", "2024", "--crate-type", "rlib", "--crate-name", "tiebreak_abi"]);
        command.args(["-O", "-C", "panic=abort", "--cap-lints", "allow"]);
        let source = steps.kit.with_file_name("src").join("lib.rs");
        command.arg(source).arg("-o").arg(folder.join("libtiebreak_abi.rlib"));
        run(&mut command, &folder.join("log"), steps.interrupted)
    })?;
    Ok(entry.join("libtiebreak_abi.rlib"))
}

/// Compiles a crate, whose root is the first source, with only the standard library and the kit.
pub(super) fn rust(
    steps: &Steps<'_>,
    kit: &Path,
    table: Table,
    folder: &Path,
) -> Result<(), BuildError> {
    let flags = &steps.recipe.flags;
    let mut command = command(steps.study, steps.recipe, steps.program);
    if !has_edition(flags) {
        command.args(["--edition", "2024"]);
    }
    if !has_rust_level(flags) {
        command.arg("-O");
    }
    if steps.is_inlined {
        command.args(["--cfg", "tiebreak_inlined"]);
    }
    command.args(["--check-cfg", "cfg(tiebreak_inlined)", "--crate-name", "contestant"]);
    command.args(["--crate-type", "staticlib", "-C", "panic=abort", "--extern"]);
    command.arg(joined("tiebreak_abi=", kit));
    let archive = folder.join("archive.a");
    command.args(flags).args(steps.recipe.sources.first()).arg("-o").arg(&archive);
    run(&mut command, &folder.join("log"), steps.interrupted)?;
    reduce(steps, &archive, table, folder)?;
    fs::remove_file(&archive).map_err(BuildError::io("removing", &archive))
}

/// Makes one object from the parts of an archive that the table needs. A static library of Rust
/// contains the whole standard library: 20 MB, which each placement would have to search.
pub(super) fn reduce(
    steps: &Steps<'_>,
    archive: &Path,
    table: Table,
    folder: &Path,
) -> Result<(), BuildError> {
    let mut command = Command::new("cc");
    let words = format!("-Wl,--gc-sections,--strip-debug,--require-defined={}", table.symbol());
    command.args(["-r", "-nostdlib", &words, "-o"]).arg(folder.join("0.o")).arg(archive);
    run(&mut command, &folder.join("log"), steps.interrupted)
}
