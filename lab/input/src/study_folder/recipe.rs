//! How a contestant or an oracle is built: its language, its compiler and the files that it names.

use super::folder::Folder;
use crate::document::{Item, Table};
use crate::error::{alternatives, shown};
use crate::suggest::closest;
use std::path::{Component, Path};
use tiebreak_core::language::Language;
use tiebreak_core::study::Recipe;

/// What is built: the name of a source that it does not state, what errors about it mark, and
/// whether it must be a library.
#[derive(Clone, Copy)]
pub struct Named<'a> {
    pub name: &'a str,
    pub item: &'a Item<'a>,
    pub is_library: bool,
}

/// Reads a recipe, and its language if that is known.
pub fn recipe(
    table: &Table<'_>,
    folder: &Folder,
    named: Option<Named<'_>>,
) -> (Recipe, Option<Language>) {
    let found = language(table, folder, named);
    if found.is_none() {
        unknown_language(table);
    }
    let language = found.unwrap_or_default();
    let compiler = table.read("compiler", program);
    let compiler = compiler.unwrap_or_else(|| language.entry().program.clone());
    let version = match table.get("version") {
        Some(item) => version(table, item),
        None => language.version_command(&compiler),
    };
    let package = match table.get("package") {
        Some(item) => item.string().unwrap_or_default(),
        None => package_of(&compiler),
    };
    check_linked(table, language, "libraries");
    let recipe = Recipe {
        language,
        sources: sources(table, language, folder, named),
        compiler,
        flags: flags(table, language),
        libraries: table.words("libraries"),
        version,
        package,
        environment: table.get("environment").map_or_else(Vec::new, |item| environment(item)),
        is_linked: false,
        is_process: false,
    };
    (recipe, found)
}

/// Returns a recipe with another compiler.
pub fn compiled_with(recipe: &Recipe, compiler: &str) -> Recipe {
    Recipe {
        compiler: compiler.to_owned(),
        version: recipe.language.version_command(compiler),
        package: package_of(compiler),
        ..recipe.clone()
    }
}

/// Says why the language is not known. Without sources, that is their error.
fn unknown_language(table: &Table<'_>) {
    let Some(item) = table.get("language") else {
        if table.get("sources").is_some() {
            table.required("language");
        }
        return;
    };
    if let Some(text) = item.string() {
        let names = Language::all().map(Language::name);
        let meant = Language::meant(&text).map(Language::name).or_else(|| closest(&text, names));
        item.wrong(&listed(|_| true)).meant(meant);
    }
}

/// Returns the language that a recipe states, or that the name of its first source says, if it has
/// one; logs nothing.
pub fn language(table: &Table<'_>, folder: &Folder, named: Option<Named<'_>>) -> Option<Language> {
    if let Some(item) = table.get("language") {
        return Language::named(item.value.as_str()?);
    }
    match table.get("sources") {
        Some(item) => Language::of_file(item.elements()?.first()?.value.as_str()?),
        None => match sources_called(named?, None, folder)[..] {
            [one] => Language::of_file(one),
            _ => None,
        },
    }
}

/// Returns the sources at the top of the folder that have this name before their ending; of a Cargo
/// package its folder.
fn sources_called<'a>(
    named: Named<'a>,
    language: Option<Language>,
    folder: &'a Folder,
) -> Vec<&'a str> {
    let name = named.name;
    if language.is_some_and(Language::is_package) {
        let has_manifest = folder.files.contains(&format!("{name}/Cargo.toml"));
        return has_manifest.then_some(name).into_iter().collect();
    }
    let files = folder.files.iter().map(String::as_str);
    let called = files.filter(|file| file.rsplit_once('.').is_some_and(|(stem, _)| stem == name));
    called.filter(|file| named.is_source(file, language)).collect()
}

impl Named<'_> {
    /// Returns whether the folder has a source with its name.
    pub fn has_source(self, folder: &Folder) -> bool {
        !sources_called(self, None, folder).is_empty()
    }

    /// Returns whether a file can be its source, by the language that its ending says.
    fn is_source(&self, file: &str, language: Option<Language>) -> bool {
        Language::of_file(file).is_some_and(|found| {
            language.is_none_or(|language| language == found)
                && !(self.is_library && found.is_runner())
        })
    }
}

