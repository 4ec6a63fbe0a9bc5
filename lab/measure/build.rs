//! Lists the clients of the runner protocol, so that a further one is a file in `sdk/` and no more.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let package = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let sdk = package.join("../../sdk");
    let mut clients = Vec::new();
    for folder in paths(&sdk)? {
        println!("cargo::rerun-if-changed={}", folder.display());
        clients.extend(paths(&folder)?);
    }
    println!("cargo::rerun-if-changed={}", sdk.display());
    let name = |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
    let entry = |path: &PathBuf| {
        let name = name(path).unwrap_or_default();
        format!("    ({name:?}, include_str!({:?})),\n", path.to_string_lossy())
    };
    let entries: String = clients.iter().map(entry).collect();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("clients.rs"), format!("&[\n{entries}]\n"))
}

/// What stands in a folder, in order.
fn paths(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| !path.ends_with("__pycache__"));
    paths.sort();
    Ok(paths)
}
