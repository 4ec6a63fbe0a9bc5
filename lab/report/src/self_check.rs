//! The page of `tiebreak aa`: this machine's false alarms, and the smallest difference it can find.

use crate::contestants::INDENT;
use crate::look::{Look, Spans, Tone, span};
use crate::number::{Rounding, count, percent, seconds};
use crate::page::Page;
use crate::table::{Align, Column, indented, rows};
use crate::text::plain;
use tiebreak_core::result::{RunResult, SelfCheckResult, SmallestDifference};

/// The sentence, the counts and the smallest differences.
pub(crate) fn self_check(page: &mut Page, run: &RunResult, found: &SelfCheckResult, look: Look) {
    match run.contestants.iter().find_map(|contestant| contestant.fault.as_ref()) {
        Some(fault) => {
            let text = plain(&format!(": the program {fault}."));
            page.paragraph("", &[span(Tone::Bad, "Void"), span(Tone::Plain, text)]);
        }
        None => page.paragraph("", &sentence(found)),
    }
    page.gap();
    let rows_of = |rows: Vec<Spans>, page: &mut Page| {
        rows.into_iter().for_each(|row| page.line(&indented(row, INDENT)));
    };
    rows_of(rows(counts(found), look.columns() - INDENT.len()), page);
    page.paragraph(INDENT, &[span(Tone::Dim, rate(found))]);
    if !found.smallest.is_empty() {
        page.gap();
        let title = "the smallest difference that nine of ten comparisons would find here";
        page.paragraph(INDENT, &[span(Tone::Dim, title)]);
        rows_of(rows(smallest(&found.smallest), look.columns() - INDENT.len()), page);
    }
}

pub(crate) fn sentence(found: &SelfCheckResult) -> Spans {
    let of = format!(
        "{} of {} of a program with itself said that one side is faster",
        found.false_verdicts,
        count(found.comparisons, "comparison")
    );
    let asked = percent(found.error, Rounding::Up);
    let text = |text: String| span(Tone::Plain, text);
    if found.comparisons == 0 {
        return vec![span(Tone::Doubt, "Undecided"), text(": no comparison has ended.".to_owned())];
    }
    if found.rate_low > found.error {
        return vec![
            span(Tone::Bad, "This set-up is biased"),
            text(format!(
                ": {of}, which is more than the {asked} that were asked for. Do not trust verdicts \
                 from here before the cause is found."
            )),
        ];
    }
    vec![span(Tone::Good, "No bias was found"), text(format!(": {of}, where at most {asked} may."))]
}

pub(crate) fn rate(found: &SelfCheckResult) -> String {
    format!(
        "rate of false verdicts {}; {} to {} with probability at least {}",
        percent(found.rate, Rounding::Nearest),
        percent(found.rate_low, Rounding::Down),
        percent(found.rate_high, Rounding::Up),
        percent(found.confidence, Rounding::Down),
    )
}

fn counts(found: &SelfCheckResult) -> Vec<Column> {
    let entries = [
        ("one side faster (false)", found.false_verdicts),
        ("too close to matter", found.too_close),
        ("undecided", found.undecided),
    ];
    vec![
        Column::new(
            "verdict",
            Align::Left,
            entries.iter().map(|(name, _)| name.to_string()).collect(),
        ),
        Column::new(
            "comparisons",
            Align::Right,
            entries.iter().map(|(_, n)| n.to_string()).collect(),
        ),
    ]
}

fn smallest(differences: &[SmallestDifference]) -> Vec<Column> {
    let cells = |text: fn(&SmallestDifference) -> String| differences.iter().map(text).collect();
    let size = |d: &SmallestDifference| match d.fraction {
        Some(fraction) if d.is_bound => format!("under {}", percent(fraction, Rounding::Up)),
        Some(fraction) => percent(fraction, Rounding::Nearest),
        None => "none that was tried".to_owned(),
    };
    vec![
        Column::new("time", Align::Left, cells(|d| seconds(d.seconds))),
        Column::new("rounds", Align::Right, cells(|d| d.rounds.to_string())),
        Column::new("difference", Align::Left, cells(size)),
    ]
}
