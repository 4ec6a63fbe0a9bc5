//! The tables of a file of claims, with their keys.

use crate::document::keys;

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

impl keys::Place for Place {
    const ALL: &'static [Place] =
        &[Place::Contest, Place::File, Place::Contestant, Place::Revisions, Place::Claim];
    const HELP: &'static str = "'tiebreak check --example' prints a file with every key";

    fn keys(self) -> Vec<&'static str> {
        match self {
            Place::File => [&FILE[..], &OPTIONS, &HOOKS].concat(),
            Place::Contest => [&CONTEST[..], &OPTIONS, &HOOKS].concat(),
            Place::Contestant => [&["command", "directory"], &HOOKS[..]].concat(),
            Place::Revisions => REVISIONS.to_vec(),
            Place::Claim => vec!["claim", "gate", "strict"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Place::File => "the file as a whole",
            Place::Contest => "a contest",
            Place::Contestant => "a contestant",
            Place::Revisions => "revisions",
            Place::Claim => "a claim",
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::keys::Place as _;

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
