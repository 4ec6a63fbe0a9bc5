//! Files in TOML, read so that all errors are reported at once, each at its word.

pub mod errors;
pub mod sentence;
mod value;

use crate::error::{expectation, harmless, shown};
use crate::inputs::{Input, Place};
use crate::suggest::closest;
use errors::{FileError, FileErrors};
use std::cell::{RefCell, RefMut};
use std::ops::Range;
use toml::de::{DeTable, DeValue};
pub use value::kind;

/// The longest file that is read, in bytes.
pub const MAX_FILE_BYTES: usize = 1_000_000;
/// The longest name, in bytes: names are printed in tables.
pub const MAX_NAME_BYTES: usize = 100;
/// The most tables of one kind that a file may have: contests, contestants, workloads, claims.
pub const MAX_TABLES: usize = 1000;
/// The empty span at the beginning, for what is missing in the whole file.
pub const START: Range<usize> = 0..0;
/// The number of keys of a table from which on an error does not list them.
const MANY_KEYS: usize = 10;

/// Reads a file that errors call `name`. `meaning` converts its keys, and logs what is wrong with
/// them.
pub fn read<T>(
    name: &str,
    text: &str,
    place: &'static Place,
    meaning: impl FnOnce(&Table<'_>) -> T,
) -> Result<T, FileErrors> {
    let log = Log::new(text);
    if text.len() > MAX_FILE_BYTES {
        let at = text.floor_char_boundary(MAX_FILE_BYTES);
        log.error(at..at, format!("the file has {} bytes", text.len()))
            .label(format!("expected at most {MAX_FILE_BYTES}"));
        return Err(log.into_errors(name));
    }
    let (root, syntax) = DeTable::parse_recoverable(text);
    log.syntax(&syntax);
    let is_toml = syntax.is_empty();
    let read = is_toml.then(|| meaning(&Table::new(root.get_ref(), START, place, &log)));
    read.filter(|_| log.count() == 0).ok_or_else(|| log.into_errors(name))
}

/// A key with its value.
#[derive(Clone)]
pub struct Item<'a> {
    pub key: &'a str,
    pub key_span: Range<usize>,
    pub value: &'a DeValue<'a>,
    pub span: Range<usize>,
    /// What the table of inputs says of the key; `None` where users choose the keys.
    input: Option<&'static Input>,
    pub log: &'a Log<'a>,
}

impl<'a> Item<'a> {
    /// Returns the elements of an array, each under the array's key.
    pub fn elements(&self) -> Option<Vec<Item<'a>>> {
        let DeValue::Array(array) = self.value else { return None };
        let elements = array.iter().map(|value| Item {
            value: value.get_ref(),
            span: value.span(),
            ..self.clone()
        });
        Some(elements.collect())
    }

    /// Returns the entries of a table whose keys users choose, in the order of the file.
    pub fn entries(&self) -> Option<Vec<Item<'a>>> {
        let DeValue::Table(table) = self.value else { return None };
        Some(items(table, self.log))
    }

    /// Returns a table whose keys are in the table of inputs, at the place with this identifier.
    pub fn table(&self, id: &str) -> Option<Table<'a>> {
        let DeValue::Table(table) = self.value else { return None };
        Some(Table::new(table, self.span.clone(), Place::of(id), self.log))
    }

    /// Reads an array of strings, each of which stands for a table that has this key alone.
    fn short_tables(&self, key: &'static str, place: &'static Place) -> Vec<Table<'a>> {
        let strings = self.strings(self.example()).into_iter().take(MAX_TABLES);
        let tables = strings.map(|(_, element)| {
            let (span, log) = (element.span.clone(), self.log);
            let item = Item { key, input: place.input(key), ..element };
            Table { items: vec![item], span, place, log }
        });
        tables.collect()
    }

    /// Reads an array of tables whose keys are in the table of inputs.
    fn tables(&self, id: &str, place: &Place) -> Vec<Table<'a>> {
        let key = self.key;
        let Some(elements) = self.elements() else {
            if self.entries().is_some() {
                self.error(format!("'{key}' is one table, and there may be many"))
                    .help(format!("write [[{key}]], with two brackets"));
            } else {
                self.wrong_type(&format!("tables, [[{key}]]"));
            }
            return Vec::new();
        };
        if let Some(extra) = elements.get(MAX_TABLES) {
            let whole = if place.file() == "study" { "study" } else { "file" };
            extra
                .error(format!("this is {} {} of the {whole}", place.noun(), MAX_TABLES + 1))
                .label(format!("expected at most {MAX_TABLES}"));
        }
        let tables = elements.iter().take(MAX_TABLES).filter_map(|element| {
            element.table(id).or_else(|| {
                element
                    .error(format!("{} is {}", place.name, kind(element.value)))
                    .label(format!("expected a table, [[{key}]]"))
                    .none()
            })
        });
        tables.collect()
    }

    /// Adds an error about the value.
    pub fn error(&self, message: impl AsRef<str>) -> RefMut<'_, FileError> {
        self.log.error(self.span.clone(), message)
    }

    /// Adds an error about the key.
    pub fn key_error(&self, message: impl AsRef<str>) -> RefMut<'_, FileError> {
        self.log.error(self.key_span.clone(), message)
    }
}

