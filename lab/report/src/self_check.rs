//! The page of `tiebreak aa`: this machine's false alarms, and the smallest difference it can find.

use crate::prelude::*;
use tiebreak_core::result::{SelfCheckResult, SmallestDifference};

/// The sentence, the counts and the smallest differences.
pub(crate) fn self_check(page: &mut Page, run: &RunResult, found: &SelfCheckResult) {
    page.paragraph("", &sentence(run, found));
    page.gap();
    let names = ["one side faster (false)", "too close to matter", "undecided"];
    let numbers = [found.false_verdicts, found.too_close, found.undecided];
    page.table(vec![
        Column::left("verdict", names.map(str::to_owned)),
        Column::right("comparisons", numbers.map(|number| number.to_string())),
    ]);
    page.note(rate(found));
    let smallest = &found.smallest;
    if !smallest.is_empty() {
        page.gap();
        page.note("the smallest difference that nine of ten comparisons would find here");
        page.table(vec![
            Column::left("time", cells(smallest, |one| seconds(one.seconds))),
            Column::right("rounds", cells(smallest, |one| one.rounds.to_string())),
            Column::left("difference", cells(smallest, size)),
        ]);
    }
}

/// Returns the verdict on this set-up; of a program that cannot be run, its fault.
pub(crate) fn sentence(run: &RunResult, found: &SelfCheckResult) -> Spans {
    if let Some(fault) = run.contestants.iter().find_map(|one| one.fault.as_ref()) {
        let text = plain(&format!(": the program {fault}."));
        return vec![span(Tone::Bad, "Void"), words(text)];
    }
    let comparisons = count(found.comparisons, "comparison");
    let of = format!(
        "{} of {comparisons} of a program with itself said that one side is faster",
        found.false_verdicts
    );
    let asked = percent(found.error, Rounding::Up);
    let (tone, word, text) = match found.comparisons {
        0 => (Tone::Doubt, "Undecided", "no comparison has ended.".to_owned()),
        _ if found.rate_low > found.error => {
            let text = format!(
                "{of}, which is more than the {asked} that were asked for. Do not trust verdicts \
                 from here before the cause is found."
            );
            (Tone::Bad, "This set-up is biased", text)
        }
        _ => (Tone::Good, "No bias was found", format!("{of}, where at most {asked} may.")),
    };
    vec![span(tone, word), words(format!(": {text}"))]
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

/// Writes the size of a difference.
pub(crate) fn size(difference: &SmallestDifference) -> String {
    match difference.fraction.map(|of| [Rounding::Up, Rounding::Nearest].map(|r| percent(of, r))) {
        Some([most, _]) if difference.is_bound => format!("under {most}"),
        Some([_, about]) => about,
        None => "none that was tried".to_owned(),
    }
}
