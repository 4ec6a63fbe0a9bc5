//! What a race of a study looks for beside wrong answers, and on which workloads.

use crate::look::{Look, Tone};
use crate::page::Page;
use crate::table::Column;
use crate::text::plain;
use tiebreak_core::study::{Study, Workload};

/// Tells what a race of the study looks for beside wrong answers: after an empty line, a line a
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
    let all = || "all workloads".to_owned();
    if study.contestants.iter().any(|one| one.recipe.language.is_runner()) {
        let drawn = study.workloads.iter().filter(|one| one.is_drawn && study.oracle.is_some());
        return vec![
            ("times that the clock outside refutes", all()),
            ("answers not written, work in 'reset'", all()),
            ("answers kept from call to call", names(drawn, "none: no oracle draws inputs")),
        ];
    }
    let rates =
        || if study.reads_whole { all() } else { "none: not reads_input = \"whole\"".to_owned() };
    let exchanged = || {
        if study.reads_in_run {
            let made = study.workloads.iter().filter(|one| one.file.is_none());
            names(made, "none: each input is a file")
        } else {
            "none: not reads_input = \"run\"".to_owned()
        }
    };
    vec![
        ("answers kept from call to call", exchanged()),
        ("rates that no core can load", rates()),
        ("outputs not written, work in 'reset'", all()),
        ("prints, leaks, allocation, threads", all()),
        ("timers, priority, rounding, CPUs", all()),
    ]
}

fn names<'a>(workloads: impl Iterator<Item = &'a Workload>, none: &str) -> String {
    let names: Vec<String> = workloads.map(|one| plain(&one.name)).collect();
    if names.is_empty() { none.to_owned() } else { names.join(", ") }
}