fn items<'a>(table: &'a DeTable<'_>, log: &'a Log<'a>) -> Vec<Item<'a>> {
    let mut items = Vec::with_capacity(table.len());
    for (key, value) in table {
        let (key, key_span) = (key.get_ref().as_ref(), key.span());
        let (value, span) = (value.get_ref(), value.span());
        items.push(Item { key, key_span, value, span, input: None, log });
    }
    items.sort_by_key(|item| item.key_span.start);
    items
}

/// A table of a file whose keys are in the table of inputs.
pub struct Table<'a> {
    /// Its keys, in the order of the file.
    pub items: Vec<Item<'a>>,
    /// Its place: its header.
    pub span: Range<usize>,
    /// The kind of the table.
    pub place: &'static Place,
    pub log: &'a Log<'a>,
}

impl<'a> Table<'a> {
    /// Returns the table, and logs an error for each key that does not belong to it.
    fn new(
        table: &'a DeTable<'_>,
        span: Range<usize>,
        place: &'static Place,
        log: &'a Log<'a>,
    ) -> Table<'a> {
        let mut items = items(table, log);
        for item in &mut items {
            item.input = place.input(item.key);
            if item.input.is_none() {
                unknown_key(item, place);
            }
        }
        Table { items, span, place, log }
    }

    /// Adds an error about its header.
    pub fn error(&self, message: impl AsRef<str>) -> RefMut<'_, FileError> {
        self.log.error(self.span.clone(), message)
    }

    /// Returns a key.
    pub fn get(&self, key: &str) -> Option<&Item<'a>> {
        self.items.iter().find(|item| item.key == key)
    }

    /// Reads the value of a key; `None` if it is missing or wrong.
    pub fn read<T>(&self, key: &str, reader: impl FnOnce(&Item<'a>) -> Option<T>) -> Option<T> {
        self.get(key).and_then(reader)
    }

    /// Sets an option to the value of a key, unless it is missing or wrong.
    pub fn update<T, V: Into<T>>(
        &self,
        key: &str,
        option: &mut T,
        reader: impl FnOnce(&Item<'a>) -> Option<V>,
    ) {
        if let Some(value) = self.read(key, reader) {
            *option = value.into();
        }
    }

    /// Returns a table that the file leaves out, and an entry in its place, which has no value.
    pub fn left_out(&self, key: &'static str) -> (Item<'a>, Table<'a>) {
        static NO_VALUE: DeValue<'static> = DeValue::Boolean(true);
        let (span, log) = (self.span.clone(), self.log);
        let value = &NO_VALUE;
        let item = Item { key, key_span: span.clone(), value, span, input: None, log };
        let place = Place::of(&format!("{}.{key}", self.place.file()));
        (item, Table { items: Vec::new(), span: self.span.clone(), place, log })
    }

    /// Reads tables that may occur several times, `[[workload]]`, after those of the short form, if
    /// the table of inputs has one. Logs an error if there are none and the table of inputs wants
    /// one.
    pub fn tables(&self, key: &str) -> Vec<Table<'a>> {
        let id = format!("{}.{key}", self.place.file());
        let place = Place::of(&id);
        let before = self.log.count();
        let short = place.short.as_ref();
        let short = short.and_then(|(list, key)| Some(self.get(list)?.short_tables(key, place)));
        let mut tables = short.unwrap_or_default();
        tables.extend(self.get(key).into_iter().flat_map(|item| item.tables(&id, place)));
        if let Some((missing, help)) = &place.missing
            && tables.is_empty()
            && self.log.count() == before
        {
            let span = self.get(key).map_or(&self.span, |item| &item.span);
            self.log.error(span.clone(), missing).help(help);
        }
        tables
    }

    /// Returns a key, or logs an error that it is missing, with the example of the table of inputs.
    pub fn required(&self, key: &str) -> Option<&Item<'a>> {
        let item = self.get(key);
        if item.is_none() {
            let example = self.place.input(key).map(Input::literal).unwrap_or_default();
            self.error(format!("this {} has no {key}", self.place.noun()))
                .help(format!("write {key} = {example}"));
        }
        item
    }

    /// Reads a required string.
    pub fn required_text(&self, key: &str) -> String {
        let text = self.required(key).and_then(|item| item.string());
        text.unwrap_or_default()
    }

    /// Reads an optional string, which may be empty; empty if it is missing.
    pub fn note(&self, key: &str) -> String {
        let Some(item) = self.get(key) else { return String::new() };
        if item.value.as_str().is_some_and(|text| text.trim().is_empty()) {
            return String::new();
        }
        item.string_as("some words").unwrap_or_default().to_owned()
    }

    /// Reads `true` or `false`; the default if it is missing.
    pub fn flag(&self, key: &str, default: bool) -> bool {
        self.read(key, Item::boolean).unwrap_or(default)
    }

    /// Reads words, each a string; none if the key is missing.
    pub fn words(&self, key: &str) -> Vec<String> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let words = item.strings(item.example()).into_iter();
        words.map(|(word, _)| word.to_owned()).collect()
    }
}

