//! The reasons why something cannot be read, in words that a user can act on.

use crate::tree::Tree;
use std::io;

/// Describes the error by its name, with the missing right where the error is about one.
pub fn explain(error: &io::Error, right: &str) -> String {
    let Some(number) = error.raw_os_error() else { return error.to_string() };
    match number {
        libc::EACCES => format!("permission denied (EACCES): {right}"),
        libc::EPERM => format!("operation not permitted (EPERM): {right}"),
        libc::ENOENT => "no such file (ENOENT)".to_owned(),
        libc::EISDIR => "is a directory (EISDIR)".to_owned(),
        libc::ENODEV => "no such device (ENODEV)".to_owned(),
        libc::ENXIO => "no such device (ENXIO)".to_owned(),
        libc::EIO => "the machine does not answer (EIO)".to_owned(),
        libc::EINVAL => "invalid (EINVAL)".to_owned(),
        libc::EOPNOTSUPP => "not supported (EOPNOTSUPP)".to_owned(),
        libc::ENODATA => "no data (ENODATA)".to_owned(),
        _ => error.to_string(),
    }
}

/// Reads the text of a small file without surrounding white space. The error is `FILE: reason`.
pub fn text(tree: &Tree, path: &str, right: &str) -> Result<String, String> {
    match std::fs::read(tree.path(path)) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).trim().to_owned()),
        Err(error) => Err(format!("{}: {}", last(path), explain(&error, right))),
    }
}

/// Reads a number in a small file. The error is the reason.
pub fn number(tree: &Tree, path: &str, right: &str) -> Result<u64, String> {
    let text = text(tree, path, right)?;
    text.parse().map_err(|_| format!("{} holds '{text}'", last(path)))
}

/// Returns the names in a folder, sorted. The error is the reason.
pub fn names(tree: &Tree, folder: &str) -> Result<Vec<String>, String> {
    std::fs::read_dir(tree.path(folder))
        .map_err(|error| explain(&error, "the folder is closed"))?;
    Ok(tree.names(folder))
}

/// Returns the file and its folder.
fn last(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').map(|(at, _)| at + 1);
    slashes.next();
    &path[slashes.next().unwrap_or(0)..]
}
