//! How a contestant or an oracle is built: its language, its compiler and the files that it names.

use super::folder::{Folder, PathProblem};
use crate::document::{Item, Log, Table, items};
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use std::path::Path;
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
    let stated = stated_language(table, log);
    let language = stated.as_ref().map(|(language, _)| *language);
    let entry = language.unwrap_or_default().entry();
    let compiler = table.read("compiler", program, log);
    let compiler = compiler.unwrap_or_else(|| entry.program.clone());
    let version = match table.get("version") {
        Some(item) => version(table, item, log),
        None => language.unwrap_or_default().version_command(&compiler),
    };
    let package = match table.get("package") {
        Some(item) => item.string(log).unwrap_or_default(),
        None => package_of(&compiler),
    };
    check_libraries(table, language, log);
    let recipe = Recipe {
        language: language.unwrap_or_default(),
        sources: sources(table, language, folder, log),
        compiler,
        flags: table.words("flags", log),
        libraries: table.words("libraries", log),
        version,
        package,
        environment: table.get("environment").map_or_else(Vec::new, |item| environment(item, log)),
    };
    (recipe, stated)
}

/// Reads `language`, which is required.
fn stated_language(table: &Table<'_>, log: &mut Log<'_>) -> StatedLanguage {
    let item = table.required("language", log)?;
    let text = item.string(log)?;
    if let Some(language) = Language::named(&text) {
        return Some((language, item.span.clone()));
    }
    let names = Language::all().map(Language::name);
    let meant = Language::meant(&text).map(Language::name).or_else(|| closest(&text, names));
    item.wrong(&listed(|_| true), log).meant(meant);
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
fn program(item: &Item<'_>, log: &mut Log<'_>) -> Option<String> {
    let text = item.string(log)?;
    if text.contains(char::is_whitespace) {
        item.wrong("one program", log).help("words for it stand in 'flags'");
        return None;
    }
    Some(text)
}

/// Reads the command that prints the receipt: at least a program.
fn version(table: &Table<'_>, item: &Item<'_>, log: &mut Log<'_>) -> Vec<String> {
    let before = log.count();
    let words = table.words("version", log);
    if words.is_empty() && log.count() == before {
        item.wrong("a command such as [\"clang\", \"--version\"]", log);
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
        item.wrong_type("a table such as { LANG = \"C\" }", log);
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
            variable.wrong_type("a string", log);
            continue;
        };
        if text.contains('\0') {
            variable.wrong("a string without a NUL", log);
        }
        variables.push((name.to_owned(), text.clone().into_owned()));
    }
    variables
}

/// Reads `sources`, at least one.
fn sources(
    table: &Table<'_>,
    language: Option<Language>,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Vec<String> {
    let example = language.unwrap_or_default().entry().example.as_str();
    let Some(item) = table.required_as("sources", &format!("[\"{example}\"]"), log) else {
        return Vec::new();
    };
    let before = log.count();
    let found = item.strings(example, log);
    if found.is_empty() && log.count() == before {
        log.error(item.span.clone(), "'sources' names no file")
            .label(format!("expected at least one, such as [\"{example}\"]"));
    }
    if let (Some((_, second)), Some(language)) = (found.get(1), language) {
        check_single(second, language, log);
    }
    let is_package = language.is_some_and(Language::is_package);
    let located = found.iter().filter_map(|(path, item)| {
        let at = item.span.clone();
        if is_package { package(path, at, folder, log) } else { file(path, at, folder, log) }
    });
    located.collect()
}

/// Logs an error for a second source in a language that has one source, which names the others.
fn check_single(second: &Item<'_>, language: Language, log: &mut Log<'_>) {
    let Some(help) = &language.entry().one_source else { return };
    let message = format!("a contestant in {} has one source", language.name());
    log.error(second.span.clone(), message).help(help);
}

/// Checks a file of the study, given by its relative path.
pub(super) fn file(
    path: &str,
    at: Range<usize>,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Option<String> {
    let located = locate(path, at.clone(), folder, log)?;
    if !folder.absolute(&located).is_file() {
        log.error(at, format!("'{}' is not a file", shown(path))).label("expected a file");
        return None;
    }
    Some(located)
}

/// Checks a cargo package of the study, given by the relative path of its folder.
fn package(path: &str, at: Range<usize>, folder: &Folder, log: &mut Log<'_>) -> Option<String> {
    let located = locate(path, at.clone(), folder, log)?;
    let absolute = folder.absolute(&located);
    let shown = shown(path);
    if !absolute.join("Cargo.toml").is_file() {
        log.error(at, format!("'{shown}' is not a Cargo package"))
            .label("expected a folder with a Cargo.toml");
        return None;
    }
    if !absolute.join("Cargo.lock").is_file() {
        log.error(at, format!("there is no Cargo.lock in '{shown}'"))
            .label("it is built with --locked, so that all get the same dependencies")
            .help("run 'cargo generate-lockfile' in it");
        return None;
    }
    Some(located)
}

fn locate(path: &str, at: Range<usize>, folder: &Folder, log: &mut Log<'_>) -> Option<String> {
    match folder.locate(path) {
        Ok(located) => Some(located),
        Err(PathProblem::Outside) => {
            log.error(at, format!("'{}' leads out of the study's folder", shown(path)))
                .label("expected a path within it")
                .help("a study can be moved and copied: what it is made of lies in its folder");
            None
        }
        Err(PathProblem::Missing) => {
            let files = folder.files.iter().map(String::as_str);
            log.error(at, format!("there is no '{}' in the study's folder", shown(path)))
                .label("expected the path of a file of it")
                .meant(closest(path, files));
            None
        }
    }
}

/// Returns what installs a program: a package of Debian 12, a command, or an address. An unknown
/// program is assumed to be in a package of the same name.
fn package_of(program: &str) -> String {
    let name = Path::new(program).file_name().and_then(|name| name.to_str()).unwrap_or(program);
    let (plain, version) = match name.rsplit_once('-') {
        Some((plain, version)) if is_version(version) => (plain, Some(version)),
        _ => (name, None),
    };
    match (Language::package_of(plain), version) {
        (None, _) => name.to_owned(),
        (Some(package), Some(version)) if !package.contains([' ', '/']) => {
            format!("{package}-{version}")
        }
        (Some(package), _) => package.to_owned(),
    }
}

fn is_version(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit())
        && text.chars().all(|c| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_come_in_packages() {
        let cases = [
            ("gcc", "gcc"),
            ("gcc-13", "gcc-13"),
            ("g++", "g++"),
            ("g++-12", "g++-12"),
            ("clang", "clang"),
            ("clang++", "clang"),
            ("clang++-16", "clang-16"),
            ("/usr/bin/clang++", "clang"),
            ("ldc2", "ldc"),
            ("gdc", "gdc"),
            ("rustc", "https://rustup.rs"),
            ("node", "nodejs"),
            ("bun", "npm install -g bun"),
            ("bun-1.1", "npm install -g bun"),
            ("pypy3", "pypy3"),
            ("python3.10", "python3.10"),
            ("tcc", "tcc"),
        ];
        for (program, package) in cases {
            assert_eq!(package_of(program), package, "{program}");
        }
    }
}
