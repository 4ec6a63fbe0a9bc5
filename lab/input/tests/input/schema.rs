//! The schemas for editors agree with the readers: what is right passes, and of what is wrong only
//! that which a schema cannot see.

use serde_json::{Value, json};
use std::path::Path;
use tiebreak_core::language::Language;
use tiebreak_input::study_folder::skeleton;
use tiebreak_input::{EXAMPLE, parse_file};
use toml::de::{DeTable, DeValue};

/// Broken files in which the schema sees nothing wrong: it reads no sentences, compares no names
/// and no two keys, and does no sums.
const UNSEEN: [&str; 36] = [
    "19-error-out-of-range",
    "20-error-zero",
    "24-resolution-out-of-range",
    "25-budget-zero",
    "27-budget-twice",
    "33-nul",
    "34-check-without-output",
    "35-success-and-ignore-failure",
    "47-one-contestant",
    "48-duplicate-contest",
    "49-name-of-an-unnamed-contest",
    "50-slip-in-a-claim",
    "51-slip-behind-escapes",
    "52-slip-in-a-literal-string",
    "53-slip-in-many-lines",
    "54-claim-ends-early",
    "56-unknown-contestant",
    "57-same-contestant",
    "59-claim-out-of-range",
    "60-bad-above-good",
    "61-units",
    "62-mean-without-cap",
    "63-mean-of-memory-with-timeout",
    "64-question",
    "65-claim-twice",
    "66-wrong-workload",
    "67-no-workload",
    "68-workload-of-the-input",
    "69-strict-without-gate",
    "76-crlf",
    "77-wide-characters",
    "78-control-characters",
    "79-median-adjusted",
    "80-median-adjusted-by-a-contest",
    "81-adjusted-by-a-contest",
    "82-ratio-of-means",
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Broken studies in which the schema sees nothing wrong: it reads no sentences, compares no
/// names, looks at no files, and knows of no table what another says.
const UNSEEN_STUDIES: [&str; 39] = [
    "019-precision-zero",
    "024-unknown-reference",
    "025-inexact-reference",
    "026-no-oracle",
    "027-oracle-without-sources",
    "037-duplicate-names",
    "038-seed-of-drawn",
    "042-file-missing",
    "043-file-empty",
    "044-file-is-a-folder",
    "046-answer-with-oracle",
    "047-drawn-without-oracle",
    "049-verify-without-oracle",
    "051-verify-twice",
    "053-unknown-contract",
    "056-contract-twice",
    "060-one-contestant",
    "064-sources-missing",
    "067-source-is-a-folder",
    "068-two-rust-sources",
    "069-cargo-file",
    "070-cargo-unlocked",
    "074-runner-at-scope-code",
    "079-nul",
    "080-published-unknown-names",
    "087-claim-slip",
    "088-claim-slip-behind-escapes",
    "089-claim-unknown-names",
    "090-claim-of-inexact",
    "091-claim-of-one",
    "092-claim-of-memory",
    "093-claim-of-a-runners-user-time",
    "094-claim-twice",
    "095-claim-twice-on-a-workload",
    "101-crlf",
    "105-names-on-threads",
    "106-threads-of-a-runner",
    "107-one-number-of-threads",
    "110-claims-over-sizes",
];

fn validator(kind: &str) -> jsonschema::Validator {
    let path = root().join(format!("../../docs/schema/{kind}-1.schema.json"));
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn json(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Integer(integer) => json!(integer.as_str().parse::<i64>().unwrap()),
        DeValue::Float(float) => json!(float.as_str().parse::<f64>().unwrap()),
        DeValue::Boolean(value) => json!(value),
        DeValue::Datetime(date) => json!({ "date": date.to_string() }),
        DeValue::Array(array) => array.iter().map(|value| json(value.get_ref())).collect(),
        DeValue::Table(table) => table_json(table),
    }
}

fn table_json(table: &DeTable<'_>) -> Value {
    let entry = |(key, value): (&toml::Spanned<_>, &toml::Spanned<DeValue<'_>>)| {
        let key: &std::borrow::Cow<'_, str> = key.get_ref();
        (key.to_string(), json(value.get_ref()))
    };
    Value::Object(table.iter().map(entry).collect())
}

fn check_passes(kind: &str, text: &str) {
    let table = DeTable::parse(text).unwrap();
    let value = table_json(table.get_ref());
    let errors: Vec<String> =
        validator(kind).iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?} in {text}");
}

/// Files of this folder in which the schema sees nothing wrong.
fn check_unseen(kind: &str, folder: &str, expected: &[&str]) {
    let validator = validator(kind);
    let entries = std::fs::read_dir(root().join(folder)).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut unseen = Vec::new();
    for path in paths.filter(|path| path.extension().unwrap() == "toml") {
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        match DeTable::parse(&text) {
            Ok(table) if validator.is_valid(&table_json(table.get_ref())) => unseen.push(name),
            _ => {}
        }
    }
    unseen.sort();
    assert_eq!(unseen, expected);
}

#[test]
fn the_example_and_its_parts_pass() {
    let commented = EXAMPLE.split_once("#[[contest]]").unwrap().1;
    let live: Vec<&str> = commented.lines().map(|line| line.trim_start_matches('#')).collect();
    for text in [EXAMPLE.to_owned(), format!("[[contest]]\n{}", live.join("\n"))] {
        assert!(parse_file("claims.toml", &text).is_ok());
        check_passes("claims", &text);
    }
}

#[test]
fn studies_that_are_right_pass() {
    let page = std::fs::read_to_string(root().join("../../docs/manual/studies.md")).unwrap();
    let blocks = page.split("```toml\n").skip(1).map(|rest| rest.split("```").next().unwrap());
    let whole: Vec<&str> = blocks.filter(|block| block.contains("title = ")).collect();
    assert_eq!(whole.len(), 3);
    whole.into_iter().for_each(|text| check_passes("study", text));
    let skeleton = skeleton("sums");
    let (_, text) = skeleton.iter().find(|(path, _)| path == "study.toml").unwrap();
    check_passes("study", text);
}

#[test]
fn of_broken_files_the_schemas_see_what_a_schema_can() {
    check_unseen("claims", "tests/broken_files", &UNSEEN);
    check_unseen("study", "tests/broken_studies", &UNSEEN_STUDIES);
}

#[test]
fn the_schema_has_the_languages_of_the_table() {
    let path = root().join("../../docs/schema/study-1.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    for (kind, is_runner) in [("linked", false), ("runner", true)] {
        let all = Language::all().filter(|language| language.is_runner() == is_runner);
        let names: Vec<&str> = all.map(Language::name).collect();
        assert_eq!(schema["$defs"][format!("{kind}_language")]["enum"], json!(names));
    }
}
