//! The tables of a study's file, with their keys.

use crate::document::keys;

/// A table of the file.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Place {
    Study,
    Oracle,
    Workload,
    Verify,
    Contract,
    Contestant,
    Published,
    Claim,
}

impl Place {
    /// Returns its name without the article.
    pub(super) fn noun(self) -> &'static str {
        let name = keys::Place::name(self);
        name.split_once(' ').map_or(name, |(_, noun)| noun)
    }
}

/// The keys of a recipe.
const RECIPE: [&str; 8] =
    ["language", "sources", "compiler", "flags", "libraries", "version", "package", "environment"];

impl keys::Place for Place {
    const ALL: &'static [Place] = &[
        Place::Contestant,
        Place::Workload,
        Place::Verify,
        Place::Claim,
        Place::Study,
        Place::Contract,
        Place::Published,
        Place::Oracle,
    ];
    const HELP: &'static str = "'tiebreak study new NAME' makes a study that works";

    fn keys(self) -> Vec<&'static str> {
        match self {
            Place::Study => vec![
                "title",
                "source",
                "item",
                "call",
                "reference",
                "scope",
                "centre",
                "precision",
                "reads_input",
                "budget",
                "oracle",
                "workload",
                "verify",
                "contract",
                "contestant",
                "published",
                "claim",
            ],
            Place::Oracle => RECIPE.to_vec(),
            Place::Workload => {
                vec!["name", "distribution", "size", "about", "seed", "drawn", "file", "answer"]
            }
            Place::Verify => vec!["name", "distribution", "size", "parts", "full"],
            Place::Contract => vec!["name", "text", "exact"],
            Place::Contestant => [&["name", "contract", "about", "threads"], &RECIPE[..]].concat(),
            Place::Published => vec!["source", "machine", "unit", "text", "figures"],
            Place::Claim => vec!["text", "published"],
        }
    }

    fn name(self) -> &'static str {
        match self {
            Place::Study => "a study",
            Place::Oracle => "an oracle",
            Place::Workload => "a workload",
            Place::Verify => "a verification",
            Place::Contract => "a contract",
            Place::Contestant => "a contestant",
            Place::Published => "a published table",
            Place::Claim => "a claim",
        }
    }

    fn where_to(self) -> &'static str {
        match self {
            Place::Study => "above the first table",
            Place::Oracle => "below [oracle]",
            Place::Workload => "below [[workload]]",
            Place::Verify => "below [[verify]]",
            Place::Contract => "below [[contract]]",
            Place::Contestant => "below [[contestant]]",
            Place::Published => "below [[published]]",
            Place::Claim => "below [[claim]]",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::keys::Place as _;

    #[test]
    fn the_schema_has_the_same_keys() {
        let schema = include_str!("../../../../docs/schema/study-1.schema.json");
        let schema: serde_json::Value = serde_json::from_str(schema).unwrap();
        for place in Place::ALL {
            let pointer = match place {
                Place::Study => "/properties".to_owned(),
                place => format!("/$defs/{}/properties", format!("{place:?}").to_lowercase()),
            };
            let object = schema.pointer(&pointer).and_then(serde_json::Value::as_object);
            let mut known: Vec<&str> = object.unwrap().keys().map(String::as_str).collect();
            let mut keys = place.keys();
            keys.sort_unstable();
            known.sort_unstable();
            assert_eq!(keys, known, "{place:?}");
        }
    }
}
