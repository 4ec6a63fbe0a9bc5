//! The keys of the tables of a file, and those that do not belong there.

use super::log::Log;
use crate::error::shown;
use crate::suggest::closest;
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A key with its value.
#[derive(Clone)]
pub(crate) struct Item<'a> {
    pub(crate) key: &'a str,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: &'a DeValue<'a>,
    pub(crate) span: Range<usize>,
}

/// The entries of a table, in the order of the file.
pub(crate) fn items<'a>(table: &'a DeTable<'_>) -> Vec<Item<'a>> {
    let item = |(key, value): (&'a Spanned<_>, &'a Spanned<DeValue<'_>>)| -> Item<'a> {
        let key_text: &std::borrow::Cow<'a, str> = key.get_ref();
        Item { key: key_text, key_span: key.span(), value: value.get_ref(), span: value.span() }
    };
    let mut items: Vec<Item<'a>> = table.iter().map(item).collect();
    items.sort_by_key(|item| item.key_span.start);
    items
}

/// A table of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Place {
    File,
    Contest,
    Contestant,
    Revisions,
    Claim,
}

const FILE: [&str; 5] = ["error", "budget", "family", "seed", "contest"];
const CONTEST: [&str; 4] = ["name", "claims", "contestants", "revisions"];
const HOOKS: [&str; 4] = ["setup", "prepare", "conclude", "cleanup"];
const REVISIONS: [&str; 6] = ["base", "head", "build", "build-jobs", "max-slowdown", "command"];
const OPTIONS: [&str; 19] = [
    "resolution",
    "centre",
    "adjust",
    "block",
    "shell",
    "input",
    "output",
    "output-limit",
    "directory",
    "workload",
    "check",
    "success",
    "ignore-failure",
    "timeout",
    "warmup",
    "cpus",
    "wait-for-quiet",
    "gate",
    "strict",
];

impl Place {
    /// A key of several places belongs to the first of them.
    const ALL: [Place; 5] =
        [Place::Contest, Place::File, Place::Contestant, Place::Revisions, Place::Claim];

    fn keys(self) -> Vec<&'static str> {
        match self {
            Place::File => [&FILE[..], &OPTIONS, &HOOKS].concat(),
            Place::Contest => [&CONTEST[..], &OPTIONS, &HOOKS].concat(),
            Place::Contestant => [&["command", "directory"], &HOOKS[..]].concat(),
            Place::Revisions => REVISIONS.to_vec(),
            Place::Claim => vec!["claim", "gate", "strict"],
        }
    }

    /// As errors call it.
    fn name(self) -> &'static str {
        match self {
            Place::File => "the file as a whole",
            Place::Contest => "a contest",
            Place::Contestant => "a contestant",
            Place::Revisions => "revisions",
            Place::Claim => "a claim",
        }
    }

    /// Where its keys are written.
    fn where_to(self) -> &'static str {
        match self {
            Place::File => "above the first [[contest]]",
            Place::Contest => "below [[contest]]",
            Place::Contestant => "in the table of a contestant",
            Place::Revisions => "below [contest.revisions]",
            Place::Claim => "in braces, as in {claim = \"...\", gate = true}",
        }
    }
}

/// Complains of the keys that do not belong to this place, and says what was meant, or where they
/// belong.
pub(crate) fn check(items: &[Item<'_>], place: Place, log: &mut Log<'_>) {
    let keys = place.keys();
    for item in items.iter().filter(|item| !keys.contains(&item.key)) {
        let message = format!("'{}' is no key of {}", shown(item.key), place.name());
        let found = log.error(item.key_span.clone(), message);
        let home = Place::ALL.into_iter().find(|place| place.keys().contains(&item.key));
        let dashed = item.key.replace('_', "-");
        let meant = closest(&dashed, keys.iter().copied());
        if let Some(home) = home {
            found.help(format!(
                "'{}' belongs to {}: write it {}",
                item.key,
                home.name(),
                home.where_to()
            ));
        } else if meant.is_some() {
            found.meant(meant);
        } else if keys.len() < 10 {
            let keys: Vec<String> = keys.iter().map(|key| format!("'{key}'")).collect();
            found.label(format!("expected {}", keys.join(", ")));
        } else {
            found.help("'tiebreak check --example' prints a file with every key");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_schema_has_the_same_keys() {
        let schema = include_str!("../../../../docs/schema/claims-1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        let contest = "/$defs/contest/properties";
        let places = [
            (Place::File, "/properties".to_owned()),
            (Place::Contest, contest.to_owned()),
            (Place::Revisions, format!("{contest}/revisions/properties")),
            (Place::Claim, format!("{contest}/claims/items/anyOf/1/properties")),
            (
                Place::Contestant,
                format!("{contest}/contestants/additionalProperties/anyOf/1/properties"),
            ),
        ];
        for (place, pointer) in places {
            let object = schema.pointer(&pointer).and_then(serde_json::Value::as_object).unwrap();
            let mut keys = place.keys();
            keys.sort_unstable();
            let mut known: Vec<&str> = object.keys().map(String::as_str).collect();
            known.sort_unstable();
            assert_eq!(keys, known, "{place:?}");
        }
    }
}
