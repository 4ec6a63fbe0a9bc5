//! What the oracle said of each contestant.

use crate::look::{Look, Tone, span, words};
use crate::number::count;
use crate::page::{INDENT, Page};
use crate::table::{Column, cells};
use crate::text::{self, plain, short, shorten_middle};
use tiebreak_core::result::VerifyRow;

/// Tells what `study verify` found: a line a contestant and input below a summary, then what was
/// wrong in full.
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

/// The contestants without a fault of which a reason is told, those with one reason together.
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
