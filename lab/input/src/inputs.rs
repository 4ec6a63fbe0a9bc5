//! The inputs: every key of a file of claims and of a study, from the table in `inputs`.

use serde::{Deserialize, Serialize, Serializer};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use tiebreak_core::language::Language;
use toml::{Table, Value};

/// A key of a file, which may also be an option of the command line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// Its meaning, without a full stop. Other keys in it stand in braces.
    help: String,
    /// What only the command line has to say about it; may be empty.
    #[serde(default)]
    command: String,
    /// Its default, as a value or in words; may be empty.
    #[serde(default)]
    pub default: String,
    /// The name of its value in the help of the command line; empty if it has none of its own.
    #[serde(default)]
    pub value: String,
    kind: String,
    #[serde(default)]
    pub(crate) example: String,
    #[serde(default)]
    pub(crate) words: Vec<String>,
    #[serde(default = "all_numbers")]
    pub(crate) limits: (u64, u64),
    #[serde(default, rename = "required")]
    is_required: bool,
    #[serde(default)]
    schema: Table,
}

/// A table of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Place {
    id: String,
    /// Its name in errors, with its article.
    pub(crate) name: String,
    /// Where its keys are written.
    #[serde(rename = "where")]
    pub(crate) where_to: String,
    /// The error of a file without such a table, and its help; none if it may be missing.
    #[serde(default)]
    pub(crate) missing: Option<(String, String)>,
    /// A key of the file as a whole, whose strings each stand for such a table that has this key
    /// alone.
    #[serde(default)]
    pub(crate) short: Option<(String, String)>,
    /// The help about keys, if this is a file as a whole.
    #[serde(default)]
    help: String,
    #[serde(default)]
    schema: Table,
    #[serde(default)]
    definitions: BTreeMap<String, Table>,
}

/// Keys that stand in the same places.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    r#in: Vec<String>,
    #[serde(rename = "key")]
    keys: Vec<Input>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inputs {
    kind: BTreeMap<String, Table>,
    #[serde(rename = "place")]
    places: Vec<Place>,
    #[serde(rename = "group")]
    groups: Vec<Group>,
}

static TABLE: LazyLock<Inputs> = LazyLock::new(|| {
    let json = include_str!(concat!(env!("OUT_DIR"), "/inputs.json"));
    serde_json::from_str(json).expect("a test reads the same table")
});

fn all_numbers() -> (u64, u64) {
    (0, i64::MAX.cast_unsigned())
}

/// Returns the key of a file of claims that an option of the command line has the name of.
pub fn option(name: &str) -> Option<&'static Input> {
    ["claims", "claims.revisions"].into_iter().find_map(|id| key(id, name))
}

/// Returns the key of this name in a table of a file; `claims` and `study` are files as a whole.
pub fn key(place: &str, name: &str) -> Option<&'static Input> {
    Place::of(place).input(name)
}

impl Input {
    /// Returns its meaning for the help of its option.
    pub fn option_help(&self) -> String {
        let Input { help, command, .. } = self;
        let help = if command.is_empty() { help.clone() } else { format!("{help}; {command}") };
        with_dashes(&help)
    }

    /// Returns its default for the help of its option.
    pub fn option_default(&self) -> String {
        with_dashes(&self.default)
    }

    /// Returns whether its value can be written as a string.
    pub(crate) fn is_text(&self) -> bool {
        !matches!(self.kind.as_str(), "bool" | "whole" | "statuses")
    }

    /// Returns the example as it is written in a file.
    pub(crate) fn literal(&self) -> String {
        match self.kind.as_str() {
            "whole" => self.example.clone(),
            _ => format!("\"{}\"", self.example),
        }
    }
}

/// Writes the keys in a text as options.
fn with_dashes(text: &str) -> String {
    text.replace('{', "--").replace('}', "")
}

