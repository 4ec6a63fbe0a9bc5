//! `compare --base`: two revisions of a tiny repository, and gates.

use crate::common::{Place, Ran};
use std::path::Path;

/// Builds the program, which is a script that counts to a number of a file.
const BUILD: &str = "cp app.sh app && chmod +x app";
const APP: &str = "#!/bin/sh\nn=$(cat number)\nwhile [ $n -gt 0 ]; do n=$((n - 1)); done\n";
const QUICK: [&str; 3] = ["--no-wait", "--quiet", "--seed=fixed"];

/// A place that is a repository: `main` counts to 1000, `same` too, and `slow` to 20 000.
fn repository() -> Place {
    let place = Place::new();
    place.git(&["init", "--quiet", "--initial-branch", "main"]);
    std::fs::write(place.path("app.sh"), APP).unwrap();
    for (branch, number) in [("main", "1000"), ("same", "1000"), ("slow", "20000")] {
        if branch != "main" {
            place.git(&["switch", "--quiet", "--create", branch, "main"]);
        }
        std::fs::write(place.path("number"), number).unwrap();
        std::fs::write(place.path("notes"), branch).unwrap();
        place.git(&["add", "app.sh", "number", "notes"]);
        place.git(&["commit", "--quiet", "--message", branch]);
    }
    std::fs::create_dir(place.path("temporary")).unwrap();
    place
}

fn compare<'a>(base: &'a str, head: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = ["compare", "--base", base, "--head", head, "--build", BUILD, "./app"];
    [&words[..], &QUICK, more].concat()
}

/// The command as a process, whose worktrees lie in the place.
fn command(place: &Place, words: &[&str]) -> std::process::Command {
    let mut command = place.command(words);
    // Outside of the repository, whose own folder is this one's parent.
    command.env("TMPDIR", outside(place)).env("GIT_CONFIG_GLOBAL", "/dev/null");
    command
}

fn outside(place: &Place) -> std::path::PathBuf {
    place.folder().with_extension("outside")
}

fn run(place: &Place, words: &[&str]) -> Ran {
    let outside = outside(place);
    std::fs::create_dir_all(&outside).unwrap();
    let said = Ran::of(command(place, words).output().unwrap());
    assert_clean(place, &outside);
    std::fs::remove_dir(&outside).unwrap();
    said
}

