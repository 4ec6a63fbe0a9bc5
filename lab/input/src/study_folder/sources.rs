//! The files that a study names: checks that they exist and are in its folder.

use super::folder::{Folder, PathProblem};
use super::table::{Table, strings};
use crate::document::keys::Item;
use crate::document::log::Log;
use crate::document::value;
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use tiebreak_core::language::Language;

/// Reads `sources`, at least one.
pub(super) fn sources(
    table: &Table<'_>,
    language: Option<Language>,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Vec<String> {
    let example = language.unwrap_or_default().entry().example.as_str();
    let Some(item) = table.required("sources", &format!("[\"{example}\"]"), log) else {
        return Vec::new();
    };
    let before = log.count();
    let found = strings(item, example, log);
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

/// Reads a file that an optional key names.
pub(super) fn named_file(item: &Item<'_>, folder: &Folder, log: &mut Log<'_>) -> Option<String> {
    let path = value::string(item, "data.txt", log)?;
    file(path, item.span.clone(), folder, log)
}

/// Checks a file of the study, given by its relative path.
fn file(path: &str, at: Range<usize>, folder: &Folder, log: &mut Log<'_>) -> Option<String> {
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
