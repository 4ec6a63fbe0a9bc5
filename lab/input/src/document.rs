//! Files in TOML, read so that all errors are reported at once, each at its word.

pub(crate) mod errors;
pub(crate) mod sentence;
mod value;

use crate::error::{ClaimError, harmless, shown};
use crate::inputs::{Input, Place};
use crate::suggest::closest;
use errors::{FileError, FileErrors};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
pub(crate) use value::kind;

/// The longest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1_000_000;
/// The longest name, in bytes: names are printed in tables.
pub(crate) const MAX_NAME_BYTES: usize = 100;
/// The empty span at the beginning, for what is missing in the whole file.
pub(crate) const START: Range<usize> = 0..0;
/// The number of keys of a table from which on an error does not list them.
const MANY_KEYS: usize = 10;

/// Reads a file that errors call `name`. `meaning` converts its keys, and logs what is wrong with
/// them.
pub(crate) fn read<T>(
    name: &str,
    text: &str,
    place: &'static Place,
    meaning: impl FnOnce(&Table<'_>, &mut Log<'_>) -> Option<T>,
) -> Result<T, FileErrors> {
    let mut log = Log::new(text);
    let read = parsed(text, place, meaning, &mut log);
    read.filter(|_| log.found.is_empty()).ok_or_else(|| log.into_errors(name))
}

fn parsed<T>(
    text: &str,
    place: &'static Place,
    meaning: impl FnOnce(&Table<'_>, &mut Log<'_>) -> Option<T>,
    log: &mut Log<'_>,
) -> Option<T> {
    if text.len() > MAX_FILE_BYTES {
        let at = text.floor_char_boundary(MAX_FILE_BYTES);
        log.error(at..at, format!("the file has {} bytes", text.len()))
            .label(format!("expected at most {MAX_FILE_BYTES}"));
        return None;
    }
    let (root, syntax) = DeTable::parse_recoverable(text);
    if !syntax.is_empty() {
        log.syntax(&syntax);
        return None;
    }
    meaning(&Table::new(root.get_ref(), START, place, log), log)
}

/// A key with its value.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) key: &'a str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'a DeValue<'a>,
    pub(crate) span: Range<usize>,
    /// What the table of inputs says of the key; `None` where users choose the keys.
    input: Option<&'static Input>,
}

/// Returns the entries of a table, in the order of the file.
pub(crate) fn items<'a>(table: &'a DeTable<'_>) -> Vec<Item<'a>> {
    let mut items: Vec<Item<'a>> = table.iter().map(item).collect();
    items.sort_by_key(|item| item.key_span.start);
    items
}

fn item<'a, 'k: 'a>(
    (key, value): (&'a Spanned<std::borrow::Cow<'k, str>>, &'a Spanned<DeValue<'k>>),
) -> Item<'a> {
    Item {
        key: key.get_ref(),
        key_span: key.span(),
        value: value.get_ref(),
        span: value.span(),
        input: None,
    }
}

/// A table of a file whose keys are in the table of inputs.
pub(crate) struct Table<'a> {
    /// Its keys, in the order of the file.
    pub(crate) items: Vec<Item<'a>>,
    /// Its place: its header.
    pub(crate) span: Range<usize>,
    /// The kind of the table.
    pub(crate) place: &'static Place,
}

impl<'a> Table<'a> {
    /// Returns the table, and logs an error for each key that does not belong to it.
    pub(crate) fn new(
        table: &'a DeTable<'_>,
        span: Range<usize>,
        place: &'static Place,
        log: &mut Log<'_>,
    ) -> Table<'a> {
        let mut items = items(table);
        for item in &mut items {
            item.input = place.input(item.key);
            if item.input.is_none() {
                unknown_key(item, place, log);
            }
        }
        Table { items, span, place }
    }

    /// Returns a key.
    pub(crate) fn get(&self, key: &str) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.key == key)
    }

    /// Reads the value of a key; `None` if it is missing or wrong.
    pub(crate) fn read<T>(
        &self,
        key: &str,
        reader: impl FnOnce(&Item<'a>, &mut Log<'_>) -> Option<T>,
        log: &mut Log<'_>,
    ) -> Option<T> {
        self.get(key).and_then(|item| reader(item, log))
    }

    /// Returns a key, or logs an error that it is missing, with what could be written.
    pub(crate) fn required_as(
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

    /// Returns a key, or logs an error that it is missing, with the example of the table of inputs.
    pub(crate) fn required(&self, key: &str, log: &mut Log<'_>) -> Option<&Item<'a>> {
        let example = self.place.input(key).map(Input::literal).unwrap_or_default();
        self.required_as(key, &example, log)
    }

    /// Reads a required string.
    pub(crate) fn required_text(&self, key: &str, log: &mut Log<'_>) -> String {
        let text = self.required(key, log).and_then(|item| item.string(log));
        text.unwrap_or_default()
    }

    /// Reads an optional string, which may be empty; empty if it is missing.
    pub(crate) fn note(&self, key: &str, log: &mut Log<'_>) -> String {
        let Some(item) = self.get(key) else { return String::new() };
        if item.value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return String::new();
        }
        item.string_as("some words", log).unwrap_or_default().to_owned()
    }

    /// Reads `true` or `false`; the default if it is missing.
    pub(crate) fn flag(&self, key: &str, default: bool, log: &mut Log<'_>) -> bool {
        self.read(key, Item::boolean, log).unwrap_or(default)
    }

    /// Reads words, each a string; none if the key is missing.
    pub(crate) fn words(&self, key: &str, log: &mut Log<'_>) -> Vec<String> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let words = item.strings(item.example(), log).into_iter();
        words.map(|(word, _)| word.to_owned()).collect()
    }
}

