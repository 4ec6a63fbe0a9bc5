//! Every key of the table of inputs is read wherever it may stand.

use serde_json::Value;
use tiebreak_input::{inputs, parse_file, study_folder};

/// What else stands in a file, and in the table whose key is tried: its path in the schema (empty
/// for the file as a whole), its header, its other lines, and the lines after it.
type Place = (&'static str, &'static str, &'static str, &'static str);

const CONTEST: &str = "[[contest]]\nclaims = [\"a is faster than b\"]\ncontestants = {a = \"a\"}";

const CLAIMS: [Place; 5] = [
    ("", "", "", CONTEST),
    ("contest", "[[contest]]", "contestants = {a = \"a\"}", ""),
    ("contestant", "[[contest]]\n[contest.contestants.a]", "", ""),
    ("revisions", "[[contest]]\n[contest.revisions]", "", ""),
    ("claim", "[[contest]]\ncontestants = {a = \"a\"}\n[[contest.claims]]", "claim = \"a\"", ""),
];

const STUDY: [Place; 8] = [
    ("", "", "", ""),
    ("contestant", "[[contestant]]", "", ""),
    ("workload", "[[workload]]", "", ""),
    ("verify", "[[verify]]", "", ""),
    ("contract", "[[contract]]", "", ""),
    ("published", "[[published]]", "", ""),
    ("oracle", "[oracle]", "", ""),
    ("claim", "[[contestant]]\nname = \"a\"\n[[claim]]", "", ""),
];

/// Checks that each key that the schema has at these places is refused with a value of a type that
/// no key has.
fn check(file: &str, places: &[Place], errors: impl Fn(&str) -> String) {
    let schema: Value = serde_json::from_str(&inputs::schema(file)).unwrap();
    let tables = schema["$defs"].as_object().unwrap();
    for (name, table) in tables.iter().filter(|(_, table)| table["properties"].is_object()) {
        assert!(places.iter().any(|place| place.0 == name), "{file} {name}: {table}");
    }
    for (name, header, others, rest) in places {
        let table = if name.is_empty() { &schema } else { &schema["$defs"][name] };
        for key in table["properties"].as_object().unwrap().keys() {
            // A contest has contestants or revisions.
            let is_beside = |line: &&str| !line.starts_with(key) && key != "revisions";
            let others = others.lines().find(is_beside).unwrap_or_default();
            let rest = if rest.contains(&format!("[[{key}]]")) { "" } else { rest };
            let text = format!("{header}\n{key} = 1979-05-27\n{others}\n{rest}\n");
            let errors = errors(&text);
            let refused = [format!("'{key}' cannot be a date"), "a claim is a date".to_owned()];
            assert!(refused.iter().any(|refused| errors.contains(refused)), "{text}\n{errors}");
        }
    }
}

#[test]
fn every_key_of_a_file_of_claims_is_read() {
    check("claims", &CLAIMS, |text| parse_file("claims.toml", text).unwrap_err().to_string());
}

#[test]
fn every_key_of_a_study_is_read() {
    let folder = tempfile::tempdir().unwrap();
    check("study", &STUDY, |text| {
        study_folder::parse(folder.path(), text).unwrap_err().to_string()
    });
}
