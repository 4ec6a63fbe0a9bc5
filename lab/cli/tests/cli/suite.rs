//! `suite`: the benchmarks of a tiny repository, by a harness of its own, and by Go's.

use crate::common::{Place, Ran, flat};
use std::path::PathBuf;
use std::process::Command;

/// Prints a line for each benchmark, with noise; only those that are asked for.
const HARNESS: &str = r#"
n=$(($$ % 40))
say() {
    wanted=$TIEBREAK_BENCHMARKS
    [ -z "$wanted" ] || printf '%s\n' "$wanted" | grep -qxF "$1" || return 0
    echo "$1 $(($2 + n))"
}
"#;
const SAME: &str = "say same 1000\nsay 'f<int>/8 x' 2000\nsay changed 1000\nsay gone 5000\n";
const SLOW: &str = "say same 1000\nsay 'f<int>/8 x' 2000\nsay changed 1500\nsay new 5000\n";

/// A repository whose harness says this at `base`, and this at HEAD.
fn repository(base: &str, head: &str) -> Place {
    let place = Place::new();
    place.git(&["init", "--quiet", "--initial-branch", "base"]);
    for (branch, text) in [("base", base), ("head", head)] {
        if branch != "base" {
            place.git(&["switch", "--quiet", "--create", branch, "base"]);
        }
        place.script("bench.sh", &format!("{HARNESS}\n{text}\n# {branch}"));
        place.git(&["add", "bench.sh"]);
        place.git(&["commit", "--quiet", "--message", branch]);
    }
    place
}

