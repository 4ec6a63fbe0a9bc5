//! `compare` and what it leaves behind, on real programs.

use crate::common::{Place, flat, validate};

const QUICK: [&str; 4] = ["--budget", "400 rounds", "--no-wait", "--seed=fixed"];

fn with<'a>(words: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    words.iter().chain(more).copied().collect()
}

#[test]
fn a_big_difference_is_found_and_every_number_is_kept() {
    let place = Place::new();
    let words = ["compare", "sleep 0.002", "sleep 0.02", "--json", "-"];
    let said = place.run(&with(&words, &QUICK));
    assert_eq!(said.code, 0, "{said:?}");
    let json = said.json();
    validate(&json);
    assert_eq!(json["verdicts"][0]["verdict"], "holds");
    assert_eq!(json["verdicts"][0]["winner"], "A");
    assert!(json["verdicts"][0]["ratio"]["low"].as_f64().unwrap() > 1.0);
    let again = place.run(&["replay", "--json", "-"]);
    assert_eq!(again.json(), json, "replay repeats the result, seconds and command included");
    let shown = place.run(&["show", "--json", "-"]);
    assert_eq!(shown.json(), json);
}

#[test]
fn claims_give_the_exit_code() {
    let place = Place::new();
    for (claim, code) in [
        ("A is faster than B", 0),
        ("B is faster than A", 1),
        ("A is at least 1.5x faster than B", 0),
        ("A is within 5% of B", 1),
        ("A is no more than 2% slower than B", 0),
        ("A uses less memory than B", 2),
    ] {
        let words = ["compare", "sleep 0.001", "sleep 0.01", "--claim", claim, "--quiet"];
        let more = ["--budget", "80 rounds", "--no-wait"];
        let said = place.run(&with(&words, &more));
        assert_eq!(said.code, code, "{claim}: {said:?}");
    }
}

/// B never ends by itself, so each of its runs counts as the time-out.
#[test]
fn means_are_compared_up_to_the_time_out() {
    let place = Place::new();
    let words = ["compare", "sleep 0.001", "sleep 60", "--mean", "--timeout", "200ms"];
    let said = place.run(&with(&words, &["--no-wait", "--runs", "2", "--seed=fixed"]));
    assert_eq!(said.code, 2, "{said:?}");
    assert!(said.out.contains("which of A and B is faster in the mean"), "{said:?}");
    let said = place.run(&["resume", "latest", "--budget", "100 rounds", "--json", "-"]);
    assert_eq!(said.code, 0, "{said:?}");
    let json = said.json();
    validate(&json);
    let claim = &json["verdicts"][0];
    assert_eq!((claim["centre"].as_str(), claim["cap"].as_f64()), (Some("mean"), Some(2e8)));
    assert_eq!(claim["winner"], "A");
    let again = place.run(&["replay", "--json", "-"]);
    assert_eq!(again.json()["verdicts"], json["verdicts"]);
    let said = flat(&place.run(&["show", "latest"]).out);
    assert!(said.starts_with("A is faster than B in the mean: B's mean time / A's is "), "{said}");
    assert!(said.contains("counting what takes longer than 200 ms as 200 ms"), "{said}");
}

#[test]
fn a_mean_without_a_cap_is_refused_with_the_reason() {
    let place = Place::new();
    for (more, expected) in [
        (&["--mean"][..], "say --timeout, such as --timeout 5s; a run that takes longer is ended"),
        (&["--mean", "--timeout", "1s", "--by", "memory"], "peak memory, which no time-out caps"),
        (&["--mean", "--timeout", "1s", "--adjust", "slot"], "not go with --centre mean"),
        (&["--mean", "--centre", "median"], "cannot be used with"),
    ] {
        let said = place.run(&with(&["compare", "true", "true"], more));
        assert_eq!((said.code, said.err.contains(expected)), (64, true), "{said:?}");
    }
    let power = ["power", "--centre", "mean", "--noise", "2%"];
    let aa = ["aa", "true", "--mean", "--timeout", "1s"];
    let ours = concat!(env!("CARGO_MANIFEST_DIR"), "/../../studies");
    let study = ["study", "run", "parse-uint8", "--centre", "mean", "--studies", ours];
    for (words, expected) in [
        (&power[..], "cannot be forecast"),
        (&aa, "leave --mean out"),
        (&study, "the time of a call has none"),
    ] {
        let said = place.run(words);
        assert_eq!((said.code, said.err.contains(expected)), (64, true), "{said:?}");
    }
}

