//! The page of a suite.

use super::LOOK;
use super::fixture::compared;
use crate::suite::{markdown, page, sentence};
use tiebreak_core::plan::Budget;
use tiebreak_core::result::{
    BenchmarkResult, CheckResult, ContestResult, EffectResult, Family, SuiteResult, SuiteRevision,
    Word,
};
use unicode_width::UnicodeWidthStr;

fn benchmark(name: &str, word: Word, ratio: [f64; 3]) -> BenchmarkResult {
    let [estimate, low, high] = ratio.map(Some);
    let is_void = word == Word::Void;
    BenchmarkResult {
        name: name.to_owned(),
        word,
        why: is_void.then(|| "head ended with exit status 3; it said: no".to_owned()),
        ratio: EffectResult { estimate, low, high, confidence: 0.99 },
        times_ns: if is_void { [None; 2] } else { [Some(126.4), Some(126.4 * ratio[0])] },
        iterations: 10_000,
        rounds: 40,
    }
}

fn suite(benchmarks: Vec<BenchmarkResult>) -> SuiteResult {
    let revision = |asked: &str| SuiteRevision { asked: asked.to_owned(), commit: "0".repeat(40) };
    let run = compared(Vec::new());
    let contest = ContestResult { name: "parse".to_owned(), run, lines: Vec::new() };
    SuiteResult {
        harness: "go".to_owned(),
        revisions: [revision("v1"), revision("HEAD")],
        slice_seconds: 0.02,
        max_slowdown: 0.02,
        shared: benchmarks.len() as u64,
        alone: [Vec::new(), vec!["new|one".to_owned()]],
        benchmarks,
        check: CheckResult {
            file: "tiebreak suite".to_owned(),
            family: Family::EBh,
            error: 0.01,
            seconds: 31.0,
            budget: Budget { rounds: None, seconds: Some(300.0) },
            interrupted: false,
            contests: vec![contest],
        },
    }
}

fn mixed() -> SuiteResult {
    let mut benchmarks = vec![
        benchmark("parse/long name with spaces<int>", Word::NotSlower, [1.001, 0.99, 1.01]),
        benchmark("write", Word::Faster, [0.8, 0.78, 0.82]),
        benchmark("print|all", Word::SlowerAsBuilt, [1.031, 1.024, 1.039]),
        benchmark("read", Word::SlowerAsBuilt, [12.0, 11.0, 13.5]),
        benchmark("crash", Word::Void, [1.0, 1.0, 1.0]),
    ];
    benchmarks
        .extend((0..12).map(|n| benchmark(&format!("open {n}"), Word::Open, [1.0, 0.9, 1.1])));
    suite(benchmarks)
}

#[test]
fn only_rows_that_say_something() {
    insta::assert_snapshot!("suite", page(&mixed(), &LOOK));
    insta::assert_snapshot!("suite-markdown", markdown(&mixed()));
    let fine = suite(vec![benchmark("parse", Word::NotSlower, [1.0, 0.99, 1.01])]);
    assert_eq!(sentence(&fine), "Of 1 benchmark, 1 is not slower");
    let said = page(&fine, &LOOK);
    assert!(!said.contains("interval"), "{said}");
    for width in [20, 40, 79, 200] {
        let look = crate::look::Look { width, ..LOOK };
        let widest = page(&mixed(), &look).lines().map(UnicodeWidthStr::width).max();
        assert!(widest.unwrap() <= look.columns(), "{width}");
    }
}