/// Logs an error for a key that does not belong to this table, with what was probably meant, or
/// where the key belongs.
fn unknown_key(item: &Item<'_>, place: &'static Place) {
    let keys: Vec<&str> = place.inputs().map(|input| input.name.as_str()).collect();
    let message = format!("unknown key '{}' in {}", shown(item.key), place.name);
    let mut found = item.key_error(message);
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
pub struct Log<'a> {
    text: &'a str,
    /// The byte at which each line starts.
    starts: Vec<usize>,
    found: RefCell<Vec<FileError>>,
}

impl FileError {
    /// Sets the text next to the mark.
    pub(crate) fn label(&mut self, label: impl AsRef<str>) -> &mut FileError {
        self.label = Some(harmless(label.as_ref()));
        self
    }

    /// Sets what would help.
    pub(crate) fn help(&mut self, help: impl AsRef<str>) -> &mut FileError {
        self.help = Some(harmless(help.as_ref()));
        self
    }

    /// Returns `None`, for a reader that found this error.
    pub(crate) fn none<T>(&self) -> Option<T> {
        None
    }

    /// Sets what was probably meant.
    pub(crate) fn meant(&mut self, meant: Option<&str>) -> &mut FileError {
        if let Some(meant) = meant {
            self.help(format!("did you mean '{}'?", shown(meant)));
        }
        self
    }

    /// Sets what was expected, if that is known.
    pub(crate) fn expected(&mut self, expected: &[String]) -> &mut FileError {
        if let Some(expectation) = expectation(expected) {
            self.label(expectation);
        }
        self
    }
}

impl<'a> Log<'a> {
    fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Log { text, starts: std::iter::once(0).chain(starts).collect(), found: RefCell::default() }
    }

    /// Returns the number of errors so far.
    pub fn count(&self) -> usize {
        self.found.borrow().len()
    }

    /// Returns these bytes of the file.
    fn raw(&self, span: &Range<usize>) -> &'a str {
        self.text.get(span.clone()).unwrap_or_default()
    }

    /// Adds an error about some bytes. It has no terminal control sequences, whatever the file
    /// contains.
    pub fn error(&self, span: Range<usize>, message: impl AsRef<str>) -> RefMut<'_, FileError> {
        let line = self.line(span.start);
        let column = 1 + self.text[self.starts[line - 1]..span.start].chars().count();
        let message = harmless(message.as_ref());
        let error = FileError { line, column, message, label: None, help: None, span };
        RefMut::map(self.found.borrow_mut(), |all| {
            all.push(error);
            let last = all.len() - 1;
            &mut all[last]
        })
    }

    /// Adds errors of syntax that do not follow from others: only the first of several in a line,
    /// and none after one in brackets, because their end is then unknown.
    fn syntax(&self, errors: &[toml::de::Error]) {
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
            let mut found = self.error(span, message);
            if let Some(expected) = expected.filter(|expected| *expected != "literal string") {
                found.label(format!("expected {expected}"));
            }
            found.help = syntax_help(message).map(str::to_owned);
            if message.contains("array") || message.contains("inline table") {
                break;
            }
        }
    }

    /// Returns the number of the line that contains a byte, counted from 1.
    pub fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns all errors, sorted by place.
    fn into_errors(self, name: &str) -> FileErrors {
        let mut errors = self.found.take();
        errors.sort_by_key(|error| (error.span.start, error.span.end));
        FileErrors::new(name, self.text, errors)
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
