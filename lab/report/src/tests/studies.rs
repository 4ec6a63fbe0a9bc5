//! Studies: tables, progress, and what holds for all of them.

use super::pages::check_width;
use super::*;
use crate::study;
use crate::tests::fixture::study::*;
use crate::tests::fixture::threads::threaded;
use tiebreak_core::result::{Blame, Ecdf, StudyResult};
use tiebreak_core::warning::Warning;

fn all_studies() -> Vec<(&'static str, StudyResult)> {
    let mut many = studied();
    while many.runs.len() < 7 {
        many.runs.push(many.runs[0].clone());
    }
    let mut none = studied();
    none.runs.clear();
    let mut silent = studied();
    silent.interrupted = true;
    for run in &mut silent.runs {
        run.verdicts.clear();
        run.study.iter_mut().for_each(|study| study.rows.clear());
    }
    vec![
        ("studied", studied()),
        ("begun", unstudied()),
        ("many", many),
        ("hostile", hostile_study()),
        ("threaded", threaded()),
        ("none", none),
        ("silent", silent),
    ]
}

#[test]
fn a_study_reads_well() {
    let ascii = Look { width: 60, unicode: false, ..LOOK };
    for (name, look) in
        [("at_80", LOOK), ("in_ascii_at_60", ascii), ("at_140", Look { width: 140, ..LOOK })]
    {
        insta::assert_snapshot!(name, study::table(&studied(), &look));
    }
    insta::assert_snapshot!("begun", study::table(&unstudied(), &LOOK));
    insta::assert_snapshot!("of_one_workload", terminal::render(&studied().runs[0], &LOOK));
}

#[test]
fn a_study_reads_well_as_markdown() {
    insta::assert_snapshot!(study::markdown(&studied()));
}

#[test]
fn contestants_on_several_threads_read_well() {
    let narrow = Look { width: 40, ..LOOK };
    insta::assert_snapshot!("on_threads", study::table(&threaded(), &LOOK));
    insta::assert_snapshot!("on_threads_at_40", study::table(&threaded(), &narrow));
    insta::assert_snapshot!("on_threads_as_markdown", study::markdown(&threaded()));
}

#[test]
fn what_was_not_metered_is_told_with_the_reasons_of_the_run() {
    let mut study = studied();
    let mut check = |reasons: &[&str], expected: &str| {
        let warning = |what: &&str| Warning::NoMeter { what: what.to_string() };
        for run in &mut study.runs {
            run.warnings = reasons.iter().map(warning).collect();
        }
        let text = study::table(&study, &Look { width: 200, ..LOOK });
        let line = text.lines().find(|line| line.contains("energy: - "));
        assert!(line.is_some_and(|line| line.contains(expected)), "{text}");
    };
    check(&["no energy: none"], "energy: - (no energy: none).");
    check(&["no counters: x", "no energy: y"], "energy: - (no counters: x; no energy: y).");
    check(&[], "energy: - (this run did not measure them).");
}

