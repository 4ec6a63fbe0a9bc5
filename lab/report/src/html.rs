//! A run as one page of HTML: self-contained, without scripts, and small where it is seen first.

mod ink;
mod published;
mod sheet;
mod table;
mod verdicts;

pub use self::published::{CodeNow, Publication, study_page};
pub use self::sheet::{Sheet, code, folded, image, lines, packed_bytes, paragraph, section, small};

use self::sheet::{list, name, sentence};
use crate::command::{repeat_line, replay_line};
use crate::date::format_unix_ms;
use crate::fact;
use crate::footer::{effort, state};
use crate::odd::remarks;
use crate::prelude::*;
use crate::small_print::small_print;
use crate::study::{self, Block};
use maud::{Markup, html};
use tiebreak_core::fingerprint::Fact;

/// What is seen first has fewer bytes than this: what fits into the first flight of a TCP
/// connection (ten segments of 1448 bytes), so that it is there after one round trip, even if
/// nothing compresses it. Everything else is folded below it.
pub const FIRST_BYTES: usize = 14_480;
/// The bytes that the page may have after the claims, after the table
/// and after the warnings.
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
        let workload = &study.workload;
        sheet.add(paragraph(&format!("On {}{}", workload.name, study::about(workload))));
    }
    if let Some(state) = state(run) {
        sheet.add(small(state));
    }
    verdicts::verdicts(&mut sheet, run, CLAIMS_BYTES);
    match Block::of(run) {
        Some(block) => table::study(&mut sheet, &block, TABLE_BYTES),
        None => table::contestants(&mut sheet, run, TABLE_BYTES),
    }
    let odd = remarks(run, Look::PAPER);
    if !odd.is_empty() {
        sheet.part("What was odd", list(&odd), ODD_BYTES);
    }
    let print = small_print(run);
    if !print.is_empty() {
        sheet.part("Small print", small(&print.join(" ")), FIRST_BYTES - 1);
    }
    let again = html! {
        (small(&effort(run)))
        @if let Some(again) = repeat_line(run) { (code(&again)) }
        (code(&replay_line(run)))
    };
    sheet.part("The same again", again, FIRST_BYTES - 1);
    if !run.machine.facts.0.is_empty() || run.machine.print.is_some() {
        sheet.fold("Machine", machine(run, measured));
    }
    sheet.finish()
}

fn title(run: &RunResult) -> String {
    let names: Vec<String> = run.contestants.iter().map(|one| plain(&one.name)).collect();
    match (&run.study, &run.self_check, names.len()) {
        (Some(study), ..) => plain(&study.title),
        (None, Some(_), _) => "This machine against itself".to_owned(),
        (None, None, 0) => "A run without contestants".to_owned(),
        (None, None, 1) => format!("How {} does", names[0]),
        (None, None, 2..=4) => names.join(", "),
        (None, None, many) => format!("{many} contestants"),
    }
}

/// The facts that stand first.
const FIRST: [&str; 8] = [
    "cpu_model",
    "cpus_online",
    "cpus_allowed",
    "memory_bytes",
    "kernel",
    "os",
    "governor",
    "hypervisor",
];

/// The print of a machine.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// When it was taken, in milliseconds since 1970 (UTC).
    pub taken_unix_ms: u64,
    /// Of each probe its name in words and what it found, a line each.
    pub found: Vec<(String, Vec<String>)>,
}

/// Returns the facts about the machine, the most important first, and its print; of that only the
/// name if its content is not available.
fn machine(run: &RunResult, measured: Option<&Measured>) -> Markup {
    let mut facts: Vec<(&String, &Fact)> = run.machine.facts.0.iter().collect();
    facts.sort_by_key(|(key, _)| {
        let rank = FIRST.iter().position(|first| first == key).unwrap_or(FIRST.len());
        (key.starts_with("now_"), rank)
    });
    let facts: Vec<String> = facts.iter().map(|(key, fact)| name(&fact::text(key, fact))).collect();
    let taken = measured.map(|measured| format_unix_ms(measured.taken_unix_ms));
    html! {
        div #machine {
            @if !facts.is_empty() { p.d { (facts.join("; ")) } }
            @if let Some(print) = run.machine.print.as_deref().map(plain) {
                @match taken {
                    None => (small(&format!("Measured before the run, as {print}:"))),
                    Some(taken) => (small(&format!("Measured as {print}, {taken} UTC:"))),
                }
                @for (words, texts) in measured.iter().flat_map(|measured| &measured.found) {
                    p.d { b { (name(words)) } @for text in texts { br; (sentence(text)) } }
                }
                (code(&format!("tiebreak machine show {print}")))
            }
        }
    }
}
