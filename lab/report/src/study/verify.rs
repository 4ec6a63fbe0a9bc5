//! The oracle's judgement of each contestant.

use crate::prelude::*;
use crate::text::grouped;
use std::collections::BTreeSet;
use tiebreak_core::result::VerifyRow;
use tiebreak_core::study::{Study, Workload};

/// Renders the result of `study verify`: a line for each contestant and input below a summary, then
/// each fault in full.
pub fn verify(found: &[VerifyRow], look: &Look) -> String {
    let mut page = Page::new(*look);
    let wrong = found.iter().filter(|row| row.fault.is_some()).count();
    let missing = found.iter().filter(|row| row.fault.is_none() && row.not_run.is_some()).count();
    let answers = count((found.len() - missing) as u64, "answer");
    let open = if missing > 0 { Tone::Doubt } else { Tone::Good };
    let (tone, mut text) = match (found.len() - missing, wrong) {
        (_, 1..) => (Tone::Bad, format!("Wrong: {wrong} of {answers}")),
        (0, _) => (open, "Nothing was judged".to_owned()),
        _ => {
            let judged = || found.iter().filter(|row| row.not_run.is_none());
            let contestants: BTreeSet<_> = judged().map(|row| &row.contestant).collect();
            let inputs: BTreeSet<_> = judged().map(|row| &row.workload).collect();
            let contestants = count(contestants.len() as u64, "contestant");
            let inputs = count(inputs.len() as u64, "input");
            let items = count(judged().map(|row| row.items).sum(), "item");
            (open, format!("Right: {contestants} on {inputs}, {items}"))
        }
    };
    if missing > 0 && missing < found.len() {
        text += &format!("; {missing} not judged");
    }
    page.paragraph("", &[span(tone, text), words(".")]);
    if found.is_empty() {
        return page.finish();
    }
    page.gap();
    let room = look.columns() / 3;
    let names = cells(found, |row| shorten_middle(&plain(&row.contestant), room, *look));
    let inputs = cells(found, |row| shorten_middle(&plain(&row.workload), room, *look));
    page.table(vec![
        Column::left("contestant", names),
        Column::left("input", inputs).rank(2),
        Column::right("items", cells(found, |row| row.items.to_string())).rank(1),
        Column::left("answer", cells(found, answer)),
    ]);
    for row in found {
        let Some(fault) = &row.fault else { continue };
        page.gap();
        let text = format!(" {}.", short(&fault.to_string()));
        page.paragraph(INDENT, &[span(Tone::Strong, plain(&row.contestant)), words(text)]);
    }
    reasons(&mut page, found, "not judged", |row| row.not_run.as_deref());
    let what = "not called without memory, so it is not known whether 'run' allocates,";
    reasons(&mut page, found, what, |row| row.unstarved.as_deref());
    page.finish()
}

/// Adds a paragraph for each reason that contestants without a fault have, with the inputs.
fn reasons(page: &mut Page, found: &[VerifyRow], what: &str, why: fn(&VerifyRow) -> Option<&str>) {
    let rows = found.iter().filter(|row| row.fault.is_none());
    let said = rows.filter_map(|row| Some((short(why(row)?), row)));
    let names = grouped(said.clone().map(|(why, row)| (why, plain(&row.contestant))));
    let workloads = grouped(said.map(|(why, row)| (why, plain(&row.workload))));
    for ((why, names), (_, workloads)) in names.into_iter().zip(workloads) {
        page.gap();
        let verb = if names.len() == 1 { "was" } else { "were" };
        let text = format!(" {verb} {what} on {}: {why}.", workloads.join(", "));
        page.paragraph(INDENT, &[span(Tone::Strong, names.join(", ")), words(text)]);
    }
}

fn answer(row: &VerifyRow) -> String {
    match (&row.fault, &row.not_run) {
        (Some(_), _) => "wrong".to_owned(),
        (None, Some(_)) => "not judged".to_owned(),
        (None, None) => "right".to_owned(),
    }
}

/// Lists what a race of the study looks for in addition to wrong answers: after an empty line, a
/// line a kind of cheat, with the workloads on which it is looked for, or why it is not.
pub fn looked_for(study: &Study, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.say(Tone::Plain, "In addition to answers, a race looks for:");
    let lines = lines(study);
    page.table(vec![
        Column::left("cheat", cells(&lines, |(cheat, _)| cheat.to_string())),
        Column::left("looked for on", cells(&lines, |(_, place)| place.clone())).rank(1),
    ]);
    format!("\n{}", page.finish())
}

fn lines(study: &Study) -> Vec<(&'static str, String)> {
    let all = "all workloads".to_owned();
    if study.contestants.iter().any(|one| one.recipe.language.is_runner()) {
        let drawn = study.workloads.iter().filter(|one| one.is_drawn && study.oracle.is_some());
        return vec![
            ("times that the clock outside refutes", all.clone()),
            ("answers not written, work in 'reset'", all),
            ("answers kept from call to call", names(drawn, "none: no oracle draws inputs")),
        ];
    }
    let made = study.workloads.iter().filter(|one| one.file.is_none());
    let exchanged = if study.reads_in_run {
        names(made, "none: each input is a file")
    } else {
        "none: needs reads_input = \"run\"".to_owned()
    };
    let rates =
        if study.reads_whole { &all } else { "none: needs reads_input = \"whole\"" }.to_owned();
    vec![
        ("answers kept from call to call", exchanged),
        ("rates that no core can load", rates),
        ("outputs not written, work in 'reset'", all.clone()),
        ("prints, leaks, allocation, threads", all.clone()),
        ("timers, priority, rounding, CPUs", all),
    ]
}

fn names<'a>(workloads: impl Iterator<Item = &'a Workload>, none: &str) -> String {
    let names: Vec<String> = workloads.map(|one| plain(&one.name)).collect();
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}
