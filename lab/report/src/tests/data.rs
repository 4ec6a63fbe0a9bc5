//! JSON against its schema, CSV, and tables.

use super::*;
use crate::table::{HistoryRow, history};
use crate::tests::fixture::study::studied;
use crate::{csv, json};
use serde_json::{Value, json};
use tiebreak_core::journal::{Event, Journal, Round, RunHeader};
use tiebreak_core::plan::{Adjust, Budget, Contestant, Hooks, Kind, Plan, ProgramPlan};
use tiebreak_core::result::{Blame, CheckResult, Family};
use tiebreak_core::sample::{Mark, Marks, Outcome, Sample};
use tiebreak_core::schedule::RoundCoins;
use tiebreak_core::transitions::Transitions;

const RESULT: &str = include_str!("../../../../docs/schema/result-1.schema.json");
const CHECK: &str = include_str!("../../../../docs/schema/check-1.schema.json");

fn schema() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(RESULT).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    jsonschema::draft202012::new(&schema).unwrap()
}

fn check_schema() -> jsonschema::Validator {
    schema_of(RESULT, CHECK)
}

/// A schema that refers to that of results.
pub(super) fn schema_of(result: &str, other: &str) -> jsonschema::Validator {
    let [result, other] = [result, other].map(|text| serde_json::from_str::<Value>(text).unwrap());
    jsonschema::meta::validate(&other).unwrap();
    let registry = jsonschema::Registry::new()
        .add("urn:tiebreak:schema:result:1", result)
        .unwrap()
        .prepare()
        .unwrap();
    jsonschema::options().with_registry(&registry).build(&other).unwrap()
}

/// A run for every fault there is.
fn faults() -> Vec<RunResult> {
    let text = || "x".to_owned();
    let hook = Fault::Hook { hook: text(), command: text(), status: 1, stderr: text() };
    let all = [
        Fault::ExitStatus { status: -1, stderr: text() },
        Fault::Signal { signal: 9, stderr: text() },
        Fault::Flooded { limit_bytes: 1 },
        Fault::OutputChanged { expected_bytes: 1, got_bytes: 2 },
        Fault::OutputDiffers { from: text() },
        Fault::Rejected { judge: text(), status: 1 },
        hook,
        Fault::CannotStart { reason: text() },
        Fault::FailedRun,
        Fault::WrongAnswer { workload: text(), item: Some(1), expected: text(), got: text() },
        Fault::WrongAnswer { workload: text(), item: None, expected: text(), got: text() },
        Fault::OutOfBounds { workload: text(), what: text() },
        Fault::Hung { workload: text(), seconds: 2 },
        Fault::NotPrepared { workload: text() },
        Fault::Runner { workload: text(), what: text() },
        Fault::Conduct { workload: text(), what: text() },
        Fault::Server { what: text(), stderr: text() },
    ];
    let run = |fault: &Fault| {
        let mut run = three();
        run.contestants[2].fault = Some(fault.clone());
        let contestant = "C".to_owned();
        run.verdicts[2].fault = Some(Blame { contestant, fault: fault.clone() });
        run
    };
    all.iter().map(run).collect()
}

#[test]
fn every_result_obeys_the_schema() {
    let schema = schema();
    let mut runs: Vec<_> = all_results().into_iter().map(|(_, run)| run).collect();
    runs.extend(faults());
    let mut marked = three();
    marked.contestants[0].marks = Mark::ALL.map(|mark| (mark, 1)).into();
    let mut metrics = three();
    let summary = metrics.contestants[0].metrics[0].1;
    metrics.contestants[0].metrics = Metric::ALL.map(|metric| (metric, summary)).to_vec();
    let mut adjusted = three();
    adjusted.adjust = Adjust { slot: true, strata: true };
    runs.extend([marked, metrics, adjusted]);
    runs.extend(studied().runs);
    use StopReason::{Budget, Ended, Interrupted, Settled, Void};
    for stopped in [Settled, Budget, Interrupted, Void, Ended] {
        runs.push(RunResult { stopped: Some(stopped), ..three() });
    }
    for run in runs {
        let value = json::value(&run);
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
        let read: RunResult = serde_json::from_str(&json::text(&run)).unwrap();
        assert_eq!(json::value(&read), value);
    }
}

