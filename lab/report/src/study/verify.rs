//! The oracle's judgement of each contestant.

use crate::prelude::*;
use crate::text;
use tiebreak_core::result::VerifyRow;
use tiebreak_core::study::{Study, Workload};

/// Renders the result of `study verify`: a line for each contestant and input below a summary, then
/// each fault in full.
pub fn verify(found: &[VerifyRow], look: &Look) -> String {
    let look = *look;
    let mut page = Page::new(look);
    let wrong = found.iter().filter(|row| row.fault.is_some()).count();
    let tone = match (wrong, found.iter().any(|row| row.not_run.is_some())) {
        (1.., _) => Tone::Bad,
        (0, true) => Tone::Doubt,
        (0, false) => Tone::Good,
    };
    page.paragraph("", &[span(tone, summary(found)), words(".")]);
    if found.is_empty() {
        return page.finish();
    }
    page.gap();
    page.table(columns(found, look));
    for row in found {
        let Some(fault) = &row.fault else { continue };
        page.gap();
        let name = span(Tone::Strong, plain(&row.contestant));
        let text = format!(" {}.", short(&fault.to_string()));
        page.paragraph(INDENT, &[name, words(text)]);
    }
    let not_judged = |row: &VerifyRow| row.not_run.clone();
    tell(&mut page, &grouped(found, &not_judged), "not judged");
    let what = "not called without memory, so nobody saw whether 'run' allocates,";
    tell(&mut page, &grouped(found, &|row| row.unstarved.clone()), what);
    page.finish()
}

/// A paragraph a reason.
fn tell(page: &mut Page, reasons: &[Reason], what: &str) {
    for (names, workloads, why) in reasons {
        page.gap();
        let verb = if names.len() == 1 { "was" } else { "were" };
        let text = format!(" {verb} {what} on {}: {why}.", workloads.join(", "));
        page.paragraph(INDENT, &[span(Tone::Strong, names.join(", ")), words(text)]);
    }
}

/// Contestants, the inputs, and why.
type Reason = (Vec<String>, Vec<String>, String);

/// Returns the contestants without a fault that have a reason, grouped by it.
fn grouped(found: &[VerifyRow], why: &dyn Fn(&VerifyRow) -> Option<String>) -> Vec<Reason> {
    let told = || {
        let rows = found.iter().filter(|row| row.fault.is_none());
        rows.filter_map(|row| Some((short(why(row).as_deref()?), row)))
    };
    let names = text::grouped(told().map(|(why, row)| (why, plain(&row.contestant))));
    let workloads = text::grouped(told().map(|(why, row)| (why, plain(&row.workload))));
    let reasons = names.into_iter().zip(workloads);
    reasons.map(|((why, names), (_, workloads))| (names, workloads, why)).collect()
}

fn summary(found: &[VerifyRow]) -> String {
    let wrong = found.iter().filter(|row| row.fault.is_some()).count();
    let missing = found.iter().filter(|row| row.fault.is_none() && row.not_run.is_some()).count();
    let judged = found.len() - missing;
    let items: u64 = found.iter().map(|row| row.items).sum();
    let mut text = match (judged, wrong) {
        (0, _) => "Nothing was judged".to_owned(),
        (_, 0) => format!("Right: {} of {}", count(judged as u64, "answer"), count(items, "item")),
        (_, _) => format!("Wrong: {wrong} of {}", count(judged as u64, "answer")),
    };
    if missing > 0 && judged > 0 {
        text += &format!("; {missing} not judged");
    }
    text
}

fn columns(found: &[VerifyRow], look: Look) -> Vec<Column> {
    let cut = |text: &str| shorten_middle(&plain(text), look.columns() / 3, look);
    let verdict = |row: &VerifyRow| match (&row.fault, &row.not_run) {
        (Some(_), _) => "wrong",
        (None, Some(_)) => "not judged",
        (None, None) => "right",
    };
    vec![
        Column::left("contestant", cells(found, |row| cut(&row.contestant))),
        Column::left("input", cells(found, |row| cut(&row.workload))).rank(2),
        Column::right("items", cells(found, |row| row.items.to_string())).rank(1),
        Column::left("answer", cells(found, |row| verdict(row).to_owned())),
    ]
}

/// Lists what a race of the study looks for beside wrong answers: after an empty line, a line a
/// kind of cheat, with the workloads on which it is looked for, or why it is not.
pub fn looked_for(study: &Study, look: &Look) -> String {
    let mut page = Page::new(*look);
    page.say(Tone::Plain, "Beside answers, a race looks for:");
    let (cheats, places): (Vec<_>, Vec<_>) = lines(study).into_iter().unzip();
    let cheats = cheats.into_iter().map(str::to_owned);
    let columns = vec![Column::left("cheat", cheats), Column::left("on", places).rank(1)];
    page.table(columns);
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
    let rates =
        if study.reads_whole { &all } else { "none: not reads_input = \"whole\"" }.to_owned();
    let exchanged = if study.reads_in_run {
        let made = study.workloads.iter().filter(|one| one.file.is_none());
        names(made, "none: each input is a file")
    } else {
        "none: not reads_input = \"run\"".to_owned()
    };
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