fn command(place: &Place, more: &[&str]) -> Command {
    let mut words = vec!["suite", "--base", "base", "--seed", "fixed"];
    if !more.contains(&"--budget") {
        words.extend(["--budget", "200 rounds"]);
    }
    let mut command: Command = place.command(&[&words[..], more].concat());
    command.env("TMPDIR", outside(place)).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

/// Where worktrees lie: outside of the repository.
fn outside(place: &Place) -> PathBuf {
    let outside = place.folder().with_extension("outside");
    std::fs::create_dir_all(&outside).unwrap();
    outside
}

fn run(place: &Place, more: &[&str]) -> Ran {
    let said = Ran::of(command(place, more).output().unwrap());
    let left: Vec<_> = std::fs::read_dir(outside(place)).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    std::fs::remove_dir(outside(place)).unwrap();
    said
}

/// Asserts that a result is as its schema says.
fn validate(json: &serde_json::Value) {
    let read = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    let suite = read(include_str!("../../../../docs/schema/suite-1.schema.json"));
    let check = read(include_str!("../../../../docs/schema/check-1.schema.json"));
    let result = read(include_str!("../../../../docs/schema/result-1.schema.json"));
    let registry = jsonschema::Registry::new().add("urn:tiebreak:schema:result:1", result);
    let registry = registry.unwrap().add("urn:tiebreak:schema:check:1", check);
    let registry = registry.unwrap().prepare().unwrap();
    let validator = jsonschema::options().with_registry(&registry).build(&suite).unwrap();
    let errors: Vec<String> = validator.iter_errors(json).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

const CUSTOM: [&str; 4] = ["--harness", "custom", "--", "./bench.sh"];

#[test]
fn each_benchmark_gets_its_word() {
    let place = repository(SAME, SLOW);
    let files = ["--json", "r.json", "--junit", "r.xml", "--markdown", "r.md"];
    let said = run(&place, &[&files[..], &CUSTOM].concat());
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.out.starts_with("Of 3 benchmarks, 1 is slower as built, 2 are not slower."));
    let out = flat(&said.out);
    assert!(out.contains("changed slower as built"), "{out}");
    assert!(!out.contains("f<int>/8 x"), "what is not slower has no row: {out}");
    assert!(out.contains("Only in base, and not raced: gone."), "{out}");
    assert!(out.contains("Only in head, and not raced: new."), "{out}");
    let read = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    let json: serde_json::Value = serde_json::from_str(&read("r.json")).unwrap();
    validate(&json);
    assert_eq!(json["benchmarks"][2]["word"], "slower_as_built");
    let ratio = json["benchmarks"][2]["ratio"]["estimate"].as_f64().unwrap();
    assert!((1.4..1.6).contains(&ratio), "{ratio}");
    let base_ns = json["benchmarks"][1]["times_ns"][0].as_f64().unwrap();
    assert!((2000.0..2040.0).contains(&base_ns), "{base_ns}");
    assert!(read("r.xml").contains("<testcase"));
    assert!(read("r.md").contains("| changed | slower as built |"), "{}", read("r.md"));
}

#[test]
fn all_open_benchmarks_share_a_process() {
    let count = "echo start >> \"$COUNTED\"\n";
    let place = repository(&format!("{count}{SAME}"), &format!("{count}{SAME}# other"));
    let counted = place.path("counted");
    let build = format!("sed -i 's,$COUNTED,{},' bench.sh", counted.display());
    let said = run(&place, &[&["--build", &build, "--json", "-"][..], &CUSTOM].concat());
    assert_eq!(said.code, 0, "{said:?}");
    let started = std::fs::read_to_string(counted).unwrap().lines().count();
    let json = said.json();
    let benchmarks = json["benchmarks"].as_array().unwrap();
    let rounds = benchmarks.iter().map(|one| one["rounds"].as_u64().unwrap() as usize);
    // Two processes look at all benchmarks. Each round is two, whose answers the others take, too;
    // what was measured ahead for one that is then settled may be a few rounds.
    assert_eq!(benchmarks.len(), 4);
    assert!(started <= 2 + 2 * (rounds.max().unwrap() + 3), "{started} processes: {json}");
}

#[test]
fn who_fails_is_void_and_the_others_are_not() {
    let fails = "case \"$TIEBREAK_BENCHMARKS\" in *changed*) echo no >&2; exit 3;; esac\n";
    let place = repository(SAME, &format!("{fails}{SAME}"));
    let said = run(&place, &CUSTOM);
    assert_eq!(said.code, 3, "{said:?}");
    let out = flat(&said.out);
    assert!(out.contains("1 is void, 3 are not slower"), "{out}");
    assert!(out.contains("changed: head ended with exit status 3; it said: no"), "{out}");
}

#[test]
fn what_is_no_suite_is_named() {
    let place = repository(SAME, SLOW);
    let check = |more: &[&str], code: i32, words: &str| {
        let said = run(&place, more);
        assert_eq!((said.code, said.out.as_str()), (code, ""), "{more:?}: {said:?}");
        assert!(flat(&said.err).contains(words), "{more:?}: {}", said.err);
    };
    check(&[], 65, "no harness is found here: --harness names one of criterion, go,");
    check(&["--harness", "gtest"], 64, "no harness is called 'gtest'; there are criterion,");
    check(&["--harness", "custom"], 64, "needs a command behind '--'");
    check(&[&["--filter", "x9"][..], &CUSTOM].concat(), 65, "none of 3 benchmarks has 'x9'");
    check(&["--harness", "custom", "--", "true"], 65, "no benchmark in common");
    check(
        &["--harness", "custom", "--", "false"],
        65,
        "benchmarks of base cannot be raced: custom",
    );
    check(&["--harness", "custom", "--", "./none"], 65, "custom cannot be run: No such file");
    check(&["--harness", "custom", "--", "echo", "a 1\na 2"], 65, "two benchmarks called 'a'");
    check(&["--build", "exit 4", "--harness", "go"], 65, "build of base");
    check(&[&["--max-slowdown", "1.5"][..], &CUSTOM].concat(), 64, "--max-slowdown 2%");
}

#[test]
fn a_run_of_a_suite_is_not_resumed_as_a_program() {
    let place = repository(SAME, SAME);
    let words = [&["--keep", "--filter", "same", "--budget", "2 rounds"][..], &CUSTOM].concat();
    let said = Ran::of(command(&place, &words).output().unwrap());
    assert_eq!(said.code, 0, "a gate passes what is open: {said:?}");
    let resumed = Ran::of(place.command(&["resume", "--more", "10 rounds"]).output().unwrap());
    assert_eq!(resumed.code, 65, "{resumed:?}");
    assert!(flat(&resumed.err).contains("only 'tiebreak suite' times"), "{resumed:?}");
    std::fs::remove_dir_all(outside(&place)).unwrap();
}

#[test]
fn go_is_found_built_and_raced() {
    if Command::new("go").arg("version").output().is_err() {
        println!("skipped: there is no go");
        return;
    }
    let place = Place::new();
    place.git(&["init", "--quiet", "--initial-branch", "base"]);
    std::fs::write(place.path("go.mod"), "module example.com/sums\n\ngo 1.19\n").unwrap();
    let test = "package sums\n\nimport \"testing\"\n\nvar sum int\n\n\
        func BenchmarkSum(b *testing.B) {\n\tfor _, name := range []string{\"few\", \"many\"} {\n\
        \t\tb.Run(name, func(b *testing.B) {\n\t\t\tfor i := 0; i < b.N*times; i++ {\n\
        \t\t\t\tsum += i ^ sum\n\t\t\t}\n\t\t})\n\t}\n}\n";
    std::fs::write(place.path("sums_test.go"), test).unwrap();
    for (branch, times) in [("base", 100), ("head", 400)] {
        if branch != "base" {
            place.git(&["switch", "--quiet", "--create", branch, "base"]);
        }
        let text = format!("package sums\n\nconst times = {times}\n");
        std::fs::write(place.path("sums.go"), text).unwrap();
        place.git(&["add", "go.mod", "sums_test.go", "sums.go"]);
        place.git(&["commit", "--quiet", "--message", branch]);
    }
    let said = run(&place, &["--slice", "2ms"]);
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.err.contains("harness: go, as sums_test.go shows"), "{said:?}");
    assert!(said.out.starts_with("Of 2 benchmarks, 2 are slower as built."), "{said:?}");
}
