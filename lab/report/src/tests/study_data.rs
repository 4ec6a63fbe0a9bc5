//! The JSON of studies: against its schema, and read back.

use super::data::schema_of;
use crate::tests::fixture::shares::{in_bursts, in_rounds, share};
use crate::tests::fixture::study::*;
use crate::tests::fixture::threads::threaded;
use crate::{json, study};
use serde_json::{Value, json};
use tiebreak_core::result::StudyResult;
use tiebreak_core::verdict::Verdict;

const RESULT: &str = include_str!("../../../../docs/schema/result-1.schema.json");
const STUDY: &str = include_str!("../../../../docs/schema/study-result-1.schema.json");

fn all() -> Vec<(&'static str, StudyResult)> {
    let mut odd = studied();
    odd.seconds = f64::INFINITY;
    for claim in odd.runs.iter_mut().flat_map(|run| &mut run.verdicts) {
        claim.evidence.for_claim = f64::INFINITY;
        claim.quantity.effect_mut().high = Some(f64::INFINITY);
    }
    for row in odd.runs.iter_mut().filter_map(|run| run.study.as_mut()).flat_map(|s| &mut s.rows) {
        row.published.iter_mut().for_each(|figure| figure.ratio = Some(f64::NAN));
        row.per_call.iter_mut().for_each(|(_, summary)| summary.p90 = Some(f64::INFINITY));
    }
    let mut counted = studied();
    for claim in [
        in_rounds(Verdict::Holds, share(1998, 2000, [Some(0.99), None])),
        in_rounds(Verdict::Refuted, share(17, 21, [None, Some(0.97)])),
        in_bursts(in_rounds(Verdict::Undecided, share(175, 180, [Some(0.9), Some(0.99)]))),
    ] {
        counted.runs[0].verdicts.push(claim);
    }
    assert!(study::markdown(&counted).contains("17 of 21 rounds"));
    vec![
        ("counted", counted),
        ("studied", studied()),
        ("begun", unstudied()),
        ("hostile", hostile_study()),
        ("threaded", threaded()),
        ("odd", odd),
    ]
}

#[test]
fn every_study_obeys_the_schema() {
    let schema = schema_of(RESULT, STUDY);
    for (what, study) in all() {
        let value = json::value(&study);
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{what}");
        let read: Value = serde_json::from_str(&json::text(&study)).unwrap();
        assert_eq!(read, value, "{what}");
    }
}

#[test]
fn the_schema_rejects_what_is_no_study() {
    let schema = schema_of(RESULT, STUDY);
    let good = json::value(&studied());
    assert!(schema.is_valid(&good));
    for (pointer, key, value) in [
        ("", "schema", json!("tiebreak/study/2")),
        ("", "surprise", json!(1)),
        ("/runs/0", "surprise", json!(1)),
        ("/runs/0/study", "scope", json!("stream")),
        ("/runs/0/study", "surprise", json!(1)),
        ("/runs/0/study/rows/0", "language", json!(["c"])),
        ("/runs/0/study/rows/0", "per_call", json!({ "speed": {} })),
        ("/runs/0/study/rows/0", "ratio", json!({ "estimate": 1 })),
        ("/runs/0/study/rows/0", "rank", json!([2])),
        ("/runs/0/study/open_ratios/0", "rounds_left", json!("many")),
        ("/runs/0/study/rows/0", "ecdf", json!({ "count": 4, "values": [] })),
        ("/runs/0/study/published/0", "unit", json!("MB/s")),
        ("/runs/0/verdicts/0", "relation", json!({ "form": "measure" })),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap()[key] = value;
        assert!(!schema.is_valid(&bad), "{pointer}/{key}");
    }
    for (pointer, keys) in
        [("", good.as_object()), ("/runs/0/study", good["runs"][0]["study"].as_object())]
    {
        // Results of old have none of these.
        let is_new =
            |key: &&String| ["contracts", "races_pairs", "open_ratios"].contains(&key.as_str());
        for key in keys.unwrap().keys().filter(|key| !is_new(key)) {
            let mut bad = good.clone();
            bad.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(key);
            assert!(!schema.is_valid(&bad), "without {pointer}/{key}");
        }
    }
    let mut bad = good.clone();
    bad["runs"][0].as_object_mut().unwrap().remove("study");
    assert!(!schema.is_valid(&bad), "a run without its block");
}

#[test]
fn the_table_is_made_from_the_json_as_from_the_result() {
    for (what, mut study) in all() {
        for run in &mut study.runs {
            run.study.as_mut().unwrap().compare(&run.verdicts);
        }
        let read = json::read_study(&json::text(&study)).unwrap();
        assert_eq!(json::value(&read), json::value(&study), "{what}");
        assert_eq!(study::markdown(&read), study::markdown(&study), "{what}");
    }
}

#[test]
fn a_result_of_old_has_no_texts_of_contracts_and_reads() {
    let mut old = json::value(&studied());
    for run in old["runs"].as_array_mut().unwrap() {
        run["study"].as_object_mut().unwrap().remove("contracts").unwrap();
    }
    assert!(schema_of(RESULT, STUDY).is_valid(&old));
    let page = |value: &Value| study::markdown(&json::read_study(&value.to_string()).unwrap());
    let without = "contract 'unchecked': not exact, in no claim with the others.";
    assert!(page(&old).contains(without), "{}", page(&old));
    let with = without.replace(": not", " (takes '12x' for 12): not");
    assert!(page(&json::value(&studied())).contains(&with));
}

#[test]
fn what_is_no_study_is_told() {
    let good = json::value(&studied());
    for (pointer, key, value, expected) in [
        ("", "schema", json!("tiebreak/check/1"), "its schema is tiebreak/check/1"),
        ("", "runs", json!(1), "invalid type"),
        ("/runs/0/verdicts/0", "metric", json!("speed"), "no metric is 'speed'"),
        ("/runs/0/verdicts/0", "relation", json!({ "form": "big" }), "Statement"),
        ("/runs/0/study/rows/0", "fault", json!({ "fault": "luck", "text": "x" }), "luck"),
        ("/runs/0/study/rows/0", "per_call", json!({ "speed": {} }), "no metric is 'speed'"),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap()[key] = value;
        let error = json::read_study(&bad.to_string()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert!(error.starts_with("not what 'tiebreak study run NAME --json FILE' writes: "));
    }
    assert!(json::read_study("{").unwrap_err().to_string().contains("EOF"));
}
