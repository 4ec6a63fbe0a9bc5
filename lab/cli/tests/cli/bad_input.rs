//! Bad input: one clear error, and the exit code of the design.

use crate::common::{Place, flat};

fn check(words: &[&str], code: i32, says: &str) {
    let place = Place::new();
    let said = place.run(words);
    assert_eq!(said.code, code, "{words:?}: {said:?}");
    assert!(said.err.contains(says), "{words:?} should say '{says}': {}", said.err);
    assert!(!said.err.contains("panicked") && !said.err.contains("RUST_BACKTRACE"), "{said:?}");
    let errors = said.err.lines().filter(|line| line.starts_with("error")).count();
    assert_eq!(errors, 1, "one error: {}", said.err);
}

#[test]
fn usage() {
    check(&["compare", "true"], 64, "needs two commands");
    check(&["compare"], 64, "required");
    check(&["compare", "true", "true", "--error", "0"], 64, "must be above 0");
    check(&["compare", "true", "true", "--error", "1"], 64, "below 0.5");
    check(&["compare", "true", "true", "--error", "two"], 64, "a share such as 1%");
    check(&["compare", "true", "true", "--budget", "soon"], 64, "not a budget");
    check(&["compare", "true", "true", "--resolution", "100%"], 64, "below 1");
    check(&["compare", "true", "true", "--claim", "A is fsater than B"], 64, "faster");
    check(&["compare", "true", "true", "--claim", "A is faster than C"], 64, "C");
    check(&["compare", "true", "true", "--name", "x", "--name", "x"], 64, "two contestants");
    check(&["compare", "a | b", "true"], 65, "--shell");
    check(&["compare", "true", "true", "--parameter", "n=1"], 64, "nothing uses");
    check(
        &["compare", "true", "true", "--output", "null", "--check", "same-output"],
        64,
        "--output",
    );
    check(&["compare", "true", "true", "--cpus", "9999"], 65, "9999");
    check(&["compare", "true", "true", "--by", "elegance"], 64, "not a metric");
    check(&["aa", "true", "--comparisons", "0"], 64, "0");
    check(&["compare", "true", "true", "--error", "-1"], 64, "a share such as 1%");
    check(&["compare", "true", "true", "--check", "sameoutput"], 64, "'same-output'");
    check(&["compare", "true", "true", "--success", "300"], 64, "300");
    let claim = ["compare", "true", "true", "--claim", "A is faster than B", "--by", "cpu time"];
    check(&claim, 64, "without --claim");
    let many = ["compare", "{a} {b} {c}", "--parameter", "a=1..999", "--parameter", "b=1..999"];
    let many = [many.as_slice(), &["--parameter", "c=1..999"]].concat();
    check(&many, 64, "are the most");
}

#[test]
fn a_wrong_word_in_a_claim_is_pointed_at() {
    let said = Place::new().run(&["compare", "true", "true", "--claim", "A is fsater than B"]);
    assert!(said.err.contains("^^^^^^"), "{}", said.err);
}

#[test]
fn programs_and_files_that_are_not_there() {
    check(&["compare", "no-such-program-here", "true"], 65, "no-such-program-here");
    check(&["compare", "./text.txt", "true"], 65, "not executable");
    check(&["compare", "/", "true"], 65, "directory");
    check(&["compare", "cat", "cat", "--input", "absent.txt"], 65, "absent.txt");
    check(&["compare", "cat", "cat", "--input", "/dev/zero"], 65, "not a regular file");
    check(&["compare", "true", "absent-program", "--dry-run"], 65, "absent-program");
    check(&["compare", "true", "true", "--directory", "absent"], 65, "absent");
    check(&["compare", "true", "true", "--json", "absent/x.json"], 65, "absent/x.json");
    check(&["compare", "true", "true", "--store", "text.txt"], 65, "text.txt");
    check(&["replay", "absent.jsonl"], 65, "absent.jsonl");
    check(&["replay", "text.txt"], 65, "line 1");
    check(&["show"], 65, "the first run that measures");
}

#[test]
fn contestants_that_fail() {
    let void = |command: &str, more: &[&str], says: &str| {
        let place = Place::new();
        let mut words = vec!["compare", command, "true", "--no-wait"];
        words.extend(more);
        let said = place.run(&words);
        assert_eq!(said.code, 3, "{command}: {said:?}");
        let text = flat(&said.out);
        assert!(text.contains(says), "{command} should say '{says}': {text}");
        assert_eq!(place.run(&["replay", "--quiet"]).code, 3);
    };
    void("false", &[], "status 1");
    void("sh -c 'echo out of luck >&2; exit 9'", &[], "out of luck");
    void("sh -c 'kill -SEGV $$'", &[], "signal 11");
    void("head -c 1000000000 /dev/zero", &["--output-limit", "1MB"], "more than 1000000 bytes");
    void("true", &["--check", "false"], "rejected");
    void("true", &["--prepare", "exit 4"], "--prepare");
    void("echo different", &["--check", "same-output"], "output");
}

