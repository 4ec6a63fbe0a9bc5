//! Files of claims.

use super::pages::check_width;
use super::*;
use crate::check;
use tiebreak_core::result::{CheckResult, Family};
use tiebreak_core::warning::Warning;

fn all_checks() -> Vec<(&'static str, CheckResult)> {
    let mut many = checked(Family::EBonferroni);
    while many.contests.len() < 7 {
        many.contests.push(many.contests[0].clone());
    }
    let mut long = checked(Family::EBonferroni);
    long.contests[0].run = long_names();
    long.contests[1].name = "very-long-".repeat(30);
    long.file = "folder/".repeat(30);
    let mut none = checked(Family::EBonferroni);
    none.contests.clear();
    let mut held = checked(Family::EBonferroni);
    held.contests.truncate(1);
    held.contests[0].run.verdicts.truncate(1);
    let mut interrupted = unchecked();
    interrupted.interrupted = true;
    vec![
        ("checked", checked(Family::EBonferroni)),
        ("e-BH", checked(Family::EBh)),
        ("begun", unchecked()),
        ("many", many),
        ("long", long),
        ("none", none),
        ("held", held),
        ("interrupted", interrupted),
    ]
}

#[test]
fn a_file_of_claims_reads_well() {
    let mut out = String::new();
    for (what, look) in [
        ("checked", LOOK),
        ("checked", Look { width: 60, unicode: false, ..LOOK }),
        ("e-BH", Look { width: 100, ..LOOK }),
        ("held", LOOK),
        ("interrupted", LOOK),
        ("none", LOOK),
    ] {
        let check = all_checks().into_iter().find(|(name, _)| *name == what).unwrap().1;
        out += &format!("== {what} at {}\n{}", look.width, check::page(&check, &look));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn quiet_verdicts_are_a_line_a_claim_with_its_place() {
    let text = check::verdicts(&checked(Family::EBonferroni));
    assert_eq!(text.lines().count(), 9, "{text}");
    for line in ["claims.toml:4: A is faster than B: 1.23x", "claims.toml:14: Refuted: HEAD is no"]
    {
        assert!(text.lines().any(|found| found.starts_with(line)), "{line}\n{text}");
    }
}

#[test]
fn progress_of_a_file_reads_well() {
    let mut out = String::new();
    for (what, check) in all_checks() {
        out += &format!("== {what}\n{}\n", check::progress(&check, &LOOK, true).join("\n"));
        out += &format!("-- {}\n", check::progress(&check, &LOOK, false).join("\n"));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn pages_of_files_fit_and_keep_to_ascii_without_unicode() {
    for (what, check) in all_checks() {
        for width in [40, 60, 80, 100] {
            for unicode in [true, false] {
                let look = Look { width, unicode, color: false };
                let frame = check::progress(&check, &look, true).join("\n");
                let text = [
                    check::page(&check, &look),
                    frame,
                    check::progress(&check, &look, false).join(""),
                ];
                for text in text {
                    check_width(what, &text, look);
                    assert!(unicode || text.is_ascii(), "{what}: {text}");
                    assert!(!text.contains('\u{1b}'), "{what}");
                }
            }
        }
        assert!(check::progress(&check, &LOOK, true).len() <= 6, "{what}");
    }
}

#[test]
fn what_failed_stands_on_top_in_full() {
    let text = check::page(&checked(Family::EBonferroni), &LOOK);
    let table = text.find("verdict  ").unwrap();
    for place in ["claims.toml:5 sorting", "claims.toml:13 two revisions"] {
        assert!(text.find(place).is_some_and(|at| at < table), "{place}\n{text}");
    }
    assert!(!text.contains("claims.toml:12"), "a gate that passes did not fail\n{text}");
}

#[test]
fn only_e_bonferroni_gives_a_claim_an_error_of_its_own() {
    for (family, has_error) in [(Family::EBonferroni, true), (Family::EBh, false)] {
        let check = checked(family);
        let run = &check.contests[2].run;
        let said = check::sentence(&check, run, &run.verdicts[0]);
        assert_eq!(said.contains("wrong with probability at most 1%"), has_error, "{said}");
        assert!(said.contains("on this machine"), "{said}");
    }
}

#[test]
fn what_is_odd_names_a_contest_once() {
    let mut check = checked(Family::EBonferroni);
    let coarse = Warning::CoarseClock { step: 10.0, unit: None, of_means: false };
    check.contests[1].run.warnings = vec![coarse.clone(); 3];
    check.contests[2].run.warnings = vec![coarse];
    let page = check::page(&check, &LOOK);
    assert!(page.contains("- two revisions, server \"a|b\": the metric comes"), "{page}");
    let page = terminal::render(&check.contests[1].run, &LOOK);
    assert_eq!(page.matches("the metric comes").count(), 1, "{page}");
}

#[test]
fn a_contest_about_means_says_so_and_what_counts_as_what() {
    let mut check = checked(Family::EBonferroni);
    let words = "sorting: ratios of mean times, counting what takes longer than 5 s as 5 s";
    assert!(!check::page(&check, &LOOK).contains("mean times"));
    for claim in &mut check.contests[0].run.verdicts {
        (claim.centre, claim.cap) = (Centre::Mean, Some(5e9));
    }
    for width in [80, 200] {
        let page = check::page(&check, &Look { width, ..LOOK });
        let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.contains(words), "{page}");
    }
}

#[test]
fn a_file_promises_nothing_of_failures_in_bursts() {
    for (family, bursty, expected) in [
        (Family::EBonferroni, 0, "it stops, under the conditions that the sentences name."),
        (
            Family::EBonferroni,
            1,
            "that leaves out the claim whose failures come in bursts or in spells.",
        ),
        (
            Family::EBh,
            2,
            "that leaves out the 2 claims whose failures come in bursts or in spells.",
        ),
    ] {
        let mut check = checked(family);
        for claim in check.contests[2].run.verdicts.iter_mut().take(bursty) {
            *claim = in_bursts(claim.clone());
        }
        assert!(check::promise(&check).ends_with(expected), "{}", check::promise(&check));
        let said = check::verdicts(&check).matches("failures come 3.4 in a row").count();
        assert_eq!(said, bursty);
    }
}

#[test]
fn an_effect_is_one_short_text() {
    let texts = properties().into_iter().map(|(name, claim)| (name, check::effect(&claim)));
    let found: Vec<_> =
        texts.filter(|(name, _)| ["rate holds", "mean", "rate void"].contains(name)).collect();
    let expected = [
        ("rate holds", "99.72% (99.31% to 99.94%)"),
        ("rate void", "-"),
        ("mean", "4.200 ms (3.900 ms to 4.610 ms)"),
    ];
    assert_eq!(found, expected.map(|(name, text)| (name, text.to_owned())));
}
