//! How a contestant or an oracle is made.

use super::folder::Folder;
use super::programs::{default_program, package_of};
use super::sources::sources;
use super::table::Table;
use crate::document::keys::{Item, items};
use crate::document::log::Log;
use crate::document::value;
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use tiebreak_core::study::{Language, Recipe};
use toml::de::DeValue;

const LANGUAGES: [Language; 7] = [
    Language::C,
    Language::Cpp,
    Language::D,
    Language::Rust,
    Language::Cargo,
    Language::Javascript,
    Language::Python,
];

/// Other names of languages, of their programs and of their files.
const ALIASES: [(&str, Language); 17] = [
    ("c23", Language::C),
    ("gcc", Language::C),
    ("cpp", Language::Cpp),
    ("cxx", Language::Cpp),
    ("cc", Language::Cpp),
    ("g++", Language::Cpp),
    ("dlang", Language::D),
    ("rs", Language::Rust),
    ("rustc", Language::Rust),
    ("crate", Language::Cargo),
    ("js", Language::Javascript),
    ("node", Language::Javascript),
    ("nodejs", Language::Javascript),
    ("bun", Language::Javascript),
    ("py", Language::Python),
    ("python3", Language::Python),
    ("cpython", Language::Python),
];

/// A language where the file says it.
pub(super) type StatedLanguage = Option<(Language, Range<usize>)>;

/// Reads how something is made, and what was said of its language.
pub(super) fn recipe(
    table: &Table<'_>,
    folder: &Folder,
    log: &mut Log<'_>,
) -> (Recipe, StatedLanguage) {
    let said = said_language(table, log);
    let language = said.as_ref().map(|(language, _)| *language);
    let compiler = table.get("compiler").and_then(|item| program(item, log));
    let compiler = compiler.unwrap_or(default_program(language.unwrap_or(Language::C))).to_owned();
    let version = match table.get("version") {
        Some(item) => version(table, item, log),
        None => vec![compiler.clone(), "--version".to_owned()],
    };
    let package = match table.get("package") {
        Some(item) => value::string(item, "clang", log).unwrap_or_default().to_owned(),
        None => package_of(&compiler),
    };
    check_libraries(table, language, log);
    let recipe = Recipe {
        language: language.unwrap_or(Language::C),
        sources: sources(table, language, folder, log),
        compiler,
        flags: table.words("flags", "-O3", log),
        libraries: table.words("libraries", "-lm", log),
        version,
        package,
        environment: table.get("environment").map_or_else(Vec::new, |item| environment(item, log)),
    };
    (recipe, said)
}

/// Reads `language`, which must be said.
fn said_language(table: &Table<'_>, log: &mut Log<'_>) -> StatedLanguage {
    let item = table.required("language", "\"c\"", log)?;
    let text = value::string(item, "c", log)?;
    let span = item.span.clone();
    if let Some(language) = LANGUAGES.into_iter().find(|language| language.name() == text) {
        return Some((language, span));
    }
    let plain = text.to_lowercase();
    let alias = ALIASES.iter().find(|(alias, _)| *alias == plain).map(|(_, known)| known.name());
    let names = LANGUAGES.map(Language::name);
    let listed = names.map(|name| format!("\"{name}\""));
    let (last, others) = (&listed[names.len() - 1], &listed[..names.len() - 1]);
    let meant = alias.or_else(|| closest(text, names));
    value::wrong(item, &format!("{} or {last}", others.join(", ")), log).meant(meant);
    None
}

/// A program of the PATH, or the path of one: a single word.
fn program<'a>(item: &Item<'a>, log: &mut Log<'_>) -> Option<&'a str> {
    let text = value::string(item, "clang", log)?;
    if text.contains(char::is_whitespace) {
        value::wrong(item, "one program", log).help("words for it stand in 'flags'");
        return None;
    }
    Some(text)
}

/// The command that is the receipt: at least a program.
fn version(table: &Table<'_>, item: &Item<'_>, log: &mut Log<'_>) -> Vec<String> {
    let before = log.count();
    let words = table.words("version", "clang\", \"--version", log);
    if words.is_empty() && log.count() == before {
        value::wrong(item, "a command such as [\"clang\", \"--version\"]", log);
    }
    words
}

/// What runs in a process of its own is not linked.
fn check_libraries(table: &Table<'_>, language: Option<Language>, log: &mut Log<'_>) {
    let Some(item) = table.get("libraries") else { return };
    let Some(language) = language.filter(|language| language.is_runner()) else { return };
    let message = format!("nothing is linked to a contestant in {}", language.name());
    log.error(item.key_span.clone(), message).help("leave 'libraries' out");
}

/// Variables for compiler and interpreter.
fn environment(item: &Item<'_>, log: &mut Log<'_>) -> Vec<(String, String)> {
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, "a table such as { LANG = \"C\" }", log);
        return Vec::new();
    };
    let mut variables = Vec::new();
    for variable in items(table) {
        let name = variable.key;
        if name.is_empty() || name.contains(['=', '\0']) {
            log.error(variable.key_span.clone(), format!("'{}' is no variable", shown(name)))
                .label("expected a name without '='");
        }
        let DeValue::String(text) = variable.value else {
            value::wrong_type(&variable, "a string", log);
            continue;
        };
        if text.contains('\0') {
            value::wrong(&variable, "a string without a NUL", log);
        }
        variables.push((name.to_owned(), text.clone().into_owned()));
    }
    variables
}