#[test]
fn hooks_input_parameters_and_checks() {
    let place = Place::new();
    let log = place.path("log").display().to_string();
    let hook = |word: &str| format!("echo {word} >> {log}");
    let (setup, prepare) = (hook("setup-{n}"), hook("prepare"));
    let (conclude, cleanup) = (hook("conclude"), hook("cleanup"));
    let words = [
        "compare",
        "head -n {n}",
        "--parameter",
        "n=1,2",
        "--input",
        "text.txt",
        "--setup",
        &setup,
        "--prepare",
        &prepare,
        "--conclude",
        &conclude,
        "--cleanup",
        &cleanup,
        "--check",
        "grep -q faster",
        "--runs",
        "3",
        "--resolution",
        "0",
        "--json",
        "-",
    ];
    let said = place.run(&words);
    assert_eq!(said.json()["contestants"][1]["command"], "head -n 2", "{said:?}");
    assert_eq!(said.json()["contestants"][0]["workload"], "text.txt");
    let log = std::fs::read_to_string(log).unwrap();
    let count = |word: &str| log.lines().filter(|line| *line == word).count();
    assert_eq!((count("setup-1"), count("setup-2"), count("cleanup")), (1, 1, 2));
    assert_eq!((count("prepare"), count("conclude")), (9, 9), "three rounds of three runs");
    assert!(log.starts_with("setup-1\nsetup-2\nprepare\nconclude\n"), "{log}");
}

#[test]
fn a_report_fits_pipes_colours_and_narrow_terminals() {
    let place = Place::new();
    let words = ["compare", "sleep 0.001", "sleep 0.01", "--no-wait"];
    let said = place.run(&words);
    assert!(said.out.contains("A is faster than B"), "{said:?}");
    assert!(!said.out.contains('\x1b'), "no colour in a pipe");
    assert!(said.out.lines().all(|line| line.chars().count() <= 80), "{}", said.out);
    let text = flat(&said.out);
    assert!(text.contains("these exact binaries on this machine"), "the scope: {text}");
    let mut narrow = place.command(&["show"]);
    let narrow = crate::common::Ran::of(narrow.env("COLUMNS", "60").output().unwrap());
    assert!(narrow.out.lines().all(|line| line.chars().count() <= 60), "{}", narrow.out);
    let mut ascii = place.command(&["show"]);
    let ascii = crate::common::Ran::of(ascii.env("LC_ALL", "C").output().unwrap());
    assert!(ascii.out.is_ascii(), "{}", ascii.out);
}

#[test]
fn history_lists_and_export_gives_data_that_replays() {
    let place = Place::new();
    place.run(&["compare", "sleep 0.001", "sleep 0.01", "--no-wait", "--quiet"]);
    place.run(&["compare", "true", "true", "--runs", "2", "--resolution", "0", "--quiet"]);
    let history = place.main(&["history"]);
    assert!(history.out.contains("holds") && history.out.contains("undecided"), "{history:?}");
    let json = place.main(&["history", "--json"]).json();
    assert_eq!(json.as_array().unwrap().len(), 2);
    let first = json[1]["journal"].as_str().unwrap().to_owned();
    let journal = place.path("run.jsonl").display().to_string();
    let said = place.main(&["export", &first, "--csv", "-", "--journal", &journal]);
    let rounds = json[1]["rounds"].as_u64().unwrap() as usize;
    assert_eq!(said.out.lines().count(), 1 + 2 * rounds, "a header and two samples a round");
    let replayed = place.main(&["replay", &journal, "--json", "-"]).json();
    assert_eq!(replayed["verdicts"][0]["winner"], "A");
    assert_eq!(place.main(&["replay", &first[..4]]).code, 0);
    assert_eq!(replayed["chain_head"].as_str().unwrap().len(), 64);
}