/// Reads `flags`. Where nothing sets a level of optimisation, one is set: code that nobody thought
/// of must not race as it is debugged.
fn flags(table: &Table<'_>, language: Language) -> Vec<String> {
    let stated = table.words("flags");
    let is_level = |word: &String| word.starts_with("-O") || word.contains("opt-level");
    if table.get("levels").is_some() || stated.iter().any(is_level) {
        return stated;
    }
    [language.entry().optimised.clone(), stated].concat()
}

/// Lists the languages of a kind as errors do: `"c", "c++" or "d"`.
pub fn listed(is_one: impl Fn(Language) -> bool) -> String {
    let names = Language::all().filter(|language| is_one(*language)).map(Language::name);
    let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
    alternatives(&names)
}

/// Reads a program of the PATH, or the path of one: a single word.
fn program(item: &Item<'_>) -> Option<String> {
    let text = item.string()?;
    if text.contains(char::is_whitespace) {
        return item.wrong("one program").help("words for it stand in 'flags'").none();
    }
    Some(text)
}

/// Reads the command that prints the receipt: at least a program.
fn version(table: &Table<'_>, item: &Item<'_>) -> Vec<String> {
    let before = table.log.count();
    let words = table.words("version");
    if words.is_empty() && table.log.count() == before {
        item.wrong("a command such as [\"clang\", \"--version\"]");
    }
    words
}

/// Checks that a contestant in a separate process has no such key, because it is not linked.
pub fn check_linked(table: &Table<'_>, language: Language, key: &str) {
    if let Some(item) = table.get(key).filter(|_| language.is_runner()) {
        let message = format!("nothing is linked to a contestant in {}", language.name());
        item.key_error(message).help(format!("leave '{key}' out"));
    }
}

/// Reads variables for compiler and interpreter.
fn environment(item: &Item<'_>) -> Vec<(String, String)> {
    let entries = item.typed(item.entries(), "a table such as { LANG = \"C\" }");
    let mut variables = Vec::new();
    for variable in entries.unwrap_or_default() {
        let name = variable.key;
        if name.is_empty() || name.contains(['=', '\0']) {
            variable
                .key_error(format!("'{}' is not a valid variable name", shown(name)))
                .label("expected a name without '='");
        }
        let Some(text) = variable.typed(variable.value.as_str(), "a string") else { continue };
        if text.contains('\0') {
            variable.wrong("a string without a NUL");
        }
        variables.push((name.to_owned(), text.to_owned()));
    }
    variables
}

/// Reads `sources`, at least one. Without them it is the file that has the recipe's name.
fn sources(
    table: &Table<'_>,
    language: Language,
    folder: &Folder,
    named: Option<Named<'_>>,
) -> Vec<String> {
    let example = language.entry().example.as_str();
    let Some(item) = table.get("sources") else {
        return named.and_then(|named| source_by_name(table, folder, named)).into_iter().collect();
    };
    let before = table.log.count();
    let found = item.strings(example);
    if found.is_empty() && table.log.count() == before {
        item.error("'sources' names no file")
            .label(format!("expected at least one, such as [\"{example}\"]"));
    }
    // In some languages a contestant has one source, which names the others.
    if let (Some((_, second)), Some(help)) = (found.get(1), &language.entry().one_source) {
        let message = format!("a contestant in {} has one source", language.name());
        second.error(message).help(help);
    }
    found.iter().filter_map(|(path, item)| source(path, item, language, folder)).collect()
}

/// Checks a source, given by its relative path.
fn source(path: &str, item: &Item<'_>, language: Language, folder: &Folder) -> Option<String> {
    if language.is_package() { package(path, item, folder) } else { file(path, item, folder) }
}

/// Returns the source that a table without `sources` means: the one file with its name.
fn source_by_name(table: &Table<'_>, folder: &Folder, named: Named<'_>) -> Option<String> {
    let Named { item, is_library, .. } = named;
    let language = match table.get("language") {
        // What is wrong with the language is an error of its own.
        Some(item) => Some(
            Language::named(item.value.as_str()?)
                .filter(|language| !(is_library && language.is_runner()))?,
        ),
        None => None,
    };
    let called = sources_called(named, language, folder);
    if let [one] = called[..] {
        return source(one, item, language.unwrap_or_default(), folder);
    }
    // Of a table that is a name in a list, the name is all that there is.
    let is_name = item.span == table.span;
    let (why, help) = if called.is_empty() {
        missing(named, language, folder, is_name)
    } else {
        let quoted: Vec<String> = called.iter().map(|file| format!("'{file}'")).collect();
        let place = if is_name { "[[contestant]] with its name and " } else { "" };
        let help = format!("write {place}sources = [\"{}\"]", called[0]);
        (format!("it may be {}", alternatives(&quoted)), help)
    };
    table.error(format!("this {} has no sources: {why}", table.place.noun())).help(help).none()
}

