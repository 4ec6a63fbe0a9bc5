//! Two results of one study: what differs, as text, as Markdown and as JSON.

use super::pages::check_width;
use super::*;
use crate::tests::fixture::study::*;
use crate::{json, study};
use serde_json::Value;
use tiebreak_core::result::{StudyComparison, StudyResult};

const SCHEMA: &str = include_str!("../../../../docs/schema/study-comparison-1.schema.json");
const NAMES: [&str; 2] = ["epyc", "xeon"];

/// Returns a result in which swar is a fifth of its ratio, and what held is refuted.
fn elsewhere() -> StudyResult {
    let mut study = studied();
    let run = &mut study.runs[0];
    let mut claims = run.verdicts.iter_mut().filter(|claim| !claim.statement.is_measure());
    claims.find(|claim| claim.verdict == Verdict::Holds).unwrap().verdict = Verdict::Refuted;
    let rows = &mut run.study.as_mut().unwrap().rows;
    let swar = rows.iter_mut().find(|row| row.name == "swar").unwrap().ratio.as_mut().unwrap();
    for limit in [&mut swar.estimate, &mut swar.low, &mut swar.high] {
        *limit = limit.map(|limit| limit / 5.0);
    }
    study
}

fn compare(a: &StudyResult, b: &StudyResult) -> StudyComparison {
    StudyComparison::of(NAMES, [a, b]).unwrap()
}

#[test]
fn a_comparison_reads_well() {
    let comparison = compare(&studied(), &elsewhere());
    insta::assert_snapshot!("at_80", study::comparison(&comparison, &LOOK));
    insta::assert_snapshot!("as_markdown", study::comparison_markdown(&comparison));
}

#[test]
fn a_result_does_not_differ_from_itself() {
    let comparison = compare(&studied(), &studied());
    let ratios = comparison.workloads.iter().flat_map(|workload| &workload.ratios);
    assert!(ratios.clone().count() == 6 && ratios.clone().all(|ratio| !ratio.differs));
    assert!(comparison.workloads.iter().all(|workload| workload.changed_places.is_empty()));
    assert!(comparison.claims.iter().all(|claim| claim.verdicts[0] == claim.verdicts[1]));
    // One upper limit is not known.
    assert_eq!(ratios.filter(|ratio| ratio.change.is_none()).count(), 1);
}

#[test]
fn who_was_other_code_is_named() {
    let of_code = |codes: [Option<&str>; 2]| {
        let mut study = studied();
        for run in &mut study.runs {
            for (row, code) in run.study.as_mut().unwrap().rows.iter_mut().zip(codes) {
                row.code = code.map(str::to_owned);
            }
        }
        study
    };
    let check = |a, b, expected: usize| {
        let comparison = compare(&of_code(a), &of_code(b));
        let others = comparison.workloads.iter().map(|workload| workload.other_code.len());
        assert_eq!(others.max(), Some(expected));
        let text = study::comparison(&comparison, &LOOK);
        let said = text.contains("Other sources or flags in epyc than in xeon");
        assert_eq!(said, expected > 0, "{text}");
    };
    check([Some("a"), Some("b")], [Some("a"), Some("b")], 0);
    check([Some("a"), None], [None, Some("b")], 0);
    check([Some("a"), Some("b")], [Some("c"), Some("b")], 1);
    check([Some("a"), Some("b")], [Some("c"), Some("d")], 2);
}

#[test]
fn what_differs_is_the_same_from_the_other_side() {
    let (here, there) = (studied(), elsewhere());
    let (one, other) = (compare(&here, &there), compare(&there, &here));
    let [one, other] = [&one.workloads[0], &other.workloads[0]];
    let swar = |of: &tiebreak_core::result::ComparedWorkload| {
        of.ratios.iter().find(|ratio| ratio.contestant == "swar").unwrap().clone()
    };
    let [less, more] = [swar(one), swar(other)];
    assert!(less.differs && more.differs);
    let product = less.change.unwrap().high.unwrap() * more.change.unwrap().low.unwrap();
    assert!((product - 1.0).abs() < 1e-12, "{product}");
    let turned = |pair: &[String; 2]| [pair[1].clone(), pair[0].clone()];
    let mut back: Vec<_> = other.changed_places.iter().map(turned).collect();
    let mut changed = one.changed_places.clone();
    changed.sort();
    back.sort();
    assert!(!changed.is_empty());
    assert_eq!(changed, back);
    assert_eq!([one.same_places, one.open_places], [other.same_places, other.open_places]);
}

#[test]
fn what_cannot_be_compared_is_named() {
    let mut other = studied();
    other.study = "another".to_owned();
    assert_eq!(StudyComparison::of(NAMES, [&studied(), &other]), None);
    let mut there = studied();
    there.runs[0].study.as_mut().unwrap().reference = "swar".to_owned();
    there.runs[1].study.as_mut().unwrap().workload.name = "new".to_owned();
    let claims = compare(&studied(), &there).claims;
    assert!(claims.is_empty(), "{claims:?}");
    let page = study::comparison(&compare(&studied(), &there), &Look { width: 200, ..LOOK });
    for expected in [
        "not compared: the reference is naive in epyc and swar in xeon.",
        "not compared: xeon does not have it.",
        "new: not compared: epyc does not have it.",
    ] {
        assert!(page.contains(expected), "{page}");
    }
}

#[test]
fn ratios_of_other_inputs_or_another_meaning_are_not_compared() {
    let check = |change: fn(&mut RunResult), expected: &str| {
        let mut there = studied();
        change(&mut there.runs[0]);
        let compared = compare(&studied(), &there);
        let why = compared.workloads[0].not_compared.as_deref();
        assert!(why.is_some_and(|why| why.contains(expected)), "{why:?}");
        assert!(compared.workloads[1].not_compared.is_none());
    };
    check(|run| run.study.as_mut().unwrap().workload.size = 7, "the input is 'random' of size");
    check(|run| run.study.as_mut().unwrap().scope = Scope::Layout, "the scope is code in epyc");
    let of_factor = |run: &mut RunResult| {
        run.verdicts.iter_mut().for_each(|claim| claim.centre = Centre::Factor);
    };
    check(of_factor, "and one factor in xeon");
}

#[test]
fn every_comparison_obeys_the_schema_and_fits_the_screen() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let mut silent = studied();
    silent.runs.iter_mut().for_each(|run| run.study.as_mut().unwrap().rows.clear());
    for other in [studied(), elsewhere(), silent] {
        for comparison in [compare(&studied(), &other), compare(&other, &studied())] {
            let value = json::value(&comparison);
            let errors: Vec<_> =
                schema.iter_errors(&value).map(|error| error.to_string()).collect();
            assert_eq!(errors, [""; 0]);
            for width in [40, 60, 80, 140] {
                let look = Look { width, color: false, unicode: false };
                let page = study::comparison(&comparison, &look);
                check_width("comparison", &page, look);
                assert!(page.is_ascii());
            }
        }
    }
}