/// What no arithmetic sees: which commands the verdict is about.
#[test]
fn an_edited_journal_is_refused_and_the_report_names_the_head() {
    let place = Place::new();
    let said = place.run(&["compare", "true", "sleep 0.01", "--no-wait", "--json", "r.json"]);
    let json = place.main(&["show", "--json", "-"]).json();
    let head = json["chain_head"].as_str().unwrap();
    assert!(said.out.contains(&format!("--head {}", &head[..16])), "{said:?}");
    assert_eq!(place.main(&["replay", "--head", &head[..16], "--quiet"]).code, 0);
    let refused = place.main(&["replay", "--head", "0123456789abcdef"]);
    assert!(refused.code == 65 && refused.err.contains("its head is"), "{refused:?}");
    let usage = place.main(&["replay", "--head", "latest"]);
    assert!(usage.code == 64 && usage.err.contains("digits"), "{usage:?}");
    let path = place.path("run.jsonl");
    let journal = path.display().to_string();
    place.main(&["export", "--journal", &journal]);
    let text = std::fs::read_to_string(&path).unwrap();
    let check = |text: String, code: i32, expected: &str| {
        std::fs::write(&path, text).unwrap();
        let said = place.main(&["replay", &journal]);
        let both = said.out.clone() + &said.err;
        assert!(said.code == code && both.contains(expected), "{said:?}");
    };
    check(text.replace("sleep 0.01", "sleep 0.02"), 65, "link 0: the header is not what was");
    check(text.replacen("\"user_ns\":", "\"user_ns\":1", 1), 65, "round 0 is not what was");
    let unchained: Vec<&str> =
        text.lines().filter(|line| !line.contains("\"line\":\"chain\"")).collect();
    let unchained = unchained.join("\n");
    check(unchained.clone(), 65, "of the engine always writes");
    let swapped = unchained.replace("sleep 0.01", "sleep 0.02");
    check(swapped, 65, "of the engine always writes");
    check(text, 0, "--head");
    let old = include_str!("../../../engine/tests/golden/1/order-left.jsonl");
    check(old.to_owned(), 0, "has no chain: an older tiebreak made it");
}

#[test]
fn interrupted_it_keeps_everything_and_resume_goes_on() {
    let place = Place::new();
    // So small an error that nothing is proven before the budget ends.
    let words = ["compare", "sleep 0.02", "sleep 0.02", "--error", "1e-12", "--resolution", "0"];
    let mut command = place.command(&words);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let child = command.spawn().unwrap();
    place.wait_for_rounds(3);
    // Not -INT, which shells let background jobs ignore, and what is ignored stays ignored.
    let signal = format!("kill -TERM {}", child.id());
    let kill = std::process::Command::new("sh").args(["-c", &signal]).status();
    assert!(kill.unwrap().success());
    let said = crate::common::Ran::of(child.wait_with_output().unwrap());
    assert_eq!(said.code, 130, "{said:?}");
    assert!(said.out.contains("Interrupted"), "{said:?}");
    // Both say the same.
    let json = place.main(&["history", "--json"]).json();
    let command = format!("tiebreak resume {}", json[0]["journal"].as_str().unwrap());
    assert!(said.err.contains(&format!("'{command}' goes on")), "{said:?}");
    assert!(said.out.contains(&format!("To go on: {command}; ")), "{said:?}");
    let refused = place.run(&["resume", "--more", "latest"]);
    let hint = "the name of a run goes first: tiebreak resume RUN --more";
    assert!(refused.code == 64 && refused.err.contains(hint), "{refused:?}");
    let resumed = place.run(&["resume", "--budget", "60 rounds", "--json", "-"]);
    assert_eq!(resumed.json()["rounds"], 60, "{resumed:?}");
    assert_eq!(place.run(&["replay"]).code, 2);
}

#[test]
fn resume_goes_back_to_the_folder_where_the_run_began() {
    let place = Place::new();
    let words = ["compare", "cat text.txt", "cat ./text.txt", "--error", "1e-12"];
    let more = ["--resolution", "0", "--runs", "2", "--no-wait", "--quiet"];
    assert_eq!(place.run(&with(&words, &more)).code, 2);
    let mut elsewhere = place.command(&["resume", "--budget", "4 rounds", "--json", "-"]);
    let said = crate::common::Ran::of(elsewhere.current_dir("/").output().unwrap());
    assert_eq!(said.json()["rounds"], 4, "{said:?}");
}

#[test]
fn killed_it_loses_no_finished_round() {
    let place = Place::new();
    let words = [
        "compare",
        "sleep 0.01",
        "sleep 0.01",
        "--error",
        "1e-12",
        "--resolution",
        "0",
        "--no-wait",
        "--seed=k",
    ];
    let mut before = 0;
    for kill in 0..3 {
        let mut command =
            if kill == 0 { place.command(&words) } else { place.command(&["resume"]) };
        let mut child = command.stdout(std::process::Stdio::null()).spawn().unwrap();
        let seen = place.wait_for_rounds(before + 4);
        child.kill().unwrap();
        child.wait().unwrap();
        let kept = place.rounds();
        assert!(kept >= seen, "{kept} of at least {seen} finished rounds were kept");
        before = kept;
    }
    let said = place.run(&["resume", "--budget", "80 rounds", "--json", "-"]);
    let json = said.json();
    assert_eq!(json["rounds"], 80, "{said:?}");
    assert!(json["lost"].as_u64().unwrap() <= 3);
    assert_eq!(place.run(&["history", "--json"]).json().as_array().unwrap().len(), 1);
    assert_eq!(place.run(&["replay"]).code, 2);
}
