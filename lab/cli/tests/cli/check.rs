//! `check`: a file of claims, everything it writes, and everything that is wrong with it.

use crate::common::{Place, Ran};

const FILE: &str = "\
error = '1%'
budget = '400 rounds'

[[contest]]
name = 'sleeps'
wait-for-quiet = false
claims = ['quick is faster than slow', 'quick succeeds at least 10% of the time']
[contest.contestants]
quick = 'sleep 0.001'
slow = 'sleep 0.01'
";

fn place_with(file: &str) -> Place {
    let place = Place::new();
    std::fs::write(place.path("claims.toml"), file).unwrap();
    place
}

fn validate(json: &serde_json::Value) {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let check = read(include_str!("../../../../docs/schema/check-1.schema.json"));
    let result = read(include_str!("../../../../docs/schema/result-1.schema.json"));
    let registry = jsonschema::Registry::new().add("urn:tiebreak:schema:result:1", result);
    let registry = registry.unwrap().prepare().unwrap();
    let validator = jsonschema::options().with_registry(&registry).build(&check).unwrap();
    let errors: Vec<String> = validator.iter_errors(json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

#[test]
fn everything_is_written_at_once() {
    let place = place_with(FILE);
    let words = ["check", "--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"];
    let mut command = place.command(&words);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_STEP_SUMMARY", place.path("summary.md"));
    let said = Ran::of(command.output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    validate(&json);
    assert!(read("r.xml").contains("<testcase"), "{}", read("r.xml"));
    assert!(read("r.md").contains("quick is faster than slow"));
    assert_eq!(read("r.md"), read("summary.md"), "the summary of the step");
    assert!(said.out.contains("quick is faster than slow"), "{said:?}");
}

#[test]
fn the_worst_verdict_speaks_and_is_noted_at_its_line() {
    let place = place_with(&FILE.replace("quick is faster", "quick is at least 50x faster"));
    let mut command = place.command(&["check", "--quiet"]);
    command.env("GITHUB_ACTIONS", "true").env_remove("GITHUB_STEP_SUMMARY");
    let said = Ran::of(command.output().unwrap());
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("::error file=claims.toml,line=7"), "{said:?}");
    let gate = FILE.replace("'quick is faster than slow'", "'quick is within 1% of quick2'");
    let twins = gate.replace("slow = 'sleep 0.01'", "quick2 = 'sleep 0.001'");
    let open = twins.replace("budget = '400 rounds'", "budget = '3 rounds'\nresolution = '0'");
    assert_eq!(place_with(&open).run(&["check", "--quiet"]).code, 2, "undecided");
    let gated = open.replace("wait-for-quiet", "gate = true\nwait-for-quiet");
    assert_eq!(place_with(&gated).run(&["check", "--quiet"]).code, 0, "only refuted closes it");
    let strict = open.replace("wait-for-quiet", "gate = true\nstrict = true\nwait-for-quiet");
    assert_eq!(place_with(&strict).run(&["check", "--quiet"]).code, 1, "only holds opens it");
}

#[test]
fn the_example_runs_and_the_schema_is_json() {
    let place = Place::new();
    let example = place.run(&["check", "--example"]);
    std::fs::write(place.path("claims.toml"), &example.out).unwrap();
    let dry = place.run(&["check", "--dry-run"]);
    assert!(dry.code == 0 && dry.out.contains("contest"), "{dry:?}");
    let schema: serde_json::Value =
        serde_json::from_str(&place.run(&["check", "--schema"]).out).unwrap();
    assert!(schema["$schema"].is_string());
}

#[test]
fn all_errors_of_a_file_at_once() {
    let place = place_with(
        "eror = '1%'\n[[contest]]\nclaims = ['A is fsater than B']\n\
         contestants = { A = 'true', B = 'true' }\n",
    );
    let said = place.run(&["check"]);
    assert_eq!(said.code, 65, "{said:?}");
    for expected in ["eror", "fsater", "claims.toml:1", "claims.toml:3", "errors in claims.toml"] {
        assert!(said.err.contains(expected), "{expected}: {}", said.err);
    }
    let missing = Place::new().run(&["check"]);
    assert!(missing.code == 65 && missing.err.contains("--example"), "{missing:?}");
    std::fs::write(place.path("claims.toml"), b"\xff\xfe").unwrap();
    let binary = place.run(&["check"]);
    assert!(binary.code == 65 && binary.err.contains("UTF-8"), "{binary:?}");
    let only = place_with(FILE).run(&["check", "--only", "no-such"]);
    assert!(only.code == 64 && only.err.contains("sleeps"), "{only:?}");
}

#[test]
fn an_interrupted_check_goes_on() {
    let file = FILE.replace("budget = '400 rounds'", "budget = '60s'\nresolution = '0'");
    let file = file.replace("sleep 0.01'", "sleep 0.001'").replace("'1%'", "1e-12");
    let place = place_with(&file);
    let child = place.command(&["check", "--quiet"]).spawn().unwrap();
    let rounds = place.wait_for_rounds(5);
    // Not -INT, which shells let background jobs ignore, and what is ignored stays ignored.
    let id = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(Ran::of(child.wait_with_output().unwrap()).code, 130);
    let again = ["check", "--resume", "--budget", "2s", "--quiet"];
    assert!([0, 1, 2].contains(&place.run(&again).code));
    assert!(place.rounds() > rounds, "it went on in the same run");
    let history = place.run(&["history", "--json"]);
    assert_eq!(history.json().as_array().unwrap().len(), 1);
}

#[test]
fn everything_that_is_not_there_is_named_at_once_and_no_file_is_spoilt() {
    let file = "\
[[contest]]
name = 'first'
claims = ['A is faster than B']
contestants = { A = 'no-such-program', B = 'no-such-either' }
[[contest]]
name = 'second'
input = 'no-such-input'
claims = ['A is faster than B']
contestants = { A = 'true', B = 'false' }
";
    let place = place_with(file);
    std::fs::write(place.path("old.json"), "{}").unwrap();
    let words = ["check", "--json", "old.json", "--junit", "new.xml"];
    let mut command = place.command(&words);
    command.env("GITHUB_ACTIONS", "true").env_remove("GITHUB_STEP_SUMMARY");
    let said = Ran::of(command.output().unwrap());
    assert_eq!(said.code, 65, "{said:?}");
    for expected in [
        "claims.toml:1:",
        "no-such-program",
        "no-such-either",
        "claims.toml:5:",
        "no-such-input",
        "3 problems in claims.toml",
        "::error title=tiebreak::",
    ] {
        assert!(said.err.contains(expected), "{expected}: {}", said.err);
    }
    assert_eq!(std::fs::read_to_string(place.path("old.json")).unwrap(), "{}");
    assert!(!place.path("new.xml").exists());
    assert_eq!(place.run(&["check", "--dry-run"]).code, 65);
}

#[test]
fn settled_contests_keep_their_verdict_and_changed_ones_begin_anew() {
    let place = place_with(FILE);
    assert_eq!(place.run(&["check", "--quiet"]).code, 0);
    let runs = |place: &Place| place.run(&["history", "--json"]).json().as_array().unwrap().len();
    assert_eq!(place.run(&["check", "--quiet", "--resume"]).code, 0);
    assert_eq!(runs(&place), 1, "nothing was raced again");
    std::fs::write(place.path("claims.toml"), format!("warmup = 1\n{FILE}")).unwrap();
    let said = place.run(&["check", "--quiet", "--resume"]);
    assert!(said.code == 0 && said.err.contains("begins anew"), "{said:?}");
    assert_eq!(runs(&place), 2);
}