#[test]
fn what_verify_found_reads_well() {
    let mut out = String::new();
    let found = verified();
    for rows in [&found[..], &found[..3], &found[4..], &[]] {
        out += &format!("==\n{}", study::verify(rows, &LOOK));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn verify_says_what_nobody_looked_at() {
    let mut found = verified();
    for row in &mut found[..2] {
        row.unstarved = Some("the kernel has no limit".to_owned());
    }
    let page = study::verify(&found[..3], &LOOK);
    let page = page.split_whitespace().collect::<Vec<_>>().join(" ");
    let expected = "naive was not called without memory, so it is not known whether 'run' \
                    allocates, on random-20k, every string of length 0 to 3: the kernel has no \
                    limit.";
    assert!(page.contains(expected), "{page}");
    assert_eq!(page.matches("not known").count(), 1, "{page}");
}

#[test]
fn progress_of_a_study_reads_well() {
    let mut out = String::new();
    for (what, study) in all_studies() {
        for look in [LOOK, Look { width: 60, unicode: false, ..LOOK }] {
            out += &format!("== {what}\n{}\n", study::progress(&study, &look, true).join("\n"));
        }
        out += &format!("-- {}\n", study::progress(&study, &LOOK, false).join(""));
    }
    insta::assert_snapshot!(out);
}

#[test]
fn no_line_of_a_study_is_wider_than_the_screen_or_speaks_to_it() {
    for (what, study) in all_studies() {
        let unicode = [40, 80, 120, 200].map(|width| (width, true));
        for (width, unicode) in unicode.into_iter().chain([(40, false), (100, false)]) {
            let look = Look { width, color: false, unicode };
            let mut text = study::table(&study, &look);
            text += &study::progress(&study, &look, true).join("\n");
            text += &format!("\n{}\n", study::progress(&study, &look, false).join("\n"));
            text += &study::verify(&verified(), &look);
            text += &study::ecdf(&study, &look);
            for run in &study.runs {
                text += &terminal::render(run, &look);
            }
            check_width(what, &text, look);
            assert!(!text.contains('\u{1b}'), "{what}");
            assert!(unicode || what == "hostile" || text.is_ascii(), "{what}");
        }
        assert!((1..=6).contains(&study::progress(&study, &LOOK, true).len()), "{what}");
    }
}

#[test]
fn ratios_of_the_table_stand_in_no_list_of_claims() {
    let said = study::verdicts(&studied());
    // Three claims on either workload, and who is void on the first.
    assert_eq!(said.lines().count(), 7, "{said}");
    assert!(said.contains("Void: lut answered wrongly on random-20k: item 17"), "{said}");
    assert!(!said.contains("Measured"), "{said}");
    for start in [
        "Holds: swar is at least 1.5x faster than naive on random-20k. ",
        "sequential: Undecided after 12 units in 1.9 s: swar is at least 2x",
    ] {
        assert!(said.lines().any(|line| line.starts_with(start)), "{said}");
    }
}

#[test]
fn a_ratio_is_told_as_such() {
    let run = &studied().runs[0];
    let said: Vec<_> = run.verdicts.iter().take(3).map(|claim| sentence(run, claim)).collect();
    insta::assert_snapshot!(said.join("\n"));
    let mut void = cell("lut", Verdict::Void, [None; 3]);
    let fault = Fault::NotPrepared { workload: "w".to_owned() };
    void.fault = Some(Blame { contestant: "lut".to_owned(), fault });
    let said = sentence(run, &void);
    let expected = "Void: how large naive / lut is is not known, because lut said that it cannot \
                    be prepared for w.";
    assert_eq!(said, expected);
}

#[test]
fn what_is_drawn_afresh_is_named_in_the_sentence() {
    for (scope, is_drawn, expected) in [
        (Scope::Code, true, "for this code, placed afresh in memory, on inputs drawn afresh"),
        (Scope::Code, false, "for this code, placed afresh in memory, on this input"),
        (Scope::Binary, true, "for these binaries in fresh processes, on inputs drawn afresh"),
        (Scope::Binary, false, "for these binaries in fresh processes, on this input"),
        (Scope::Layout, true, "for these binaries as they lie in memory, on this input"),
    ] {
        let mut run = workload("random", "", is_drawn);
        run.study.as_mut().unwrap().scope = scope;
        let mut claim = run.verdicts[3].clone();
        claim.scope = scope;
        let said = sentence(&run, &claim);
        assert!(said.contains(&format!(", {expected} and this machine; wrong")), "{said}");
    }
}

/// A study whose contestants are so far apart that each has bins of its own.
fn far_apart() -> StudyResult {
    let mut study = studied();
    for row in study.runs.iter_mut().filter_map(|run| run.study.as_mut()).flat_map(|s| &mut s.rows)
    {
        let factor = if row.name == "from_chars" { 90.0 } else { 1.0 };
        let summaries = row.per_call.iter_mut().map(|(_, summary)| summary);
        for value in summaries.flat_map(|s| [&mut s.median, &mut s.p10, &mut s.p90]) {
            *value = value.map(|value| value * factor);
        }
        if let Some(histogram) = &mut row.distribution {
            histogram.low *= factor;
            histogram.high *= factor;
        }
        let steps = row.ecdf.iter_mut().flat_map(|ecdf| &mut ecdf.values);
        steps.for_each(|ns| *ns *= factor);
    }
    study
}

#[test]
fn a_picture_of_a_study_looks_as_it_was_approved() {
    insta::assert_snapshot!("picture", crate::svg::study(&studied()));
    insta::assert_snapshot!("picture_on_a_log_scale", crate::svg::study(&far_apart()));
    insta::assert_snapshot!("far_apart", study::table(&far_apart(), &LOOK));
}

#[test]
fn distribution_functions_look_as_they_were_approved() {
    let ascii = Look { width: 60, unicode: false, ..LOOK };
    insta::assert_snapshot!("ecdf", crate::svg::ecdf(&studied()));
    insta::assert_snapshot!("ecdf_on_a_log_scale", crate::svg::ecdf(&far_apart()));
    insta::assert_snapshot!("ecdf_in_letters", study::ecdf(&far_apart(), &LOOK));
    insta::assert_snapshot!("ecdf_in_ascii_at_60", study::ecdf(&studied(), &ascii));
    assert_eq!(study::ecdf(&unstudied(), &LOOK), "");
    assert!(crate::svg::ecdf(&unstudied()).contains("no batch is known one by one"));
}

/// Rows whose distribution functions are hard to draw: one value, equal values, a value of zero,
/// a tail of seconds, and what no run could have written.
#[test]
fn odd_distribution_functions_are_drawn_too() {
    for (count, values) in [
        (1, vec![5.0]),
        (400, vec![7.0; 400]),
        (3, vec![0.0, 0.0, 1e9]),
        (2, vec![0.0, 0.0]),
        (0, vec![1.0, 2.0]),
        (u64::MAX, vec![1e-300, 1.0, 1e300]),
        (9, Vec::new()),
        (2, vec![2.0, 1.0]),
    ] {
        let mut study = studied();
        for row in
            study.runs.iter_mut().filter_map(|run| run.study.as_mut()).flat_map(|s| &mut s.rows)
        {
            row.ecdf = Some(Ecdf { count, values: values.clone() });
        }
        let text = crate::svg::ecdf(&study) + &study::ecdf(&study, &LOOK);
        assert!(!text.contains("NaN") && !text.contains("inf"), "{count} {values:?}: {text}");
    }
}

#[test]
fn every_picture_of_a_study_is_well_formed() {
    let mut studies = all_studies();
    studies.push(("far apart", far_apart()));
    for (what, study) in studies {
        for text in [crate::svg::study(&study), crate::svg::ecdf(&study)] {
            assert!(!text.contains("NaN") && !text.contains("inf"), "{what}");
            assert!(!text.contains("<script") && !text.contains('\u{1b}'), "{what}");
            assert_eq!(text.matches("<text").count(), text.matches("</text>").count(), "{what}");
            assert!(text.ends_with("</svg>\n"), "{what}");
        }
    }
}
