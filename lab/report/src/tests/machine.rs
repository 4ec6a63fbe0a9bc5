//! The print of a machine behind its verdicts.

use super::pages::check_width;
use super::*;
use crate::html::{self, Measured};

fn print() -> Measured {
    let found = |words: &str, text: &str| (words.to_owned(), vec![text.to_owned()]);
    Measured {
        taken_unix_ms: 1_795_293_900_000,
        found: vec![
            found("topology", "2 sockets, 8 cores, 16 CPUs"),
            found("cache line", "inconclusive: the two methods disagree <64 & 128>"),
            found("energy", "not available on this machine (tried hwmon, /dev/cpu/0/msr)"),
        ],
    }
}

/// Results whose machine was measured before.
fn measured_results() -> Vec<(&'static str, RunResult)> {
    let mut results = super::html::pages();
    for (_, run) in &mut results {
        run.machine.print = Some("m7f3k2x".to_owned());
    }
    results
}

#[test]
fn every_verdict_names_the_print_of_its_machine() {
    for (what, run) in measured_results() {
        for look in [LOOK, Look { width: 40, ..LOOK }] {
            let text = terminal::render(&run, &look);
            check_width(what, &text, look);
            let words: Vec<&str> = text.split_whitespace().collect();
            let words = words.join(" ");
            assert!(words.contains("tiebreak machine show m7f3k2x"), "{what}: {text}");
        }
        let value = crate::json::value(&run);
        assert_eq!(value["machine"]["print"], "m7f3k2x", "{what}");
    }
    assert!(crate::json::value(&three())["machine"].get("print").is_none());
}

#[test]
fn a_page_of_verdicts_links_each_to_the_machine_and_stays_small() {
    for (what, run) in measured_results() {
        for shown in [Some(&print()), None] {
            let text = html::page(&run, shown);
            let first = super::html::first_bytes(&text);
            assert!(first < html::FIRST_BYTES, "{what}: {first} bytes");
            let verdicts = text.matches("<div class=\"v ").count();
            assert_eq!(text.matches(" href=\"#machine\">").count(), verdicts, "{what}");
            assert_eq!(text.matches(" id=\"machine\">").count(), 1, "{what}");
            for tag in ["details", "summary", "div", "h2", "pre"] {
                let starts = text.matches(&format!("<{tag}>")).count()
                    + text.matches(&format!("<{tag} ")).count();
                assert_eq!(starts, text.matches(&format!("</{tag}>")).count(), "{what}: {tag}");
            }
        }
    }
    let mut run = three();
    run.machine.print = Some("m7f3k2x".to_owned());
    let text = html::page(&run, Some(&print()));
    for part in ["<p class=\"d\">Measured as m7f3k2x, 2026-11-21 20:45 UTC", "cache line</b>"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    assert!(text.contains("hwmon, /dev/cpu/0/msr)"), "{text}");
    let without = html::page(&run, None);
    assert!(without.contains("tiebreak machine show m7f3k2x") && !without.contains("20:45"));
}
