//! The linker's options that leave a placement as it is, or that the reference shows.

use super::Refusal;

/// Options, without their hyphens, that say where libraries are, which of their members are read,
/// or what the reference's own headers say.
const KNOWN: [&str; 30] = [
    "(",
    ")",
    "Bdynamic",
    "Bstatic",
    "Bsymbolic",
    "L",
    "R",
    "S",
    "as-needed",
    "build-id",
    "disable-new-dtags",
    "enable-new-dtags",
    "end-group",
    "exclude-libs",
    "fatal-warnings",
    "h",
    "hash-style",
    "l",
    "no-as-needed",
    "no-undefined",
    "no-whole-archive",
    "require-defined",
    "rpath",
    "rpath-link",
    "soname",
    "start-group",
    "u",
    "undefined",
    "version-script",
    "whole-archive",
];
/// Values of the option `-z`.
const KNOWN_Z: [&str; 12] = [
    "defs",
    "execstack",
    "initfirst",
    "lazy",
    "nodelete",
    "nodlopen",
    "noexecstack",
    "norelro",
    "noseparate-code",
    "now",
    "origin",
    "relro",
];

/// Checks the words of the command that links.
///
/// # Errors
/// Names an option that may change what the linker makes of the same objects.
pub(super) fn check<'a>(words: impl Iterator<Item = &'a String>) -> Result<(), Refusal> {
    let mut words = words.map(String::as_str);
    let mut passed = Vec::new();
    while let Some(word) = words.next() {
        if let Some(list) = word.strip_prefix("-Wl,") {
            passed.extend(list.split(','));
        } else if word == "-Xlinker" || word == "-z" || word == "-T" {
            passed.extend([word].into_iter().filter(|word| *word != "-Xlinker"));
            passed.extend(words.next());
        } else if let Some(own) = word.strip_prefix("-L=-") {
            // As the compiler of D has it.
            passed.push(own);
        } else if word.starts_with('@') || word.starts_with("-T") || word.starts_with("-specs") {
            passed.push(word);
        }
    }
    let mut is_z = false;
    for word in passed {
        let is_value = std::mem::replace(&mut is_z, word == "-z");
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        let is_known = match word.strip_prefix('-') {
            _ if is_value => KNOWN_Z.contains(&word),
            Some("z") => true,
            Some(short) if short.starts_with(['L', 'l', 'R']) => true,
            Some(_) => KNOWN.contains(&name),
            None => !word.starts_with('@'),
        };
        if !is_known {
            return Err(Refusal(format!("the linker's option '{word}'")));
        }
    }
    Ok(())
}
