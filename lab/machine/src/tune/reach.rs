//! Who may write a file.

use crate::tree::Tree;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use tiebreak_core::machine::Needs;

/// What it takes to write a file that is there. Nothing is opened: the kernel is only asked.
pub(super) fn needs(tree: &Tree, file: &str) -> Needs {
    let Ok(path) = CString::new(tree.path(file).as_os_str().as_bytes()) else {
        return Needs::Root;
    };
    // SAFETY: the path ends with a zero byte and is only read.
    let error = unsafe { libc::access(path.as_ptr(), libc::W_OK) };
    if error == 0 {
        return Needs::Nothing;
    }
    needs_by(io::Error::last_os_error().raw_os_error())
}

/// A container sees `/sys` and `/proc/sys` mounted read-only; then its own root cannot help either.
pub(super) fn needs_by(errno: Option<i32>) -> Needs {
    if errno == Some(libc::EROFS) { Needs::Host } else { Needs::Root }
}

/// The same file of every CPU, as a shell writes it.
pub(super) fn of_all_cpus(file: &str) -> String {
    file.replace("/cpu/cpu0/", "/cpu/cpu*/")
}
