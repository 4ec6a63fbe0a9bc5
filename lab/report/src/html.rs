//! A run as one page of HTML: self-contained, without scripts, and small where it is seen first.

mod ink;
mod machine;
mod sheet;
mod study;
mod table;
mod verdicts;

pub use self::machine::Measured;
pub use self::sheet::{Sheet, code, folded, lines, paragraph, section, small};

use self::sheet::list;
use crate::footer::{effort, repeat_line, replay_line, state};
use crate::odd::told_warnings;
use crate::small_print::small_print;
use crate::study::Block;
use crate::text::{each_once, plain};
use maud::html;
use tiebreak_core::result::RunResult;
use tiebreak_core::sample::Mark;

/// What is seen first has fewer bytes than this: what fits into the first flight of a TCP
/// connection (ten segments of 1448 bytes), so that it is there after one round trip, even if
/// nothing compresses it. Everything else is folded below it.
pub const FIRST_BYTES: usize = 14_480;
/// So much of it the claims may fill, and the table and what was odd
/// after them: the rest is for what follows.
const CLAIMS_BYTES: usize = 7_500;
const TABLE_BYTES: usize = 11_500;
const ODD_BYTES: usize = 12_500;

/// The result of a run, finished or not and of any kind, as one page of HTML: the verdicts as
/// sentences with signs and pictures, the tables with distributions, what was odd, the small print,
/// the command that makes the same run again, and the machine.
///
/// Nothing in it comes from elsewhere, nothing in it is a program, it is readable on light and on
/// dark ground and on a narrow screen, all texts are escaped, and what is seen first has fewer than
/// [`FIRST_BYTES`] bytes: claims and contestants that do not fit are folded below it, and the page
/// says how many they are.
///
/// `measured` is what the print of the machine says that the run names, if it is at hand: it is
/// folded into the part about the machine, to which each verdict links.
pub fn page(run: &RunResult, measured: Option<&Measured>) -> String {
    let mut sheet = Sheet::new(&title(run));
    if let Some(study) = &run.study {
        let (name, about) = (&study.workload.name, crate::study::about(&study.workload));
        sheet.add(paragraph(&format!("On {name}{about}")));
    }
    if let Some(state) = state(run) {
        sheet.add(small(state));
    }
    verdicts::verdicts(&mut sheet, run, CLAIMS_BYTES);
    match Block::of(run) {
        Some(block) => study::study(&mut sheet, &block, TABLE_BYTES),
        None => table::contestants(&mut sheet, run, TABLE_BYTES),
    }
    odd(&mut sheet, run);
    let print = small_print(run);
    if !print.is_empty() {
        sheet.part("Small print", small(&print.join(" ")), FIRST_BYTES - 1);
    }
    let commands = html! { (code(&repeat_line(run))) (code(&replay_line(run))) };
    let again = html! { (small(&effort(run))) (commands) };
    sheet.part("The same again", again, FIRST_BYTES - 1);
    machine::machine(&mut sheet, run, measured);
    sheet.finish()
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

/// The warnings, each once, and how many samples have marks.
fn odd(sheet: &mut Sheet, run: &RunResult) {
    let mut said = each_once(told_warnings(run).map(|warning| plain(&warning.to_string())));
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
        sheet.part("What was odd", list(&said), ODD_BYTES);
    }
}
