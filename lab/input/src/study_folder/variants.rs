//! The dimensions of a contestant: lists of compilers, levels of optimisation, standards and
//! instruction sets. Each combination is a contestant of its own.

use super::MAX_ENTRIES;
use super::recipe::compiled_with;
use crate::document::{Item, Table};
use crate::error::shown;
use std::path::Path;
use tiebreak_core::language::{Dimensions, Language};
use tiebreak_core::study::Recipe;

/// The lists of words for a compiler.
const LISTS: [(&str, Words); 3] =
    [("levels", |of| &of.levels), ("standards", |of| &of.standards), ("march", |of| &of.march)];

type Words = fn(&Dimensions) -> &[String];

/// Returns the recipes of a contestant, each with the suffix of its name: one recipe without a
/// suffix, if it has no dimension. Without a `language`, which is an error, lists mean nothing.
pub fn variants(
    table: &Table<'_>,
    recipe: Recipe,
    language: Option<Language>,
) -> Vec<(Recipe, String)> {
    let mut all = vec![(recipe, String::new())];
    if let Some(item) = table.get("compilers") {
        for key in ["compiler", "version", "package"] {
            if let Some(one) = table.get(key) {
                one.key_error(format!("'{key}' is of one compiler, and 'compilers' are several"))
                    .help("leave one of them out");
            }
        }
        all = product(&all, &entries(item), |recipe, compiler| {
            let name = Path::new(compiler).file_name().and_then(|name| name.to_str());
            (compiled_with(recipe, compiler), name.unwrap_or(compiler).to_owned())
        });
    }
    for (key, words) in LISTS {
        let Some(item) = table.get(key) else { continue };
        let mut entries = entries(item);
        let Some(language) = language else { continue };
        let words = words(&language.entry().dimensions);
        if words.is_empty() {
            item.key_error(format!("'{key}' means nothing to a contestant in {}", language.name()))
                .help(format!("leave '{key}' out"));
            continue;
        }
        if key == "levels" {
            let (levels, others): (Vec<_>, Vec<_>) =
                entries.into_iter().partition(|(entry, _)| entry.starts_with("-O"));
            for (_, item) in others {
                item.wrong("a level such as \"-O2\"");
            }
            entries = levels;
        }
        all = product(&all, &entries, |recipe, entry| {
            let value = entry.strip_prefix("-O").unwrap_or(entry);
            let flags = words.iter().map(|word| word.replace("{}", value));
            let mut recipe = recipe.clone();
            recipe.flags.extend(flags);
            (recipe, entry.to_owned())
        });
    }
    if all.len() > MAX_ENTRIES {
        table.error(format!("these lists make more than {MAX_ENTRIES} contestants"));
        all.truncate(MAX_ENTRIES);
    }
    all
}

/// Reads a list of words: at least one.
fn entries<'a>(item: &Item<'a>) -> Vec<(&'a str, Item<'a>)> {
    let before = item.log.count();
    let found = item.strings(item.example());
    if found.is_empty() && item.log.count() == before {
        item.wrong(&format!("at least one, such as [\"{}\"]", item.example()));
    }
    let mut each: Vec<(&str, Item<'_>)> = Vec::new();
    for (entry, item) in found {
        if each.iter().any(|(other, _)| *other == entry) {
            item.error(format!("'{}' stands in this list twice", shown(entry)))
                .help("two contestants would have the same name: leave one of them out");
            continue;
        }
        each.push((entry, item));
    }
    each
}

/// Returns each recipe with each entry, and the suffix of its name; the recipes as they are if
/// there is no entry.
fn product(
    recipes: &[(Recipe, String)],
    entries: &[(&str, Item<'_>)],
    with: impl Fn(&Recipe, &str) -> (Recipe, String),
) -> Vec<(Recipe, String)> {
    if entries.is_empty() {
        return recipes.to_vec();
    }
    let each = recipes.iter().flat_map(|one| entries.iter().map(move |(entry, _)| (one, *entry)));
    let each = each.map(|((recipe, suffix), entry)| {
        let (recipe, name) = with(recipe, entry);
        (recipe, format!("{suffix}-{}", in_names(&name)))
    });
    each.take(MAX_ENTRIES + 1).collect()
}

/// Returns an entry as names can have it: `clangpp`, `o2`, `cpp20`, `x86-64-v3`.
fn in_names(entry: &str) -> String {
    let lower = entry.trim_start_matches('-').to_ascii_lowercase().replace('+', "p");
    lower.replace(|c: char| !c.is_ascii_alphanumeric() && c != '_', "-")
}
