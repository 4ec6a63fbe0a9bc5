//! Tables of a study's file, and their keys.

use super::MAX_ENTRIES;
use super::places::Place;
use crate::document::keys::Place as _;
use crate::document::keys::{self, Item, items};
use crate::document::log::Log;
use crate::document::value;
use std::ops::Range;
use toml::de::DeValue;

/// A table of the file.
pub(super) struct Table<'a> {
    /// Its keys, in the order of the file.
    pub(super) items: Vec<Item<'a>>,
    /// Its place: its header.
    pub(super) span: Range<usize>,
    /// The kind of the table.
    pub(super) place: Place,
}

impl<'a> Table<'a> {
    pub(super) fn get(&self, key: &str) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.key == key)
    }

    /// Returns the key, or logs an error that it is missing, with what could be written.
    pub(super) fn required(
        &self,
        key: &str,
        example: &str,
        log: &mut Log<'_>,
    ) -> Option<&Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            log.error(self.span.clone(), format!("this {} has no {key}", self.place.noun()))
                .help(format!("write {key} = {example}"));
        }
        item
    }

    /// Reads a required string.
    pub(super) fn required_text(&self, key: &str, example: &str, log: &mut Log<'_>) -> String {
        let item = self.required(key, &format!("\"{example}\""), log);
        let text = item.and_then(|item| value::string(item, example, log));
        text.unwrap_or_default().to_owned()
    }

    /// Reads an optional string, which may be empty; empty if it is missing.
    pub(super) fn text(&self, key: &str, log: &mut Log<'_>) -> String {
        match self.get(key) {
            Some(Item { value: DeValue::String(text), .. }) if text.trim().is_empty() => {
                String::new()
            }
            Some(item) => value::string(item, "some words", log).unwrap_or_default().to_owned(),
            None => String::new(),
        }
    }

    /// Reads `true` or `false`; the default if it is missing.
    pub(super) fn flag(&self, key: &str, default: bool, log: &mut Log<'_>) -> bool {
        self.get(key).and_then(|item| value::boolean(item, log)).unwrap_or(default)
    }

    /// Reads words, each a string; none if the key is missing.
    pub(super) fn words(&self, key: &str, example: &str, log: &mut Log<'_>) -> Vec<String> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let words = strings(item, example, log);
        words.into_iter().map(|(word, _)| word.to_owned()).collect()
    }
}

/// Reads the strings of an array, each with its item.
pub(super) fn strings<'a>(
    item: &Item<'a>,
    example: &str,
    log: &mut Log<'_>,
) -> Vec<(&'a str, Item<'a>)> {
    let DeValue::Array(array) = item.value else {
        value::wrong_type(item, &format!("an array of strings such as [\"{example}\"]"), log);
        return Vec::new();
    };
    let elements = value::elements(item, array).into_iter();
    let text = |item: Item<'a>| value::string(&item, example, log).map(|text| (text, item));
    elements.filter_map(text).collect()
}

/// Reads a table that occurs once: `[oracle]`.
pub(super) fn table<'a>(item: &Item<'a>, place: Place, log: &mut Log<'_>) -> Option<Table<'a>> {
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, &format!("a table, [{}]", item.key), log);
        return None;
    };
    let items = items(table);
    keys::check(&items, place, log);
    Some(Table { items, span: item.span.clone(), place })
}

/// Reads tables that may occur several times: `[[workload]]`.
pub(super) fn tables<'a>(
    root: &Table<'a>,
    key: &str,
    place: Place,
    log: &mut Log<'_>,
) -> Vec<Table<'a>> {
    let Some(item) = root.get(key) else { return Vec::new() };
    let array = match item.value {
        DeValue::Array(array) => array,
        DeValue::Table(_) => {
            log.error(item.span.clone(), format!("'{key}' is one table, and there may be many"))
                .help(format!("write [[{key}]], with two brackets"));
            return Vec::new();
        }
        _ => {
            value::wrong_type(item, &format!("tables, [[{key}]]"), log);
            return Vec::new();
        }
    };
    if let Some(extra) = array.get(MAX_ENTRIES) {
        log.error(
            extra.span(),
            format!("this is {} {} of the study", place.noun(), MAX_ENTRIES + 1),
        )
        .label(format!("expected at most {MAX_ENTRIES}"));
    }
    let mut tables = Vec::new();
    for element in array.iter().take(MAX_ENTRIES) {
        let DeValue::Table(table) = element.get_ref() else {
            let message = format!("{} is {}", place.name(), value::kind(element.get_ref()));
            log.error(element.span(), message).label(format!("expected a table, [[{key}]]"));
            continue;
        };
        let items = items(table);
        keys::check(&items, place, log);
        tables.push(Table { items, span: element.span(), place });
    }
    tables
}
