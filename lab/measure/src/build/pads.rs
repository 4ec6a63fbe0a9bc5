//! Objects that contain only padding.

use super::cache::Cache;
use super::error::BuildError;
use super::steps::run;
use super::toolchain::surroundings;
use crate::program::resolve;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

/// The sizes. A fair coin includes or excludes each, so the sum of a set is each multiple of 16
/// bytes below 4096 with the same probability: any offset in a page.
const SIZES_BYTES: [u32; 8] = [16, 32, 64, 128, 256, 512, 1024, 2048];

/// Sections of code. The linker places all `.text.unlikely` before all `.text.hot` before all
/// `.text`, so a pad in the first moves everything.
const CODE: [&str; 2] = [".text.unlikely", ".text"];
/// Sections of data.
const DATA: [&str; 3] = [".rodata", ".data", ".bss"];

/// A pad as (path, bytes).
type Pad = (String, u32);

/// Returns the pads for code and those for data, assembled once.
pub(super) fn pads(
    cache: &Cache,
    interrupted: &AtomicBool,
) -> Result<(Vec<Pad>, Vec<Pad>), BuildError> {
    let every = |sections: &'static [&'static str]| {
        sections.iter().flat_map(|section| SIZES_BYTES.map(|bytes| (*section, bytes)))
    };
    let texts = every(&CODE).chain(every(&DATA)).map(|(section, bytes)| text(section, bytes));
    let key = surroundings().with("pads").with_all(texts);
    let folder = cache.entry(key, |folder| assemble(folder, interrupted))?;
    let named = |(section, bytes): (&str, u32)| {
        (folder.join(name(section, bytes)).with_extension("o").to_string_lossy().into(), bytes)
    };
    Ok((every(&CODE).map(named).collect(), every(&DATA).map(named).collect()))
}

fn assemble(folder: &Path, interrupted: &AtomicBool) -> Result<(), BuildError> {
    // In every language, `cc` links the placement at the end.
    let program = resolve("cc", None).map_err(|_| BuildError::Missing {
        program: "cc".to_owned(),
        why: String::new(),
        remedy: "'apt-get install gcc' brings it".to_owned(),
    })?;
    let mut command = Command::new(program);
    command.current_dir(folder).arg("-c");
    let mut sources = Vec::new();
    for section in CODE.iter().chain(&DATA) {
        for bytes in SIZES_BYTES {
            let path = folder.join(name(section, bytes)).with_extension("s");
            fs::write(&path, text(section, bytes)).map_err(BuildError::io("writing", &path))?;
            command.arg(&path);
            sources.push(path);
        }
    }
    run(&mut command, &folder.join("log"), interrupted)?;
    sources
        .iter()
        .try_for_each(|path| fs::remove_file(path).map_err(BuildError::io("removing", path)))
}

/// Returns the file's name without its extension.
fn name(section: &str, bytes: u32) -> String {
    format!("{}-{bytes}", section.trim_start_matches('.').replace('.', "-"))
}

fn text(section: &str, bytes: u32) -> String {
    let (flags, kind, fill) = match section {
        ".bss" => ("aw", "nobits", "0"),
        ".data" => ("aw", "progbits", "0"),
        ".rodata" => ("a", "progbits", "0"),
        _ => ("ax", "progbits", "0xcc"),
    };
    let content = if kind == "nobits" {
        format!(".skip {bytes}")
    } else {
        format!(".fill {bytes}, 1, {fill}")
    };
    format!(
        "\t.section {section},\"{flags}\",%{kind}\n\t{content}\n\
         \t.section .note.GNU-stack,\"\",%progbits\n"
    )
}