#[test]
fn the_schema_rejects_what_is_not_a_result() {
    let schema = schema();
    let good = json::value(&three());
    assert!(schema.is_valid(&good));
    for (pointer, key, value) in [
        ("", "schema", json!("tiebreak/result/2")),
        ("", "surprise", json!(1)),
        ("", "rounds", json!(1.5)),
        ("/verdicts/0", "verdict", json!("too close")),
        ("/verdicts/0", "metric", json!("wall time")),
        ("/verdicts/0", "relation", json!({ "form": "order", "factor": 1.0 })),
        ("/verdicts/1/fault", "fault", json!("bad luck")),
        ("/verdicts/0/ratio", "low", json!("inf")),
        ("/contestants/0/metrics", "speed", json!({})),
        ("/contestants/0/marks", "foreign load", json!(1)),
        ("/budget", "seconds", json!(-1)),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap()[key] = value;
        assert!(!schema.is_valid(&bad), "{pointer}/{key}");
    }
    // What came later than the first documents of this schema may be missing.
    let came_later = |key: &&String| ["adjust", "false_share", "study"].contains(&key.as_str());
    for key in good.as_object().unwrap().keys().filter(|key| !came_later(key)) {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&bad), "without {key}");
    }
}

#[test]
fn each_kind_of_claim_has_the_keys_of_its_kind_and_no_others() {
    let schema = schema();
    for (name, claim) in properties() {
        let good = json::value(&judged(vec![claim]));
        assert!(schema.is_valid(&good), "{name}");
        let verdict = &good["verdicts"][0];
        let kinds: Vec<_> = ["ratio", "rate", "quantile", "mean", "share"]
            .into_iter()
            .filter(|key| verdict.get(key).is_some())
            .collect();
        let expected: &[&str] = match verdict["relation"]["form"].as_str().unwrap() {
            "succeeds" | "in_share_of_rounds" => &["rate", "share"],
            "quantile" => &["rate", "quantile", "share"],
            "mean" => &["mean"],
            other => panic!("{other}"),
        };
        assert_eq!(kinds, expected, "{name}");
        for key in &expected[..expected.len().min(2)] {
            let mut bad = good.clone();
            bad["verdicts"][0].as_object_mut().unwrap().remove(*key);
            assert_eq!(schema.is_valid(&bad), *key == "share", "{name} without {key}");
        }
        let mut bad = good.clone();
        bad["verdicts"][0]["ratio"] = json::value(&three())["verdicts"][0]["ratio"].clone();
        assert!(!schema.is_valid(&bad), "{name} with a ratio");
    }
}

#[test]
fn a_check_obeys_its_schema() {
    let schema = check_schema();
    for check in [checked(Family::EBonferroni), checked(Family::EBh), unchecked()] {
        let value = json::value(&check);
        let errors: Vec<_> = schema.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [""; 0], "{value:#}");
        let read: CheckResult = serde_json::from_str(&json::text(&check)).unwrap();
        assert_eq!(json::value(&read), value);
        let counts = value["counts"].as_object().unwrap();
        let all: u64 = counts.values().map(|count| count.as_u64().unwrap()).sum();
        assert_eq!(all, 9);
    }
    let good = json::value(&checked(Family::EBh));
    for (pointer, key, value) in [
        ("", "schema", json!("tiebreak/check/2")),
        ("", "family", json!("bonferroni")),
        ("", "surprise", json!(1)),
        ("/counts", "holds", json!(-1)),
        ("/contests/0", "lines", json!([0])),
        ("/contests/0/result", "rounds", json!(1.5)),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap()[key] = value;
        assert!(!schema.is_valid(&bad), "{pointer}/{key}");
    }
    for key in good.as_object().unwrap().keys() {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&bad), "without {key}");
    }
}

#[test]
fn properties_in_json_stand_in_the_order_of_the_schema() {
    let claims = ["two rates hold", "quantile", "mean"]
        .map(|wanted| properties().into_iter().find(|(name, _)| *name == wanted).unwrap().1);
    let text = json::text(&judged(claims.to_vec()));
    let verdicts =
        text.split_once("\"verdicts\"").unwrap().1.split_once("\"contestants\"").unwrap().0;
    insta::assert_snapshot!(verdicts);
}

#[test]
fn json_stands_in_the_order_of_the_schema() {
    insta::assert_snapshot!(json::text(&three()));
}

#[test]
fn numbers_that_are_not_finite_are_null() {
    let value = json::value(&nothing_known());
    let verdict = &value["verdicts"][0];
    assert_eq!(verdict["evidence"], json!({ "for": null, "against": null, "needed": null }));
    assert_eq!(verdict["ratio"]["estimate"], Value::Null);
    assert_eq!(value["contestants"][1]["metrics"]["wall_ns"]["median"], Value::Null);
    let text = json::text(&nothing_known());
    assert!(!text.contains("inf") && !text.contains("NaN"), "{text}");
}

