//! Finds the file that a command runs, and checks before anything runs that it can run: as the
//! kernel would, its format and its interpreter.

use crate::error::StartError;
use std::ffi::{CString, OsStr};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Finds the program that the first word of a command names, as `execvp` does: a word with a slash
/// is a path, relative to `directory`; any other is searched along `PATH`.
///
/// # Errors
/// Fails if there is none, or if it is a directory, may not be executed, or needs an interpreter
/// that is missing. A file that can be executed but not read is accepted as it is.
pub fn resolve(word: &str, directory: Option<&Path>) -> Result<PathBuf, StartError> {
    let path = std::env::var_os("PATH").unwrap_or_else(|| "/usr/bin:/bin".into());
    let folders: Vec<_> = std::env::split_paths(&path).collect();
    resolve_along(word, directory, &folders)
}

fn resolve_along(
    word: &str,
    directory: Option<&Path>,
    folders: &[PathBuf],
) -> Result<PathBuf, StartError> {
    if word.contains('/') {
        let found = inspect(seen_from(directory, Path::new(word)));
        return found.unwrap_or_else(|| Err(not_found(word, "there is no such file")));
    }
    let mut second_best = None;
    for folder in folders.iter().filter(|_| !word.is_empty()) {
        match inspect(seen_from(directory, &folder.join(word))) {
            // As execvp: a later folder may have an executable one.
            Some(Err(
                error @ (StartError::NotExecutable { .. } | StartError::IsDirectory { .. }),
            )) => {
                second_best.get_or_insert(error);
            }
            Some(found) => return found,
            None => {}
        }
    }
    Err(second_best.unwrap_or_else(|| not_found(word, "no folder of PATH has it")))
}

fn seen_from(directory: Option<&Path>, path: &Path) -> PathBuf {
    let path = directory.map_or_else(|| path.to_owned(), |directory| directory.join(path));
    std::path::absolute(&path).unwrap_or(path)
}

fn not_found(word: &str, place: &str) -> StartError {
    StartError::NotFound { word: word.to_owned(), place: place.to_owned() }
}

/// Returns the program at this path, or why it cannot be run; `None` if nothing is there.
fn inspect(path: PathBuf) -> Option<Result<PathBuf, StartError>> {
    Some(match std::fs::metadata(&path) {
        Err(error) if error.kind() != std::io::ErrorKind::PermissionDenied => return None,
        Ok(data) if data.is_dir() => Err(StartError::IsDirectory { path }),
        Ok(data) if data.is_file() && may_execute(&path) => check(&path).map(|()| path),
        _ => Err(StartError::NotExecutable { path }),
    })
}

fn may_execute(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else {
        return false;
    };
    // SAFETY: the path ends with a zero byte and is only read.
    unsafe { libc::access(path.as_ptr(), libc::X_OK) == 0 }
}

/// The number of bytes that the kernel reads (`BINPRM_BUF_SIZE`).
const HEAD_BYTES: usize = 256;
/// Enough for the program headers and the interpreter's name of usual ELF files.
const ELF_HEAD_BYTES: u64 = 64 << 10;

/// Checks that the kernel can run the file.
///
/// Formats that neither start with `#!` nor are ELF pass if formats were registered
/// (`binfmt_misc`), because then only the kernel knows.
fn check(path: &Path) -> Result<(), StartError> {
    let mut elf = Vec::new();
    let read = File::open(path).and_then(|file| file.take(ELF_HEAD_BYTES).read_to_end(&mut elf));
    if read.is_err() {
        return Ok(());
    }
    let bytes = &elf[..elf.len().min(HEAD_BYTES)];
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        return check_interpreter(path, first_word(rest));
    }
    if bytes.starts_with(b"\x7fELF") {
        let interpreter = elf_interpreter(&elf);
        return interpreter.map_or(Ok(()), |interpreter| check_interpreter(path, &interpreter));
    }
    if other_formats_registered() {
        return Ok(());
    }
    let found = match bytes {
        [] => "it is empty",
        text if !text.contains(&0) => "it is a text without a '#!' line",
        _ => "its format is unknown",
    };
    Err(StartError::NotAProgram { path: path.to_owned(), found })
}

fn check_interpreter(path: &Path, interpreter: &[u8]) -> Result<(), StartError> {
    let file = Path::new(OsStr::from_bytes(interpreter));
    if file.is_file() && may_execute(file) {
        return Ok(());
    }
    let interpreter = String::from_utf8_lossy(interpreter).into_owned();
    Err(StartError::BadInterpreter { path: path.to_owned(), interpreter })
}

/// Returns the first word of a `#!` line, given without these two characters.
fn first_word(line: &[u8]) -> &[u8] {
    let line = line.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let mut words = line.split(|byte| matches!(byte, b' ' | b'\t'));
    words.find(|word| !word.is_empty()).unwrap_or_default()
}