/// Says that there is no file with a name, and what would help. `is_name` says that the name is all
/// that is written.
fn missing(
    named: Named<'_>,
    language: Option<Language>,
    folder: &Folder,
    is_name: bool,
) -> (String, String) {
    let name = named.name;
    let language = match language {
        Some(language) if language.is_package() => {
            let help = format!("make the package '{name}', or name its folder in 'sources'");
            return (format!("no Cargo package is called '{name}'"), help);
        }
        language => language,
    };
    let written = language.map_or_else(String::new, |one| format!(" in {}", one.name()));
    let files = folder.files.iter().map(String::as_str);
    let files: Vec<&str> = files.filter(|file| named.is_source(file, language)).collect();
    let stem =
        |file: &str| Path::new(file).file_stem().and_then(|stem| stem.to_str().map(str::to_owned));
    let stems: Vec<String> = files.iter().filter_map(|file| stem(file)).collect();
    let near = closest(name, stems.iter().map(String::as_str));
    let near = files.iter().find(|file| near.is_some() && stem(file).as_deref() == near);
    let help = match near {
        Some(near) if is_name => {
            format!("did you mean '{}'?", stem(near).unwrap_or_default())
        }
        Some(near) => format!("write sources = [\"{near}\"]"),
        None => {
            let example = &language.unwrap_or_default().entry().example;
            let ending = example.rsplit_once('.').map_or("", |(_, ending)| ending);
            format!("make the file '{name}.{ending}', or name it in 'sources'")
        }
    };
    (format!("no file{written} is called '{name}'"), help)
}

/// Checks a file of the study, given by its relative path.
pub fn file(path: &str, item: &Item<'_>, folder: &Folder) -> Option<String> {
    let located = locate(path, item, folder)?;
    if !folder.absolute(&located).is_file() {
        return item
            .error(format!("'{}' is not a file", shown(path)))
            .label("expected a file")
            .none();
    }
    Some(located)
}

/// Checks a cargo package of the study, given by the relative path of its folder.
fn package(path: &str, item: &Item<'_>, folder: &Folder) -> Option<String> {
    let located = locate(path, item, folder)?;
    let absolute = folder.absolute(&located);
    let shown = shown(path);
    if !absolute.join("Cargo.toml").is_file() {
        return item
            .error(format!("'{shown}' is not a Cargo package"))
            .label("expected a folder with a Cargo.toml")
            .none();
    }
    if !absolute.join("Cargo.lock").is_file() {
        return item
            .error(format!("there is no Cargo.lock in '{shown}'"))
            .label("it is built with --locked, so that all get the same dependencies")
            .help("run 'cargo generate-lockfile' in it")
            .none();
    }
    Some(located)
}

/// Returns the path of a file in the folder, relative and plain.
fn locate(path: &str, item: &Item<'_>, folder: &Folder) -> Option<String> {
    let plain = plain(path);
    let found = plain.as_ref().map(|plain| folder.absolute(plain).canonicalize());
    match found {
        Some(Ok(found)) if found.starts_with(&folder.path) => plain,
        Some(Err(_)) => {
            let files = folder.files.iter().map(String::as_str);
            item.error(format!("there is no '{}' in the study's folder", shown(path)))
                .label("expected the path of a file of it")
                .meant(closest(path, files))
                .none()
        }
        None | Some(Ok(_)) => item
            .error(format!("'{}' leads out of the study's folder", shown(path)))
            .label("expected a path within it")
            .help("a study can be moved and copied: what it is made of lies in its folder")
            .none(),
    }
}

/// Returns a relative path without `.` and doubled slashes; `None` if it may lead out of its
/// folder.
fn plain(path: &str) -> Option<String> {
    let mut parts = Vec::new();
    for part in Path::new(path).components() {
        match part {
            Component::CurDir => {}
            Component::Normal(part) => parts.push(part.to_str().unwrap_or_default()),
            _ => return None,
        }
    }
    Some(if parts.is_empty() { ".".to_owned() } else { parts.join("/") })
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