/// Logs an error for a key that does not belong to this table, with what was probably meant, or
/// where the key belongs.
fn unknown_key(item: &Item<'_>, place: &'static Place, log: &mut Log<'_>) {
    let keys: Vec<&str> = place.inputs().map(|input| input.name.as_str()).collect();
    let message = format!("unknown key '{}' in {}", shown(item.key), place.name);
    let found = log.error(item.key_span.clone(), message);
    let meant = closest(&item.key.replace('_', "-"), keys.iter().copied());
    // A slip between singular and plural is likelier than a wrong table.
    let is_number =
        meant.is_some_and(|meant| meant.starts_with(item.key) || item.key.starts_with(meant));
    if let Some(home) = place.home_of(item.key).filter(|_| !is_number) {
        let (key, name, place) = (item.key, &home.name, &home.where_to);
        found.help(format!("'{key}' belongs to {name}: write it {place}"));
    } else if meant.is_some() {
        found.meant(meant);
    } else if keys.len() < MANY_KEYS {
        let keys: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
        found.label(format!("expected {}", keys.join(", ")));
    } else {
        found.help(place.help());
    }
}

/// Collects the errors of a file in any order.
pub(crate) struct Log<'a> {
    text: &'a str,
    /// The byte at which each line starts.
    starts: Vec<usize>,
    found: Vec<Found>,
}

/// An error: where it is, what is wrong, what was expected there, and what would help.
pub(crate) struct Found {
    span: Range<usize>,
    message: String,
    label: Option<String>,
    help: Option<String>,
}

impl Found {
    /// Sets the text next to the mark.
    pub(crate) fn label(&mut self, label: impl Into<String>) -> &mut Found {
        self.label = Some(label.into());
        self
    }

    /// Sets what would help.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Found {
        self.help = Some(help.into());
        self
    }

    /// Sets what was probably meant.
    pub(crate) fn meant(&mut self, meant: Option<&str>) -> &mut Found {
        if let Some(meant) = meant {
            self.help(format!("did you mean '{}'?", shown(meant)));
        }
        self
    }
}

impl<'a> Log<'a> {
    fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Log { text, starts: std::iter::once(0).chain(starts).collect(), found: Vec::new() }
    }

    /// Returns the number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns these bytes of the file.
    fn raw(&self, span: &Range<usize>) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Adds an error about some bytes.
    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Found {
        self.found.push(Found { span, message: message.into(), label: None, help: None });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Adds errors of syntax that do not follow from others: only the first of several in a line,
    /// and none after one in brackets, because their end is then unknown.
    fn syntax(&mut self, errors: &[toml::de::Error]) {
        let mut last_line = 0;
        for error in errors {
            let span = error.span().unwrap_or(self.text.len()..self.text.len());
            let line = self.line(span.start);
            if line == last_line {
                continue;
            }
            last_line = line;
            let (message, expected) = match error.message().split_once(", expected ") {
                Some((message, expected)) => (message, Some(expected)),
                None => (error.message(), None),
            };
            let expected = expected.filter(|expected| *expected != "literal string");
            let found = self.error(span, message);
            found.label = expected.map(|expected| format!("expected {expected}"));
            found.help = syntax_help(message).map(str::to_owned);
            if message.contains("array") || message.contains("inline table") {
                break;
            }
        }
    }

    /// Adds the error of a sentence, with the bytes of its wrong word in the file.
    fn claim(&mut self, span: Range<usize>, error: &ClaimError) {
        let found = self.error(span, error.problem.to_string()).meant(error.suggestion.as_deref());
        found.label = error.expectation();
    }

    /// Returns the number of the line that contains a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns all errors, sorted by place.
    fn into_errors(mut self, name: &str) -> FileErrors {
        self.found.sort_by_key(|found| (found.span.start, found.span.end));
        let found = std::mem::take(&mut self.found);
        let errors = found.into_iter().map(|found| self.placed(found)).collect();
        FileErrors::new(name, self.text, errors)
    }

    /// Returns an error with its line and column, without terminal control sequences, whatever the
    /// file contains.
    fn placed(&self, found: Found) -> FileError {
        let at = found.span.start;
        let line = self.line(at);
        FileError {
            line,
            column: 1 + self.text[self.starts[line - 1]..at].chars().count(),
            message: harmless(&found.message),
            label: found.label.as_deref().map(harmless),
            help: found.help.as_deref().map(harmless),
            span: found.span,
        }
    }
}

/// Returns what helps with an error of syntax.
fn syntax_help(message: &str) -> Option<&'static str> {
    match message {
        "duplicate key" => {
            Some("a key stands once in its table, and so does the name of a contestant")
        }
        "string values must be quoted" => Some("write it between quotes, as in \"1%\""),
        "missing comma between array elements" => {
            Some("an array has a comma after each element, and ']' at its end")
        }
        _ => None,
    }
}
