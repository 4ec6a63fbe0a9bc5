//! A print of a machine: on a screen, as a page, as JSON, and for a page of verdicts.

use crate::{ListRow, MachinePrint, Probe, json, list, machine_page, measured, page, screen, svg};
use serde_json::Value;
use tiebreak_core::fingerprint::{Fact, Fingerprint};
use tiebreak_report::Look;
use unicode_width::UnicodeWidthStr;

mod fixture;

use fixture::{facts, print};

const LOOK: Look = Look { width: 80, color: false, unicode: true };
const SCHEMA: &str = include_str!("../../../docs/schema/machine-1.schema.json");

fn check_width(what: &str, text: &str, look: Look) {
    for line in text.lines() {
        assert!(line.width() <= look.width, "{what} at {}: {line:?}", look.width);
        assert_eq!(line, line.trim_end(), "{what}");
    }
}

fn looks() -> impl Iterator<Item = Look> {
    let looks = [40, 41, 60, 80, 100, 200]
        .map(|width| [true, false].map(|unicode| Look { width, color: false, unicode }));
    looks.into_iter().flatten()
}

#[test]
fn the_screen_as_it_was_approved() {
    insta::assert_snapshot!(screen(&print(), Some("m7f3k2x"), &Look { width: 100, ..LOOK }));
}

#[test]
fn the_screen_fits_and_names_every_probe_that_was_asked_for() {
    for look in looks() {
        let text = screen(&print(), Some("m7f3k2x"), &look);
        check_width("screen", &text, look);
        for probe in Probe::ALL {
            let is_named = text.lines().any(|line| line.starts_with(probe.words()));
            assert_eq!(is_named, print().state(probe).is_some(), "{}: {text}", probe.words());
            check_width(probe.name(), &page(&print(), probe, &look), look);
        }
    }
}

#[test]
fn what_is_not_known_of_a_machine_is_left_out() {
    let check = |print: &MachinePrint, first: &str, last: &str| {
        let text = screen(print, None, &Look { width: 100, ..LOOK });
        assert_eq!(text.lines().next(), Some(first));
        assert_eq!(text.lines().last(), Some(last));
    };
    let mut other = print();
    other.machine = Fingerprint::default();
    other.interrupted = true;
    let first = "2026-11-21 20:45 UTC: a processor without a name";
    check(&other, first, "stopped after 27 s, before all of it was measured");
    let metal = [("cpu_model", "Bare\u{1b}[31m"), ("hypervisor", "none"), ("kernel", "6.1")];
    let metal = metal.map(|(key, text)| (key.to_owned(), Fact::Text(text.to_owned())));
    other.machine = Fingerprint(metal.into());
    (other.interrupted, other.is_quick) = (false, false);
    check(&other, "2026-11-21 20:45 UTC: Bare?[31m, Linux 6.1", "took 27 s");
}

#[test]
fn prints_in_a_list() {
    let row = |name: &str, taken_unix_ms, took_ns| ListRow {
        name: name.to_owned(),
        taken_unix_ms,
        took_ns,
        machine: facts(),
    };
    let rows =
        [row("m7f3k2x", 1_795_293_900_000, 26_700_000_000), row("m0mrxfw", 0, 4_100_000_000)];
    insta::assert_snapshot!(list(&rows, &Look { width: 100, ..LOOK }));
    for look in looks().filter(|look| look.width >= 60) {
        check_width("list", &list(&rows, &look), look);
    }
    assert!(list(&[], &LOOK).contains("tiebreak machine"));
}

#[test]
fn a_print_obeys_the_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    jsonschema::meta::validate(&schema).unwrap();
    let schema = jsonschema::draft202012::new(&schema).unwrap();
    let good: Value = serde_json::from_str(&json(&print())).unwrap();
    let errors: Vec<_> = schema.iter_errors(&good).map(|error| error.to_string()).collect();
    assert_eq!(errors, [""; 0], "{good:#}");
    assert_eq!(serde_json::from_value::<MachinePrint>(good.clone()).unwrap(), print());
    for (probe, wrong) in [
        ("energy", serde_json::json!({ "state": "measured" })),
        ("energy", serde_json::json!({ "state": "unavailable", "what": "energy" })),
        ("cores", serde_json::json!({ "state": "degraded", "value": {}, "reasons": [] })),
        ("cores", serde_json::json!({ "state": "loud", "value": {} })),
        ("noise", serde_json::json!({ "state": "inconclusive", "why": "" })),
        ("taste", serde_json::json!({ "state": "measured", "value": {} })),
    ] {
        let mut bad = good.clone();
        bad[probe] = wrong;
        assert!(!schema.is_valid(&bad), "{bad:#}");
    }
}

#[test]
fn a_page_of_a_print_has_everything_and_nothing_from_elsewhere() {
    let text = machine_page(&print(), Some("m7f3k2x"));
    for probe in Probe::ALL.into_iter().filter(|probe| print().state(*probe).is_some()) {
        assert!(text.contains(&format!("<h2>{}</h2>", probe.words())), "{}", probe.words());
    }
    let drawn = |probe: &Probe| svg(&print(), *probe).is_some_and(|picture| !picture.is_empty());
    let pictures = Probe::ALL.iter().filter(|probe| drawn(probe)).count();
    assert_eq!(text.matches("src=\"data:image/svg+xml,").count(), pictures);
    assert_eq!(text.matches(" src=").count() + text.matches(" href=").count(), pictures);
    for part in ["&lt;64 &amp; 128&gt;", "tiebreak machine show m7f3k2x", "Permission denied"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    for tag in ["style", "title", "pre", "h1", "h2", "details", "summary"] {
        let ends = text.matches(&format!("</{tag}>")).count();
        let starts =
            [format!("<{tag}>"), format!("<{tag} ")].map(|start| text.matches(&start).count());
        assert_eq!(starts[0] + starts[1], ends, "{tag}");
    }
}

#[test]
fn a_page_of_verdicts_gets_what_the_screen_says() {
    let measured = measured(&print());
    assert_eq!(measured.taken_unix_ms, print().taken_unix_ms);
    let words: Vec<&str> = measured.found.iter().map(|(words, _)| words.as_str()).collect();
    let asked = Probe::ALL.into_iter().filter(|probe| print().state(*probe).is_some());
    assert_eq!(words, asked.map(Probe::words).collect::<Vec<_>>());
    let energy = &measured.found.last().unwrap().1;
    assert!(energy.last().unwrap().contains("hwmon, /dev/cpu/0/msr)"), "{energy:?}");
}