impl Place {
    /// Returns the place with this identifier, which must be in the table.
    pub(crate) fn of(id: &str) -> &'static Place {
        TABLE.places.iter().find(|place| place.id == id).expect("the table has this place")
    }

    /// Returns its name without the article.
    pub(crate) fn noun(&self) -> &str {
        self.name.split_once(' ').map_or(&self.name, |(_, noun)| noun)
    }

    /// Returns the keys that it may have.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = &'static Input> {
        let groups = TABLE.groups.iter().filter(|group| group.r#in.contains(&self.id));
        groups.flat_map(|group| &group.keys)
    }

    /// Returns the key with this name.
    pub(crate) fn input(&self, name: &str) -> Option<&'static Input> {
        self.inputs().find(|input| input.name == name)
    }

    /// Returns the help about the keys of its file.
    pub(crate) fn help(&self) -> &'static str {
        &Place::of(self.file()).help
    }

    /// Returns the first place of its file that may have this key.
    pub(crate) fn home_of(&self, name: &str) -> Option<&'static Place> {
        let mut places = TABLE.places.iter().filter(|place| place.file() == self.file());
        places.find(|place| place.input(name).is_some())
    }

    /// Returns the identifier of its file as a whole.
    pub(crate) fn file(&self) -> &str {
        self.id.split_once('.').map_or(&self.id, |(file, _)| file)
    }

    fn schema(&self) -> Object<'_> {
        let required = self.inputs().filter(|input| input.is_required);
        Object {
            schema: &self.schema,
            r#type: "object",
            additional_properties: false,
            required: required.map(|input| input.name.as_str()).collect(),
            properties: self.inputs().collect(),
            definitions: BTreeMap::new(),
        }
    }
}

/// The JSON Schema of a table.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Object<'a> {
    #[serde(flatten)]
    schema: &'a Table,
    r#type: &'static str,
    additional_properties: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    required: Vec<&'a str>,
    #[serde(serialize_with = "properties")]
    properties: Vec<&'a Input>,
    #[serde(rename = "$defs", skip_serializing_if = "BTreeMap::is_empty")]
    definitions: BTreeMap<&'a str, Definition<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Definition<'a> {
    Place(Object<'a>),
    Value(Table),
}

/// The files that have a JSON Schema, by the identifiers of their places: what [`schema`] takes.
pub const FILES: [&str; 2] = ["claims", "study"];

/// Returns the JSON Schema of a file, `claims` or `study`, for editors.
pub fn schema(file: &str) -> String {
    let root = Place::of(file);
    let tables = TABLE.places.iter().filter_map(|place| {
        let (_, name) = place.id.split_once('.').filter(|_| place.file() == file)?;
        Some((name, Definition::Place(place.schema())))
    });
    let values = root.definitions.iter().map(|(name, value)| {
        let mut value = value.clone();
        if let Some(kind) = name.strip_suffix("_language") {
            let of_kind = Language::all().filter(|one| one.is_runner() == (kind == "runner"));
            let names: Vec<Value> = of_kind.map(|language| language.name().into()).collect();
            value.insert("enum".to_owned(), names.into());
        }
        (name.as_str(), Definition::Value(value))
    });
    let schema = Object { definitions: tables.chain(values).collect(), ..root.schema() };
    serde_json::to_string_pretty(&schema).expect("its keys are strings") + "\n"
}

/// Writes the properties of a table in the order of its keys.
fn properties<S: Serializer>(inputs: &[&Input], to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(inputs.iter().map(|input| (&input.name, property(input))))
}

/// Returns the JSON Schema of a value: that of its kind, with what is particular to its key.
fn property(input: &Input) -> Table {
    let mut schema = TABLE.kind.get(&input.kind).expect("the table has this kind").clone();
    let description = match input.default.as_str() {
        "" => format!("{}.", input.help),
        default => format!("{}. Default: {default}.", input.help),
    };
    let description = description.replace(['{', '}'], "");
    schema.insert("description".to_owned(), description.into());
    let number = match schema.get_mut("items") {
        Some(Value::Table(items)) => items,
        _ => &mut schema,
    };
    if number.get("type").and_then(Value::as_str) == Some("integer") {
        let (low, high) = input.limits;
        number.insert("minimum".to_owned(), Value::Integer(low.cast_signed()));
        number.insert("maximum".to_owned(), Value::Integer(high.cast_signed()));
    }
    if !input.words.is_empty() {
        let words: Vec<Value> = input.words.iter().map(|word| word.as_str().into()).collect();
        schema.insert("enum".to_owned(), words.into());
    }
    schema.extend(input.schema.clone());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_group_stands_in_places_and_every_kind_is_used() {
        let keys = || TABLE.groups.iter().flat_map(|group| &group.keys);
        for place in TABLE.groups.iter().flat_map(|group| &group.r#in) {
            Place::of(place);
        }
        for key in keys() {
            assert!(TABLE.kind.contains_key(&key.kind), "{}", key.name);
            assert!(!key.help.ends_with('.'), "{}", key.name);
        }
        for kind in TABLE.kind.keys() {
            assert!(keys().any(|key| key.kind == *kind), "{kind}");
        }
    }

    #[test]
    fn the_schemas_of_the_docs_are_generated() {
        for file in FILES {
            let path = format!("../../docs/schema/{file}-1.schema.json");
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
            let written = std::fs::read_to_string(path).unwrap();
            assert!(written == schema(file), "run cargo xtask schema");
        }
    }
}
