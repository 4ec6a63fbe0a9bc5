//! Commands that write files, and those that put them back.

use crate::tree::Tree;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use tiebreak_core::machine::{Change, Needs};

/// A file that should hold something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Write {
    pub(super) file: String,
    /// What it holds now.
    pub(super) old: String,
    /// What it should hold.
    pub(super) new: String,
}

/// The commands for all of these writes together, of which there is one or more: one line does
/// them, another one undoes them, and files of many CPUs are named by a pattern where that means
/// them and no others.
pub(super) fn writing(tree: &Tree, writes: &[Write]) -> Change {
    let needs = writes.iter().map(|write| needs(tree, &write.file)).max();
    let needs = needs.unwrap_or(Needs::Nothing);
    let line = |value: fn(&Write) -> &str| {
        let mut values: Vec<&str> = Vec::new();
        for write in writes {
            if !values.contains(&value(write)) {
                values.push(value(write));
            }
        }
        let command = |wanted: &&str| {
            let of_value = writes.iter().filter(|write| value(write) == *wanted);
            let files: Vec<&str> = of_value.map(|write| write.file.as_str()).collect();
            let sudo = if needs == Needs::Nothing { "" } else { "sudo " };
            format!("echo {} | {sudo}tee {}", quoted(wanted), named(tree, &files))
        };
        values.iter().map(command).collect::<Vec<_>>().join("; ")
    };
    let (command, undo) = (line(|write| &write.new), line(|write| &write.old));
    Change { command, undo: Some(undo), needs }
}

/// A value as a shell takes it for one word.
fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-,._".contains(&byte);
    match !value.is_empty() && value.bytes().all(is_plain) {
        true => value.to_owned(),
        false => format!("'{}'", value.replace('\'', "'\\''")),
    }
}

/// Files as a shell writes them, those of all CPUs or interrupts by their pattern.
fn named(tree: &Tree, files: &[&str]) -> String {
    let mut names: Vec<String> = Vec::new();
    for file in files {
        let pattern = pattern(file);
        let all = tree.matching(&pattern);
        let is_whole = all.len() > 1 && all.iter().all(|one| files.contains(&one.as_str()));
        let name = if is_whole { pattern } else { (*file).to_owned() };
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names.join(" ")
}

/// The same file of every CPU, or of every interrupt.
fn pattern(file: &str) -> String {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let part = |part: &str| match part.strip_prefix("cpu") {
        Some(number) if is_number(number) => "cpu*".to_owned(),
        None if is_number(part) => "*".to_owned(),
        _ => part.to_owned(),
    };
    file.split('/').map(part).collect::<Vec<_>>().join("/")
}

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
