//! Commands that write files, and those that put them back.

use super::*;
use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;

/// More files of one pattern are written in a loop.
const MOST_NAMED: usize = 3;

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
        let sudo = if needs == Needs::Nothing { "" } else { "sudo " };
        let of_value = |wanted: &&str| {
            let files = writes.iter().filter(|write| value(write) == *wanted);
            let files: Vec<&str> = files.map(|write| write.file.as_str()).collect();
            commands(tree, &files, &format!("echo {} | {sudo}tee", quoted(wanted)))
        };
        values.iter().flat_map(of_value).collect::<Vec<_>>().join("; ")
    };
    let (command, undo) = (line(|write| &write.new), line(|write| &write.old));
    Change { command, undo: Some(undo), needs }
}

/// A value as a shell takes it for one word.
fn quoted(value: &str) -> String {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-,._".contains(&byte);
    if !value.is_empty() && value.bytes().all(is_plain) {
        value.to_owned()
    } else {
        format!("'{}'", value.replace('\'', "'\\''"))
    }
}

/// Commands that do the same with each of these files: those of all CPUs or interrupts by their
/// pattern, those of some in a loop over numbers.
fn commands(tree: &Tree, files: &[&str], tee: &str) -> Vec<String> {
    let mut patterns: Vec<String> = files.iter().map(|file| pattern(file)).collect();
    patterns.sort();
    patterns.dedup();
    let (mut names, mut commands) = (String::new(), Vec::new());
    for pattern in patterns {
        let ours = files.iter().filter(|file| self::pattern(file) == pattern);
        let ours: Vec<&str> = ours.copied().collect();
        if ours.len() > 1 && ours.len() == tree.matching(&pattern).len() {
            names = names + " " + &pattern;
            continue;
        }
        let ends = pattern.split_once('*').filter(|(_, after)| !after.contains('*'));
        if let Some((before, after)) = ends.filter(|_| ours.len() > MOST_NAMED) {
            let number = |file: &&str| file[before.len()..file.len() - after.len()].to_owned();
            let numbers = ours.iter().map(number).collect::<Vec<_>>().join(" ");
            commands.push(format!("for n in {numbers}; do {tee} {before}$n{after}; done"));
        } else {
            names = names + " " + &ours.join(" ");
        }
    }
    if !names.is_empty() {
        commands.insert(0, format!("{tee}{names}"));
    }
    commands
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
    let path = CString::new(tree.path(file).as_os_str().as_bytes());
    let Ok(path) = path else { return Needs::Root };
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
