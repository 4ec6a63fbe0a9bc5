//! A run as one page of HTML: self-contained, without scripts, and small.

mod ink;
mod machine;
mod sheet;
mod study;
mod table;
mod verdicts;

pub use self::machine::Measured;
pub use self::sheet::Sheet;

use self::sheet::escaped;
use crate::footer::{effort, repeat_line, replay_line};
use crate::odd::told_warnings;
use crate::small_print::small_print;
use crate::study::Block;
use crate::text::{plain, shell_quote};
use tiebreak_core::journal::StopReason;
use tiebreak_core::result::RunResult;
use tiebreak_core::sample::Mark;

/// The most bytes of a page: what fits into the first flight of a TCP connection (ten segments of
/// 1448 bytes), so that it is there after one round trip, even if nothing compresses it.
pub const MOST_BYTES: usize = 14_480;

/// How much of everything a page may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Limits {
    /// Rows of a table.
    rows: usize,
    /// Places along a distribution; 0 for no pictures of distributions.
    places: usize,
    /// Claims.
    claims: usize,
    /// Claims that have a picture.
    pictures: usize,
    /// Warnings, notes and facts about the machine, of each so many.
    notes: usize,
    /// Letters of a sentence.
    letters: usize,
    /// Letters of a name.
    name: usize,
    /// Lines of the machine's print; 0 for its name only.
    print: usize,
}

/// From everything down to what always fits: with the last one no text is long and there are few.
const LEVELS: [Limits; 13] = [
    Limits::of([64, 60, 99, 12, 60, 900, 60, 60]),
    Limits::of([64, 40, 99, 6, 30, 600, 48, 60]),
    Limits::of([40, 24, 99, 3, 16, 480, 40, 60]),
    Limits::of([40, 16, 80, 0, 12, 400, 32, 40]),
    Limits::of([40, 0, 80, 0, 8, 360, 32, 40]),
    Limits::of([36, 0, 60, 0, 8, 320, 28, 24]),
    Limits::of([30, 0, 40, 0, 8, 300, 28, 24]),
    Limits::of([24, 12, 24, 0, 6, 260, 24, 24]),
    Limits::of([20, 0, 20, 0, 6, 240, 24, 16]),
    Limits::of([16, 0, 12, 0, 5, 200, 20, 8]),
    Limits::of([12, 0, 8, 0, 4, 160, 20, 0]),
    Limits::of([8, 0, 5, 0, 3, 100, 16, 0]),
    Limits::of([4, 0, 3, 0, 1, 40, 10, 0]),
];

impl Limits {
    /// In the order of the fields.
    const fn of(
        [rows, places, claims, pictures, notes, letters, name, print]: [usize; 8],
    ) -> Limits {
        Limits { rows, places, claims, pictures, notes, letters, name, print }
    }
}

/// The result of a run, finished or not and of any kind, as one page of HTML: the verdicts as
/// sentences with signs and pictures, the tables with distributions, what was odd, the machine, the
/// small print, and the command that makes the same run again.
///
/// Nothing in it comes from elsewhere, nothing in it is a program, it is readable on light and on
/// dark ground and on a narrow screen, all texts are escaped, and it has fewer than [`MOST_BYTES`]
/// bytes: of large results it shows less, and says how much is left out.
///
/// `measured` is what the print of the machine says that the run names, if it is at hand: it is
/// folded into the part about the machine, to which each verdict links.
pub fn page(run: &RunResult, measured: Option<&Measured>) -> String {
    let mut pages = LEVELS.iter().map(|limits| render(run, measured, *limits));
    let smallest = LEVELS[LEVELS.len() - 1];
    pages.find(|page| page.len() < MOST_BYTES).unwrap_or_else(|| bare(run, smallest))
}

/// Only the head and the command: for a result that no level is small enough for.
fn bare(run: &RunResult, limits: Limits) -> String {
    let mut sheet = Sheet::new(limits);
    sheet.heading(&title(run));
    sheet.paragraph("d", "This result is too large for a page.");
    sheet.code(&format!("tiebreak show {}", shell_quote(&run.journal)));
    sheet.finish(&title(run))
}

fn render(run: &RunResult, measured: Option<&Measured>, limits: Limits) -> String {
    let mut sheet = Sheet::new(limits);
    let title = title(run);
    sheet.heading(&title);
    if let Some(study) = &run.study {
        let about = study.workload.about.as_str();
        let about = if about.is_empty() { String::new() } else { format!(": {about}") };
        sheet.paragraph("", &format!("On {}{about}", study.workload.name));
    }
    if let Some(state) = state(run) {
        sheet.paragraph("d", state);
    }
    verdicts::verdicts(&mut sheet, run);
    match Block::of(run) {
        Some(block) => study::study(&mut sheet, &block),
        None => table::contestants(&mut sheet, run),
    }
    odd(&mut sheet, run);
    machine::machine(&mut sheet, run, measured);
    let print = small_print(run);
    if !print.is_empty() {
        sheet.section("Small print");
        sheet.paragraph("d", &print.join(" "));
    }
    sheet.section("The same again");
    sheet.paragraph("d", &effort(run));
    sheet.code(&repeat_line(run));
    sheet.code(&replay_line(run));
    sheet.finish(&title)
}

fn title(run: &RunResult) -> String {
    match (&run.study, &run.self_check) {
        (Some(study), _) => plain(&study.title),
        (None, Some(_)) => "This machine against itself".to_owned(),
        (None, None) => match run.contestants.as_slice() {
            [only] => format!("How {} does", plain(&only.name)),
            [] => "A run without contestants".to_owned(),
            few if few.len() <= 4 => {
                let names: Vec<String> = few.iter().map(|one| plain(&one.name)).collect();
                names.join(", ")
            }
            many => format!("{} contestants", many.len()),
        },
    }
}

/// Why the page is not the last word, if it is not.
fn state(run: &RunResult) -> Option<&'static str> {
    match run.stopped {
        None => Some("Still running, or cut off; this is what is known so far."),
        Some(StopReason::Interrupted) => Some("Interrupted; everything up to here is kept."),
        Some(_) => None,
    }
}

/// The warnings, each once, and how many samples have marks.
fn odd(sheet: &mut Sheet, run: &RunResult) {
    let mut said: Vec<String> = Vec::new();
    for warning in told_warnings(run) {
        let text = plain(&warning.to_string());
        if !said.contains(&text) {
            said.push(text);
        }
    }
    for contestant in &run.contestants {
        let marks = contestant.marks.iter().filter(|(_, count)| **count > 0);
        let text = |(mark, count): (&Mark, &u64)| format!("{count} {}", mark.name());
        let marks: Vec<String> = marks.map(text).collect();
        if !marks.is_empty() {
            let (name, samples) = (plain(&contestant.name), contestant.samples);
            let marks = marks.join(", ");
            said.push(format!("{name}: of {samples} samples {marks}; all of them count."));
        }
    }
    if !said.is_empty() {
        sheet.section("What was odd");
        sheet.list(&said, "things");
    }
}

/// A text for the head of a page.
fn head_text(text: &str) -> String {
    escaped(&plain(text))
}
