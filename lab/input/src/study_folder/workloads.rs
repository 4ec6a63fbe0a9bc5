//! The workloads of a study, and the inputs that only `study verify` uses.

use super::contestants::Contestants;
use super::folder::Folder;
use super::recipe::file;
use crate::document::{Item, Table};
use crate::names::{self, Names};
use std::fs;
use tiebreak_core::study::{Verification, Workload};

/// The default seed of a fixed input.
const SEED: u64 = 1;

/// Reads `[[workload]]`: at least one.
pub fn workloads(
    root: &Table<'_>,
    has_oracle: bool,
    contestants: &Contestants,
    reference: &str,
    folder: &Folder,
) -> Vec<Workload> {
    let mut names = Names::in_claims("workloads");
    let tables = root.tables("workload");
    let workloads = tables.iter().map(|table| Workload {
        contestants: raced(table, contestants, reference),
        is_on_request: table.flag("on_request", false),
        ..workload(table, &mut names, has_oracle, folder)
    });
    workloads.collect()
}

/// Reads `contestants`, those that are raced on a workload, and adds the reference.
fn raced(table: &Table<'_>, contestants: &Contestants, reference: &str) -> Vec<String> {
    let Some((item, mut names, are_known)) = chosen(table, contestants) else { return Vec::new() };
    if !names.iter().any(|name| name == reference) {
        names.push(reference.to_owned());
    }
    if are_known && names.len() < 2 {
        item.error("this races nothing").label("expected a contestant other than the reference");
    }
    names
}

/// Reads `contestants`: the ones that there are, and whether all are.
fn chosen<'a>(
    table: &'a Table<'_>,
    contestants: &Contestants,
) -> Option<(&'a Item<'a>, Vec<String>, bool)> {
    let item = table.get("contestants")?;
    let (known, stated) = (contestants.names(), item.strings("fast"));
    let names = stated.iter().filter_map(|(_, item)| names::known(item, "contestant", &known));
    let names: Vec<String> = names.map(str::to_owned).collect();
    let are_known = names.len() == stated.len();
    Some((item, names, are_known))
}

/// Returns their names, in the order of the file.
pub fn names_of(workloads: &[Workload]) -> Vec<&str> {
    let names = workloads.iter().map(|workload| workload.name.as_str());
    names.filter(|name| !name.is_empty()).collect()
}

fn workload(table: &Table<'_>, names: &mut Names, has_oracle: bool, folder: &Folder) -> Workload {
    let mut workload = Workload {
        name: names.read(table),
        distribution: String::new(),
        size: 0,
        seed: SEED,
        is_drawn: false,
        about: table.note("about"),
        file: None,
        answer: answer(table, has_oracle),
        contestants: Vec::new(),
        is_on_request: false,
    };
    if let Some(item) = table.get("file") {
        from_file(&mut workload, table, item, folder);
        return workload;
    }
    workload.distribution = if has_oracle {
        table.required_text("distribution")
    } else {
        // Contestants know the input by the workload's name.
        table.note("distribution")
    };
    workload.size = size(table);
    table.update("seed", &mut workload.seed, Item::whole::<u64>);
    if !has_oracle {
        let help = "an oracle makes inputs: write oracle.c";
        refuse_drawing(table, "this input cannot be drawn", Some(help));
        return workload;
    }
    workload.is_drawn = table.flag("drawn", true);
    if let Some(item) = table.get("seed").filter(|_| workload.is_drawn) {
        item.key_error("a seed of its own is drawn for each unit")
            .label("this one would never be used")
            .help("write drawn = false for one input that serves for all, or leave 'seed' out");
    }
    workload
}

/// Reads an input that is a file of the study's folder.
fn from_file(workload: &mut Workload, table: &Table<'_>, item: &Item<'_>, folder: &Folder) {
    for key in ["distribution", "size", "seed"] {
        if let Some(item) = table.get(key) {
            item.key_error(format!("'{key}' does not apply to a file"))
                .help(format!("leave '{key}' or 'file' out: an input is read or made"));
        }
    }
    refuse_drawing(table, "an input that is a file cannot be drawn", None);
    workload.distribution = "file".to_owned();
    workload.file = item.string().and_then(|path| file(&path, item, folder));
    let Some(path) = &workload.file else { return };
    workload.size = fs::metadata(folder.absolute(path)).map_or(0, |file| file.len());
    if workload.size == 0 {
        item.error("this file is empty").label("expected one with an input");
    }
}

/// Logs an error for an input that each unit should draw, and that cannot be drawn.
fn refuse_drawing(table: &Table<'_>, message: &str, help: Option<&str>) {
    if let Some(item) = table.get("drawn").filter(|_| table.flag("drawn", false)) {
        let mut error = item.error(message);
        error.label("expected false, or nothing said").help = help.map(str::to_owned);
    }
}

/// Reads `size`, which is required.
fn size(table: &Table<'_>) -> u64 {
    table.required("size").and_then(|item| item.whole()).unwrap_or(0)
}

/// Reads `answer`, which a study with an oracle must not have.
fn answer(table: &Table<'_>, has_oracle: bool) -> Option<String> {
    let item = table.get("answer")?;
    let answer = item.string()?;
    if has_oracle {
        item.key_error("the oracle knows the answers of this study").help("leave 'answer' out");
    }
    Some(answer)
}

/// Reads `[[verify]]`, which needs an oracle.
pub fn verifications(
    root: &Table<'_>,
    has_oracle: bool,
    contestants: &Contestants,
) -> Vec<Verification> {
    let mut names = Names::of("verifications");
    let tables = root.tables("verify");
    if let Some(first) = tables.first().filter(|_| !has_oracle) {
        first
            .error("nothing can be verified: this study has no oracle")
            .help("write oracle.c, or leave [[verify]] out");
    }
    tables.iter().map(|table| verification(table, &mut names, contestants)).collect()
}

fn verification(table: &Table<'_>, names: &mut Names, contestants: &Contestants) -> Verification {
    Verification {
        name: names.read_text(table),
        distribution: table.required_text("distribution"),
        size: size(table),
        parts: table.read("parts", Item::whole).unwrap_or(1),
        is_full: table.flag("full", false),
        contestants: chosen(table, contestants).map_or_else(Vec::new, |(_, names, _)| names),
    }
}
