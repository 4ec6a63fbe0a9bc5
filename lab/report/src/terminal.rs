//! The page about a run on a terminal.

use crate::contestants::tables;
use crate::effects::effects;
use crate::footer::{footer, state};
use crate::histogram::distributions;
use crate::load;
use crate::odd::odd;
use crate::prelude::*;
use crate::ratios::{of_no_factor, ratios};
use crate::self_check::self_check;
use crate::sentence::{common_tail, head, of_bursts, spans, what_helps};
use crate::small_print::small_print;
use crate::study;

/// Renders the whole result of a run as text, finished or not: the verdicts first, then their
/// quantities in pictures, the table, the distributions, what was odd, the small print, and how to
/// get the same again.
///
/// Every line ends with a line feed and takes at most [`Look::columns`] columns.
pub fn render(run: &RunResult, look: &Look) -> String {
    let look = *look;
    let mut page = Page::new(look);
    if let Some(state) = state(run) {
        page.line(&[span(Tone::Dim, state)]);
        page.gap();
    }
    match &run.self_check {
        Some(found) => self_check(&mut page, run, found),
        None if run.study.is_some() => study::of_run(&mut page, run, look),
        None => verdicts(&mut page, run, look),
    }
    ratios(&mut page, run, look);
    if run.study.is_none() {
        tables(&mut page, run, look);
        distributions(&mut page, run, look);
    }
    odd(&mut page, run, look);
    page.gap();
    let mut print = small_print(run);
    if run.contestants.iter().any(|contestant| !contestant.metrics.is_empty()) {
        // The limits of the table's intervals: randomisation does not protect them.
        print.push("Intervals of medians are of this run only.".to_owned());
    }
    page.note(print.join(" "));
    footer(&mut page, run);
    let loaded = run.load.as_ref().map(|load| format!("\n{}", load::render(load, &look)));
    page.finish() + &loaded.unwrap_or_default()
}

/// The sentences, what helps where they are open, and the pictures.
fn verdicts(page: &mut Page, run: &RunResult, look: Look) {
    if let [claim] = run.verdicts.as_slice() {
        page.paragraph("", &spans(run, claim));
    } else {
        for claim in &run.verdicts {
            let mut text = head(run, claim);
            text.extend(of_bursts(claim).into_iter().chain(of_no_factor(claim)));
            text.push(words("."));
            page.paragraph("", &text);
        }
        if let Some(tail) = common_tail(run) {
            page.say(Tone::Plain, tail);
        }
    }
    if let Some(helps) = what_helps(run) {
        page.paragraph("", &helps);
    }
    effects(page, run, look);
}
