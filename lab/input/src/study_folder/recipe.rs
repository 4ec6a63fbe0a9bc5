//! How a contestant or an oracle is built.

use super::folder::Folder;
use super::programs::package_of;
use super::sources::sources;
use super::table::Table;
use crate::document::keys::{Item, items};
use crate::document::log::Log;
use crate::document::value;
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use tiebreak_core::language::Language;
use tiebreak_core::study::Recipe;
use toml::de::DeValue;

/// A language, and its place in the file.
pub(super) type StatedLanguage = Option<(Language, Range<usize>)>;

/// Reads a recipe, and its language as stated.
pub(super) fn recipe(
    table: &Table<'_>,
    folder: &Folder,
    log: &mut Log<'_>,
) -> (Recipe, StatedLanguage) {
    let said = said_language(table, log);
    let language = said.as_ref().map(|(language, _)| *language);
    let entry = language.unwrap_or_default().entry();
    let compiler = table.get("compiler").and_then(|item| program(item, log));
    let compiler = compiler.unwrap_or(&entry.program).to_owned();
    let version = match table.get("version") {
        Some(item) => version(table, item, log),
        None => language.unwrap_or_default().version_command(&compiler),
    };
    let package = match table.get("package") {
        Some(item) => value::string(item, "clang", log).unwrap_or_default().to_owned(),
        None => package_of(&compiler),
    };
    check_libraries(table, language, log);
    let recipe = Recipe {
        language: language.unwrap_or_default(),
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

/// Reads `language`, which is required.
fn said_language(table: &Table<'_>, log: &mut Log<'_>) -> StatedLanguage {
    let item = table.required("language", "\"c\"", log)?;
    let text = value::string(item, "c", log)?;
    let span = item.span.clone();
    if let Some(language) = Language::named(text) {
        return Some((language, span));
    }
    let names = Language::all().map(Language::name);
    let meant = Language::meant(text).map(Language::name).or_else(|| closest(text, names));
    value::wrong(item, &listed(|_| true), log).meant(meant);
    None
}

/// Lists the languages of a kind as errors do: `"c", "c++" or "d"`.
pub(super) fn listed(is_one: impl Fn(Language) -> bool) -> String {
    let names = Language::all().filter(|language| is_one(*language)).map(Language::name);
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    match names.split_last() {
        Some((last, others)) if !others.is_empty() => format!("{} or {last}", others.join(", ")),
        _ => names.concat(),
    }
}

/// Reads a program of the PATH, or the path of one: a single word.
fn program<'a>(item: &Item<'a>, log: &mut Log<'_>) -> Option<&'a str> {
    let text = value::string(item, "clang", log)?;
    if text.contains(char::is_whitespace) {
        value::wrong(item, "one program", log).help("words for it stand in 'flags'");
        return None;
    }
    Some(text)
}

/// Reads the command that prints the receipt: at least a program.
fn version(table: &Table<'_>, item: &Item<'_>, log: &mut Log<'_>) -> Vec<String> {
    let before = log.count();
    let words = table.words("version", "clang\", \"--version", log);
    if words.is_empty() && log.count() == before {
        value::wrong(item, "a command such as [\"clang\", \"--version\"]", log);
    }
    words
}

/// Checks that a contestant in a separate process names no libraries, because it is not linked.
fn check_libraries(table: &Table<'_>, language: Option<Language>, log: &mut Log<'_>) {
    let Some(item) = table.get("libraries") else { return };
    let Some(language) = language.filter(|language| language.is_runner()) else { return };
    let message = format!("nothing is linked to a contestant in {}", language.name());
    log.error(item.key_span.clone(), message).help("leave 'libraries' out");
}

/// Reads variables for compiler and interpreter.
fn environment(item: &Item<'_>, log: &mut Log<'_>) -> Vec<(String, String)> {
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, "a table such as { LANG = \"C\" }", log);
        return Vec::new();
    };
    let mut variables = Vec::new();
    for variable in items(table) {
        let name = variable.key;
        if name.is_empty() || name.contains(['=', '\0']) {
            log.error(
                variable.key_span.clone(),
                format!("'{}' is not a valid variable name", shown(name)),
            )
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