#[test]
fn a_program_that_is_replaced_while_it_is_measured_is_told() {
    let place = Place::new();
    let program = place.script("program", "exit 0");
    let hook = format!(
        "printf '#!/bin/sh\\nexit 0 # new\\n' > {program}.new; \
                        chmod +x {program}.new; mv {program}.new {program}"
    );
    let words = ["compare", &program, "true", "--conclude", &hook, "--runs", "3", "--no-wait"];
    let said = place.run(&[words.as_slice(), &["--json", "-"]].concat());
    let json = said.json();
    let mut warnings = json["warnings"].as_array().unwrap().iter();
    assert!(warnings.any(|warning| warning["code"] == "file_changed"), "{said:?}");
}

#[test]
fn output_that_cannot_be_written_is_an_error() {
    let place = Place::new();
    for words in [&["--help"][..], &["history"], &["completions", "bash"]] {
        let full = std::fs::File::create("/dev/full").unwrap();
        let said = place.command(words).stdout(full).output().unwrap();
        assert_eq!(said.status.code(), Some(65), "{words:?}");
        let err = String::from_utf8(said.stderr).unwrap();
        assert!(err.contains("cannot write to standard output"), "{words:?}: {err}");
    }
}

#[test]
fn a_self_check_of_a_failing_program_says_why() {
    let said = Place::new().run(&["aa", "sh -c 'exit 5'", "--no-wait"]);
    assert_eq!(said.code, 3);
    assert!(said.out.contains("exit status 5"), "{}", said.out);
}

/// All stay in the result: those that failed at once, and those of which nothing is finite.
#[test]
fn contestants_without_samples_stay_in_the_result() {
    let place = Place::new();
    for (words, code) in [
        (vec!["compare", "false", "true", "--no-wait"], 3),
        (vec!["compare", "sleep 9", "sleep 8", "--timeout", "30ms", "--runs", "3"], 2),
    ] {
        let said = place.run(&[&words[..], &["--json", "-"]].concat());
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert_eq!(said.json()["contestants"].as_array().map(Vec::len), Some(2), "{words:?}");
    }
}

#[test]
fn a_contestant_that_changes_its_output() {
    let place = Place::new();
    let count = place.path("count").display().to_string();
    let changing = place.script(
        "changing",
        &format!("echo x >> {count}; test $(wc -l < {count}) -gt 6 && echo other || echo same"),
    );
    let said = place.run(&["compare", &changing, "echo same", "--no-wait"]);
    assert_eq!(said.code, 3, "{said:?}");
    let text = flat(&said.out);
    assert!(text.contains("changed its output"), "{text}");
}

#[test]
fn a_contestant_that_hangs_is_an_outcome() {
    let place = Place::new();
    let words = ["compare", "true", "sleep 60", "--timeout", "50ms", "--no-wait", "--json", "-"];
    let said = place.run(&words);
    assert_eq!(said.code, 0, "{said:?}");
    let json = said.json();
    assert_eq!(json["verdicts"][0]["winner"], "A");
    assert_eq!(json["verdicts"][0]["ratio"]["high"], serde_json::Value::Null);
    let warned = json["warnings"].as_array().unwrap().iter();
    assert!(warned.clone().any(|warning| warning["code"] == "timed_out"), "{json}");
}

#[test]
fn a_child_left_behind_is_ended_with_a_warning() {
    let place = Place::new();
    let leaves = place.script("leaves", "sleep 4242 &");
    let said = place.run(&["compare", &leaves, "true", "--no-wait", "--runs", "3", "--json", "-"]);
    let json = said.json();
    let warned = json["warnings"].as_array().unwrap().iter();
    assert!(warned.clone().any(|warning| warning["code"] == "left_behind"), "{said:?}");
    assert!(!is_running("sleep\x004242\0"), "the child still runs");
}

/// Whether a process with this command line runs.
fn is_running(command_line: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let mut lines = processes.map(|process| std::fs::read(process.path().join("cmdline")));
    lines.any(|line| line.is_ok_and(|line| line == command_line.as_bytes()))
}
