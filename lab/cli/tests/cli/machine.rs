//! Prints of the machine: kept, shown again, and named by the runs that come after them.

use crate::common::{Place, Ran, validate, validate_print};
use serde_json::Value;
use tiebreak_lab::probes::Probe;

/// A look at everything that is as short as it may be.
const LOOK: [&str; 3] = ["machine", "--budget", "20ms"];

/// Measures the machine and gives the name under which the print is kept.
fn measure(place: &Place) -> (String, Ran) {
    let said = place.main(&LOOK);
    assert_eq!(said.code, 0, "{said:?}");
    let name = said.out.split("tiebreak machine show ").nth(1).map(str::trim).unwrap_or_default();
    assert!(name.starts_with('m'), "{said:?}");
    (name.to_owned(), said)
}

fn names(place: &Place) -> Vec<String> {
    let said = place.main(&["machine", "show", "--list"]);
    let rows = said.out.lines().skip(1);
    rows.map(|row| row.split(' ').next().unwrap_or_default().to_owned()).collect()
}

fn check_refused(place: &Place, words: &[&str], code: i32, parts: &[&str]) {
    let said = place.main(words);
    assert_eq!(said.code, code, "{words:?}: {said:?}");
    for part in parts {
        assert!(said.err.contains(part), "{words:?}: {part}: {said:?}");
    }
}

#[test]
fn a_print_is_kept_and_shown_again() {
    let place = Place::new();
    let (first, screen) = measure(&place);
    let (second, _) = measure(&place);
    assert_eq!(names(&place), [second.as_str(), &first]);
    for typed in [first.as_str(), &first[..6]] {
        assert_eq!(place.main(&["machine", "show", typed]).out, screen.out);
    }
    let latest = place.main(&["machine", "show", "--json", "-"]).json();
    validate_print(&latest);
    for probe in Probe::ALL {
        assert!(screen.out.contains(probe.words()), "{}: {screen:?}", probe.words());
        assert!(latest[probe.name()]["state"].is_string(), "{}: {latest:#}", probe.name());
    }
    let shown = place.main(&["machine", "show", "--probe", "noise"]);
    assert_eq!(shown.code, 0, "{shown:?}");
}

#[test]
fn a_file_is_shown_as_a_kept_print_is() {
    let place = Place::new();
    let (_, screen) = measure(&place);
    let [json, html, svg] =
        ["print.json", "print.html", "pictures"].map(|name| place.path(name).display().to_string());
    let words = ["machine", "show", "--json", &json, "--html", &html, "--svg", &svg];
    assert_eq!(place.main(&words).code, 0);
    let of_file = place.main(&["machine", "show", &json]);
    let without_last = |text: &str| text.rsplit_once("\n\n").map(|(head, _)| head.to_owned());
    assert_eq!(without_last(&of_file.out), without_last(&screen.out));
    let page = std::fs::read_to_string(&html).unwrap();
    for probe in Probe::ALL {
        assert!(page.contains(&format!("<h2>{}</h2>", probe.words())), "{}", probe.words());
    }
    assert!(std::path::Path::new(&svg).is_dir());
    let store = place.path("j.db").display().to_string();
    assert_eq!(place.main(&["machine", "show", &store]).out, screen.out);
}

#[test]
fn a_look_at_a_part_of_the_machine_is_not_kept() {
    let place = Place::new();
    let part = place.main(&["machine", "timers", "--budget", "20ms"]);
    assert!([0, 2].contains(&part.code), "{part:?}");
    let said = place.main(&["machine", "--budget", "20ms", "--cpus", "0"]);
    // CPU 0 may not be ours.
    assert!([0, 64].contains(&said.code) && !said.out.contains("kept"), "{said:?}");
    check_refused(&place, &["machine", "show"], 65, &["no store", "--store"]);
    let said = place.main(&["machine", "show", "--list"]);
    assert!(said.code == 0 && said.out.contains("No print"), "{said:?}");
}

#[test]
fn what_cannot_be_kept_is_shown_all_the_same() {
    let place = Place::new();
    let text = place.path("text.txt");
    // A store that was named must be one; the user's own need not.
    let mut named = LOOK.to_vec();
    named.extend(["--store", text.to_str().unwrap()]);
    check_refused(&place, &named, 65, &["not a store"]);
    let output = place.command(&LOOK).env("TIEBREAK_STORE", &text).output().unwrap();
    let said = Ran::of(output);
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.out.contains("core to core") && said.err.contains("not kept"), "{said:?}");
}

#[test]
fn what_is_no_print_is_refused() {
    let place = Place::new();
    let (name, _) = measure(&place);
    let [text, other] = ["text.txt", "other.json"].map(|n| place.path(n).display().to_string());
    std::fs::write(&other, r#"{"schema": "tiebreak/result/1"}"#).unwrap();
    let near = format!("x{}", &name[1..]);
    check_refused(&place, &["machine", "show", &near], 65, &[&near, "did you mean", &name]);
    check_refused(&place, &["machine", "show", &text], 65, &["text.txt", "not JSON"]);
    check_refused(&place, &["machine", "show", &other], 65, &["other.json", "result/1"]);
    check_refused(&place, &["machine", "show", "none.json"], 65, &["none.json does not exist"]);
    check_refused(&place, &["machine", "show", "--probe", "taste"], 64, &["taste", "noise"]);
    check_refused(&place, &["machine", "show", "--list", "--json", "-"], 64, &["--list"]);
}

#[test]
fn a_verdict_names_the_print_of_its_machine() {
    let place = Place::new();
    let compare = ["compare", "true", "true", "--runs", "3", "--json", "-"];
    let before = place.main(&compare).json();
    assert_eq!(before["machine"].get("print"), None);
    let (name, _) = measure(&place);
    let after = place.main(&compare).json();
    validate(&after);
    assert_eq!(after["machine"]["print"], Value::from(name.as_str()));
    let command = format!("tiebreak machine show {name}");
    for words in [&["show"][..], &["replay"], &["report"]] {
        let said = place.main(words);
        assert!(said.out.contains(&command), "{words:?}: {said:?}");
    }
    let page = place.main(&["report"]).out;
    assert!(page.contains("<details>") && page.contains("href=\"#machine\""), "{page}");
    assert!(page.contains("<b>core to core</b>"), "{page}");
    // A journal that went elsewhere names a print that may not be there.
    let journal = place.path("run.jsonl").display().to_string();
    assert_eq!(place.main(&["export", "--journal", &journal]).code, 0);
    let elsewhere = Place::new();
    let page = elsewhere.main(&["report", &journal]).out;
    assert!(page.contains(&command) && !page.contains("<b>core to core</b>"), "{page}");
}

#[test]
fn every_probe_is_a_command_that_says_what_it_finds() {
    let place = Place::new();
    let help = place.run(&["machine", "--help"]).out;
    let words: Vec<&str> = help.split_whitespace().collect();
    let words = words.join(" ");
    for probe in Probe::ALL {
        let row = format!("{} {}", probe.name(), probe.help());
        assert!(words.contains(&row), "{row}: {help}");
        let own = place.run(&["machine", probe.name(), "--help"]).out;
        assert!(own.starts_with(probe.help()), "{own}");
    }
}
