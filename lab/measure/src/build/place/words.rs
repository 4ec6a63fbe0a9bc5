//! The linker's options that leave a placement as it is, or that the reference shows.

use super::Refusal;

/// Options that say where libraries are, which of their members are read, or what the reference's
/// own headers say.
const KNOWN: &str = "( ) Bdynamic Bstatic Bsymbolic S as-needed build-id disable-new-dtags \
    enable-new-dtags end-group exclude-libs fatal-warnings h hash-style no-as-needed no-undefined \
    no-whole-archive require-defined rpath rpath-link soname start-group u undefined \
    version-script whole-archive";
/// Values of the option `-z`.
const KNOWN_Z: &str = "defs execstack initfirst lazy nodelete nodlopen noexecstack norelro \
    noseparate-code now origin relro";

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
            passed.extend((word != "-Xlinker").then_some(word));
            passed.extend(words.next());
        } else if word.starts_with("-L=") || word.starts_with("-L-") {
            // As the compiler of D has it.
            passed.push(word[2..].trim_start_matches('='));
        } else if word.starts_with('@') || word.starts_with("-T") || word.starts_with("-specs") {
            passed.push(word);
        }
    }
    let is_in = |list: &str, word: &str| list.split(' ').any(|known| known == word);
    let mut before = "";
    for word in passed {
        let name = word.trim_start_matches('-').split('=').next().unwrap_or_default();
        let is_known = match word.strip_prefix('-') {
            _ if before == "-z" => is_in(KNOWN_Z, word),
            // Where libraries are, and their names.
            Some(short) if short == "z" || short.starts_with(['L', 'R', 'l']) => true,
            Some(_) => is_in(KNOWN, name),
            None => !word.starts_with('@'),
        };
        if !is_known {
            return Err(Refusal(format!("the linker's option '{word}'")));
        }
        before = word;
    }
    Ok(())
}
