//! Checks an executable file as the kernel would: its format and its interpreter.

use super::{head, may_execute};
use crate::error::StartError;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The number of bytes that the kernel reads (`BINPRM_BUF_SIZE`).
const HEAD_BYTES: usize = 256;
/// Enough for the program headers and the interpreter's name of usual ELF files.
const ELF_HEAD_BYTES: usize = 64 << 10;

/// Checks that the kernel can run the file.
///
/// Formats that neither start with `#!` nor are ELF pass if formats were registered
/// (`binfmt_misc`), because then only the kernel knows.
pub(super) fn check(path: &Path) -> Result<(), StartError> {
    let Some(bytes) = head(path, HEAD_BYTES) else {
        return Ok(());
    };
    if let Some(rest) = bytes.strip_prefix(b"#!") {
        return check_interpreter(path, first_word(rest));
    }
    if bytes.starts_with(b"\x7fELF") {
        let elf = head(path, ELF_HEAD_BYTES).unwrap_or_default();
        return match elf_interpreter(&elf) {
            Some(interpreter) => check_interpreter(path, &interpreter),
            None => Ok(()),
        };
    }
    let found = match bytes.as_slice() {
        [] => "it is empty",
        text if !text.contains(&0) => "it is a text without a '#!' line",
        _ => "its format is unknown",
    };
    if other_formats_registered() {
        return Ok(());
    }
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
pub(super) fn elf_interpreter(elf: &[u8]) -> Option<Vec<u8>> {
    const CLASS_64_LITTLE: [u8; 2] = [2, 1];
    const PT_INTERP: u64 = 3;
    if elf.get(4..6)? != CLASS_64_LITTLE {
        return None;
    }
    let number = |at: usize, bytes: usize| -> Option<u64> {
        let field = elf.get(at..at.checked_add(bytes)?)?;
        Some(field.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
    };
    let table = usize::try_from(number(0x20, 8)?).ok()?;
    let entry_bytes = number(0x36, 2)? as usize;
    let entries = number(0x38, 2)? as usize;
    let header = (0..entries)
        .map_while(|index| table.checked_add(index * entry_bytes))
        .find(|at| number(*at, 4) == Some(PT_INTERP))?;
    let start = usize::try_from(number(header + 8, 8)?).ok()?;
    let length = usize::try_from(number(header + 32, 8)?).ok()?;
    let name = elf.get(start..start.checked_add(length)?)?;
    Some(name.split(|byte| *byte == 0).next()?.to_owned())
}

fn other_formats_registered() -> bool {
    let Ok(entries) = std::fs::read_dir("/proc/sys/fs/binfmt_misc") else {
        return false;
    };
    let own = |name: &OsStr| name == "register" || name == "status";
    entries.flatten().any(|entry| !own(&entry.file_name()))
}