/// No worktree next to the repository's own, and nothing in the folder for temporary files.
fn assert_clean(place: &Place, outside: &Path) {
    let worktrees = place.git(&["worktree", "list"]);
    assert_eq!(worktrees.lines().count(), 1, "{worktrees}");
    let left: Vec<_> = std::fs::read_dir(outside).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn only_a_proof_closes_the_gate() {
    let place = repository();
    let check = |head: &str, more: &[&str], code: i32, verdict: &str| {
        let words = compare("main", head, &[more, &["--json", "-"]].concat());
        let said = run(&place, &words);
        assert_eq!(said.code, code, "{head} {more:?}: {said:?}");
        let json = said.json();
        assert_eq!(json["verdicts"][0]["verdict"], verdict, "{head} {more:?}");
        let names: Vec<_> = (0..2).map(|side| json["contestants"][side]["name"].clone()).collect();
        assert_eq!(names, ["base", "head"]);
        let passed = said.out.contains("gate_passed");
        assert_eq!(passed, verdict == "undecided" && code == 0, "{head} {more:?}: {}", said.out);
    };
    let wide = ["--max-slowdown", "90%"];
    check("same", &wide, 0, "holds");
    check("slow", &wide, 1, "refuted");
    check("slow", &["--runs", "1"], 0, "undecided");
    check("slow", &["--runs", "1", "--strict"], 1, "undecided");
    check("slow", &["--claim", "head is faster than base"], 1, "refuted");
    check("slow", &["--claim", "base is faster than head", "--strict"], 0, "holds");
}

#[test]
fn the_same_race_again_is_known_although_its_worktrees_are_others() {
    let place = repository();
    let again = |head: &str| {
        let said = run(&place, &compare("main", head, &["--runs", "2", "--json", "-"]));
        said.out.contains("\"repeated\"")
    };
    assert_eq!([again("same"), again("same"), again("slow")], [false, true, false]);
    let other = "head is no more than 3% slower than base";
    let said = run(&place, &compare("main", "same", &["--runs", "2", "--claim", other]));
    assert!(!said.out.contains("repeated"), "{said:?}");
}

#[test]
fn what_is_done_is_said() {
    let place = repository();
    let words = compare("main", "slow", &["--runs", "2"]);
    let loud: Vec<_> = words.into_iter().filter(|word| *word != "--quiet").collect();
    let said = run(&place, &loud);
    assert!(said.err.contains("base: checking main out ("), "{}", said.err);
    assert!(said.err.contains(&format!("head: {BUILD}")), "{}", said.err);
    assert!(said.out.contains("head is no more than 2% slower than base"), "{}", said.out);
    std::fs::write(place.path("number"), "7").unwrap();
    let said = run(&place, &compare("main", "HEAD", &["--runs", "2"]));
    assert!(said.err.contains("warning: changes that are not committed"), "{}", said.err);
    let said = run(&place, &compare("main", ".", &["--runs", "2", "--build-jobs", "2"]));
    assert_eq!((said.code, said.err.as_str()), (0, ""), "{said:?}");
    let dry = run(&place, &compare("main", "slow", &["--dry-run"]));
    assert!(dry.out.contains("base: main (") && dry.out.contains(BUILD), "{}", dry.out);
    assert_eq!(place.rounds(), 2, "a dry run is no run");
}

#[test]
fn what_cannot_be_is_said() {
    let place = repository();
    let check = |words: &[&str], code: i32, says: &str| {
        let said = run(&place, words);
        assert_eq!(said.code, code, "{words:?}: {said:?}");
        assert!(said.err.contains(says), "{words:?} should say '{says}': {}", said.err);
        let errors = said.err.lines().filter(|line| line.starts_with("error")).count();
        assert_eq!(errors, 1, "{}", said.err);
    };
    check(&compare("mian", "slow", &[]), 65, "'mian' cannot be raced");
    check(&compare("-x", "slow", &[]), 64, "is not a revision");
    check(&compare("main", "slow", &["./other"]), 64, "here are 2");
    check(&compare("main", "slow", &["--name", "x"]), 64, "leave --name out");
    check(&compare("main", "slow", &["--pairs", "all"]), 64, "--pairs");
    check(&compare("main", "slow", &["--max-slowdown", "100%"]), 64, "--max-slowdown 2%");
    check(&compare("main", "slow", &["--claim", "A is faster than B"]), 64, "head");
    let failing = ["compare", "--base", "main", "--build", "echo no such rule; exit 2", "./app"];
    check(&failing, 65, "failed with status 2:\nno such rule\nto make it again: git worktree add");
    let other = ["compare", "--base", "main", "--build", "true", "./app"];
    check(&other, 65, "base has no program './app' after its build");
    check(&["compare", "--head", "slow", "./app"], 64, "--base");
    check(&["compare", "--strict", "true", "true"], 64, "--gate or --base");
    check(&["compare", "--gate", "true", "true"], 64, "--gate needs a --claim");
    let within = Ran::of(
        place
            .command(&compare("main", "slow", &[]))
            .env("TMPDIR", place.path("temporary"))
            .output()
            .unwrap(),
    );
    assert!(within.code == 65 && within.err.contains("within the repository"), "{within:?}");
    let nowhere = Place::new();
    let said = nowhere.run(&compare("main", "slow", &[]));
    assert!(said.code == 65 && said.err.contains("not a git repository"), "{said:?}");
}

#[test]
fn gates_of_programs() {
    let place = Place::new();
    let check = |claim: &str, more: &[&str], code: i32| {
        let words = ["compare", "sleep 0.001", "sleep 0.01", "--gate", "--claim", claim];
        let said = place.run(&[&words[..], &QUICK, more].concat());
        assert_eq!(said.code, code, "{claim} {more:?}: {said:?}");
    };
    check("A is faster than B", &[], 0);
    check("B is no more than 2% slower than A", &[], 1);
    check("A is faster than B", &["--runs", "1"], 0);
    check("A is faster than B", &["--runs", "1", "--strict"], 1);
}

/// Interrupts a command as soon as `is_time`; gives what it said.
fn interrupted(place: &Place, words: &[&str], is_time: impl Fn() -> bool) -> Ran {
    let outside = outside(place);
    std::fs::create_dir_all(&outside).unwrap();
    let mut command = command(place, words);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    for _ in 0..6000 {
        if is_time() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    // Not -INT, which shells let background jobs ignore, and what is ignored stays ignored.
    let signal = format!("kill -TERM {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &signal]).status().unwrap().success());
    let said = Ran::of(child.wait_with_output().unwrap());
    assert_clean(place, &outside);
    std::fs::remove_dir(&outside).unwrap();
    said
}

#[test]
fn interrupted_at_any_moment_it_leaves_no_worktree() {
    let place = repository();
    let ready = place.path("ready");
    let build = format!("echo > '{}'; sleep 60", ready.display());
    let words = ["compare", "--base", "main", "--build", &build, "./app"];
    let said = interrupted(&place, &words, || ready.exists());
    assert_eq!(said.code, 130, "{said:?}");
    let endless = ["--error", "1e-12", "--claim", "head is faster than base"];
    let words = compare("main", "same", &endless);
    let said = interrupted(&place, &words, || place.rounds() >= 2);
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.err.contains("its worktrees are gone"), "{}", said.err);
    let resumed = place.run(&["resume", "latest"]);
    assert_eq!(resumed.code, 65, "{resumed:?}");
    assert!(resumed.err.contains("--keep"), "{}", resumed.err);
}

#[test]
fn worktrees_that_are_kept_can_be_gone_on_with() {
    let place = repository();
    let outside = outside(&place);
    std::fs::create_dir_all(&outside).unwrap();
    let words = compare("main", "slow", &["--keep", "--runs", "2"]);
    let said = Ran::of(command(&place, &words).output().unwrap());
    assert!(said.code == 0 && said.err.contains("git worktree prune"), "{said:?}");
    let more = place.run(&["resume", "latest", "--budget", "20s", "--quiet"]);
    assert_eq!(more.code, 1, "{more:?}");
    std::fs::remove_dir_all(&outside).unwrap();
}

#[test]
fn worktrees_that_are_kept_outlive_a_kill_and_the_next_race() {
    let place = repository();
    let outside = outside(&place);
    std::fs::create_dir_all(&outside).unwrap();
    let endless = ["--keep", "--error", "1e-12", "--claim", "head is faster than base"];
    let mut killed = command(&place, &compare("main", "same", &endless));
    killed.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null());
    let mut killed = killed.spawn().unwrap();
    place.wait_for_rounds(2);
    killed.kill().unwrap();
    killed.wait().unwrap();
    let rounds = place.rounds() + 20;
    let id = place.run(&["history", "--json"]).json()[0]["journal"].as_str().unwrap().to_owned();
    let other = compare("main", "same", &["--runs", "1"]);
    let other = Ran::of(command(&place, &other).output().unwrap());
    assert!(other.code == 0, "{other:?}");
    let budget = format!("{rounds} rounds");
    let more = place.run(&["resume", &id, "--budget", &budget, "--json", "-"]);
    assert_eq!((more.code, &more.json()["rounds"]), (0, &rounds.into()), "{more:?}");
    std::fs::remove_dir_all(&outside).unwrap();
}

#[test]
fn submodules_that_are_initialised_come_along() {
    let (place, part) = (repository(), repository());
    let settings = part.path("settings");
    std::fs::write(&settings, "[protocol \"file\"]\n\tallow = always\n").unwrap();
    let url = part.folder().display().to_string();
    let allow = ["-c", "protocol.file.allow=always"];
    place.git(&[&allow[..], &["submodule", "--quiet", "add", &url, "part"]].concat());
    place.git(&["commit", "--quiet", "--message", "A part"]);
    let build = format!("{BUILD} && cat part/app.sh");
    let words = ["compare", "--base", "HEAD", "--build", &build, "./app", "--runs", "1", "--quiet"];
    let outside = outside(&place);
    std::fs::create_dir_all(&outside).unwrap();
    let mut command = command(&place, &words);
    let said = Ran::of(command.env("GIT_CONFIG_GLOBAL", &settings).output().unwrap());
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.err.contains("the same commit"), "{}", said.err);
    assert_clean(&place, &outside);
    std::fs::remove_dir(&outside).unwrap();
}