/// Returns the interpreter that a 64-bit little-endian ELF file asks for (`PT_INTERP`). Returns
/// `None` if it asks for none, or is another kind of ELF file: the kernel then reports what is
/// wrong.
fn elf_interpreter(elf: &[u8]) -> Option<Vec<u8>> {
    const CLASS_64_LITTLE: [u8; 2] = [2, 1];
    const PT_INTERP: u64 = 3;
    if elf.get(4..6)? != CLASS_64_LITTLE {
        return None;
    }
    let table = usize::try_from(number(elf, 0x20, 8)?).ok()?;
    let entry_bytes = number(elf, 0x36, 2)? as usize;
    let entries = number(elf, 0x38, 2)? as usize;
    let header = (0..entries)
        .map_while(|index| table.checked_add(index * entry_bytes))
        .find(|at| number(elf, *at, 4) == Some(PT_INTERP))?;
    let start = usize::try_from(number(elf, header + 8, 8)?).ok()?;
    let length = usize::try_from(number(elf, header + 32, 8)?).ok()?;
    let name = elf.get(start..start.checked_add(length)?)?;
    Some(name.split(|byte| *byte == 0).next()?.to_owned())
}

/// Returns a little-endian number of this many bytes.
fn number(elf: &[u8], at: usize, bytes: usize) -> Option<u64> {
    let field = elf.get(at..at.checked_add(bytes)?)?;
    Some(field.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn other_formats_registered() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else {
        return false;
    };
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.any(|name| name != "register" && name != "status")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn file(folder: &Path, name: &str, text: &[u8], mode: u32) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        path
    }

    #[test]
    fn programs_are_found_as_execvp_finds_them() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["one", "two", "two/dir"] {
            std::fs::create_dir(at(name)).unwrap();
        }
        file(&at("one"), "tool", b"#!/bin/sh\n", 0o644);
        let tool = file(&at("two"), "tool", b"#! /bin/sh -e\n", 0o755);
        file(&at("one"), "data", b"x", 0o644);
        let folders = [at("one"), at("missing"), at("two")];
        let found = |word: &str| resolve_along(word, None, &folders);
        assert_eq!(found("tool").unwrap(), tool, "the one that is executable");
        assert!(matches!(found("data"), Err(StartError::NotExecutable { .. })));
        assert!(matches!(found("dir"), Err(StartError::IsDirectory { .. })));
        assert!(matches!(found("none"), Err(StartError::NotFound { .. })));
        assert!(matches!(found(""), Err(StartError::NotFound { .. })));
        assert!(matches!(found("./tool"), Err(StartError::NotFound { .. })), "not along PATH");
        assert_eq!(
            resolve_along("./tool", Some(&at("two")), &[]).unwrap(),
            at("two").join("./tool")
        );
        assert_eq!(found(tool.to_str().unwrap()).unwrap(), tool);
    }

    #[test]
    fn formats_that_the_kernel_would_refuse_are_refused_before() {
        let folder = tempfile::tempdir().unwrap();
        let check = |name: &str, bytes: &[u8], said: Option<&str>| {
            let path = file(folder.path(), name, bytes, 0o755);
            let result = resolve_along(path.to_str().unwrap(), None, &[]);
            match (result, said) {
                (Ok(found), None) => assert_eq!(found, path),
                (Err(error), Some(said)) => assert!(error.to_string().contains(said), "{error}"),
                (result, said) => panic!("{name}: {result:?}, expected {said:?}"),
            }
        };
        check("good", b"#!/bin/sh\nexit 0\n", None);
        check("bad", b"#!/no/such/shell -x\n", Some("'/no/such/shell'"));
        check("bare", b"#!\n", Some("interpreter ''"));
        check("folder", b"#!/tmp\n", Some("'/tmp'"));
        check("text", b"echo hello\n", Some("text without a '#!' line"));
        check("empty", b"", Some("empty"));
        check("binary", &[1, 0, 2, 0], Some("unknown"));
        let this = std::env::current_exe().unwrap();
        check("copy", &std::fs::read(this).unwrap(), None);
    }

    #[test]
    fn the_interpreter_of_an_elf_file_is_read() {
        let mut elf = vec![0; 0x100];
        elf[..6].copy_from_slice(b"\x7fELF\x02\x01");
        elf[0x20] = 0x40;
        elf[0x36] = 56;
        elf[0x38] = 2;
        elf[0x40] = 6;
        elf[0x78] = 3;
        elf[0x80] = 0xc0;
        elf[0x98] = 8;
        elf[0xc0..0xc8].copy_from_slice(b"/lib/ld\0");
        assert_eq!(elf_interpreter(&elf).as_deref(), Some(&b"/lib/ld"[..]));
        for length in 0..elf.len() {
            // A truncated file is at worst unknown.
            let cut = elf_interpreter(&elf[..length]);
            assert!(cut.is_none() || length >= 0xc8);
        }
        elf[4] = 1;
        assert_eq!(elf_interpreter(&elf), None);
    }
}