fn journal() -> Journal {
    let contestant = |name: &str| Contestant {
        name: name.to_owned(),
        command: String::new(),
        workload: String::new(),
        parameters: Vec::new(),
        hooks: Hooks::default(),
        directory: None,
    };
    let plan = Plan {
        engine_version: 1,
        kind: Kind::Compare,
        contestants: vec![contestant("sort, \"quick\""), contestant("B")],
        claims: Vec::new(),
        error: 0.01,
        resolution: 0.01,
        budget: Budget { rounds: Some(2), seconds: None },
        scope: Scope::Binary,
        centre: Centre::Factor,
        seed: "1".to_owned(),
        clock_step_ns: 1.0,
        program: ProgramPlan::default(),
        block_runs: 1,
        adjust: Adjust::NONE,
        functions: None,
        load: None,
        servers: None,
        suite: None,
    };
    let header = RunHeader {
        created_unix_ms: 0,
        version: String::new(),
        command: Vec::new(),
        directory: String::new(),
        plan,
        machine: Default::default(),
        machine_print: None,
        files: Vec::new(),
        claim_key: String::new(),
    };
    Journal {
        id: "k7w2".to_owned(),
        header,
        rounds: Vec::new(),
        lost: Vec::new(),
        events: Vec::new(),
        verdicts: Vec::new(),
        chain: Vec::new(),
    }
}

#[test]
fn csv_has_a_line_for_every_sample() {
    let mut odd = Sample::of_wall_ns(7);
    odd.outcome = Outcome::TimedOut;
    odd.marks = Marks::NONE.with(Mark::ForeignLoad).with(Mark::Steal);
    odd.meters.cycles = Some(99);
    odd.beside.throttled_ns = Some(5);
    let round = |round: u64, order: Vec<usize>, samples: Vec<Sample>| Round {
        coins: RoundCoins {
            round,
            attempt: 1,
            primer: Some(0),
            order,
            padding_bytes: Vec::new(),
            unit: None,
            load_seed: None,
        },
        waited_ns: 0,
        elapsed_ns: 0,
        samples,
        batches: Vec::new(),
        histograms: Vec::new(),
        wealth: Vec::new(),
    };
    let mut journal = journal();
    let plain = Sample::of_wall_ns(12);
    // The second round names a contestant that the plan does not have: the line is still written.
    journal.rounds = vec![round(0, vec![1, 0], vec![plain, odd]), round(1, vec![5], vec![plain])];
    let mut text = String::new();
    csv::samples(&journal, &mut text);
    assert_eq!(text.matches("\r\n").count(), 4);
    insta::assert_snapshot!(text.replace("\r\n", "\n"));
}

#[test]
fn csv_of_a_stream_has_a_line_for_every_batch() {
    let mut journal = journal();
    journal.header.plan.kind = Kind::Stream { scale: None, is_chain: false };
    let observed = |lines, elapsed_ns| Event::Observed {
        lines,
        successes: lines - 2,
        failure_runs: 1,
        values: Vec::new(),
        transitions: Transitions::default(),
        by_age: Box::default(),
        elapsed_ns,
    };
    journal.events = vec![observed(1000, 5), observed(400, 9)];
    let mut text = String::new();
    csv::samples(&journal, &mut text);
    assert_eq!(
        text,
        "observation,lines,successes,failure_runs,elapsed_ns\r\n\
         0,1000,998,1,5\r\n1,400,398,1,9\r\n"
    );
}

#[test]
fn the_history_fits() {
    let row = |id: &str, command: &str, verdicts: &str| HistoryRow {
        id: id.to_owned(),
        when: "2026-01-31 12:00".to_owned(),
        command: command.to_owned(),
        verdicts: verdicts.to_owned(),
        rounds: 812,
        seconds: 61.2,
    };
    let runs = [
        row("k7w2", "tiebreak compare 'sleep 0.1' 'sleep 0.12'", "A faster"),
        row("k7w3", &format!("tiebreak compare {}", "long".repeat(40)), &"too close, ".repeat(9)),
        row("k7w4", "tiebreak aa\n\u{1b}[31m", "undecided"),
    ];
    let mut out = String::new();
    for width in [40, 60, 80, 100] {
        let text = history(&runs, &Look { width, ..LOOK });
        assert!(text.lines().all(|line| line.width() <= width), "{width}:\n{text}");
        out += &format!("{width}\n{text}");
    }
    out += &history(&[], &LOOK);
    insta::assert_snapshot!(out);
}
