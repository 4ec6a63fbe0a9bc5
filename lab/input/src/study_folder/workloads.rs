//! The workloads of a study.

use super::folder::Folder;
use super::names::Names;
use super::places::Place;
use super::sources::named_file;
use super::table::{Table, tables};
use crate::document::log::Log;
use crate::document::{start, value};
use std::fs;
use tiebreak_core::study::Workload;

/// The largest size and the largest seed: TOML has no larger numbers.
pub(super) const WHOLE_MAX: u64 = i64::MAX.cast_unsigned();
/// The default seed of a fixed input.
const SEED: u64 = 1;

/// Reads `[[workload]]`: at least one.
pub(super) fn workloads(
    root: &Table<'_>,
    has_oracle: bool,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Vec<Workload> {
    let mut names = Names::in_claims("workloads");
    let before = log.count();
    let tables = tables(root, "workload", Place::Workload, log);
    if tables.is_empty() && log.count() == before {
        log.error(start(), "this study has no workloads")
            .help("write [[workload]] with name, distribution and size");
    }
    tables.iter().map(|table| workload(table, &mut names, has_oracle, folder, log)).collect()
}

/// Returns their names, in the order of the file.
pub(super) fn names(workloads: &[Workload]) -> Vec<&str> {
    let names = workloads.iter().map(|workload| workload.name.as_str());
    names.filter(|name| !name.is_empty()).collect()
}

fn workload(
    table: &Table<'_>,
    names: &mut Names,
    has_oracle: bool,
    folder: &Folder,
    log: &mut Log<'_>,
) -> Workload {
    let name = names.read(table, "random-20k", log);
    let mut workload = Workload {
        name,
        distribution: String::new(),
        size: 0,
        seed: SEED,
        is_drawn: false,
        about: table.text("about", log),
        file: None,
        answer: answer(table, has_oracle, log),
    };
    if table.get("file").is_some() {
        from_file(&mut workload, table, folder, log);
    } else if has_oracle {
        from_oracle(&mut workload, table, log);
    } else {
        from_contestants(&mut workload, table, log);
    }
    workload
}

/// Reads an input that is a file of the study's folder.
fn from_file(workload: &mut Workload, table: &Table<'_>, folder: &Folder, log: &mut Log<'_>) {
    for key in ["distribution", "size", "seed"] {
        if let Some(item) = table.get(key) {
            log.error(item.key_span.clone(), format!("'{key}' does not apply to a file"))
                .help(format!("leave '{key}' or 'file' out: an input is read or made"));
        }
    }
    if let Some(item) = table.get("drawn").filter(|_| table.flag("drawn", false, log)) {
        log.error(item.span.clone(), "an input that is a file cannot be drawn")
            .label("expected false, or nothing said");
    }
    workload.distribution = "file".to_owned();
    workload.file = table.get("file").and_then(|item| named_file(item, folder, log));
    let length = |path: &String| fs::metadata(folder.absolute(path)).map(|file| file.len());
    workload.size = workload.file.as_ref().and_then(|path| length(path).ok()).unwrap_or(0);
    if let Some(item) = table.get("file").filter(|_| workload.file.is_some() && workload.size == 0)
    {
        log.error(item.span.clone(), "this file is empty").label("expected one with an input");
    }
}

/// Reads an input that the oracle makes.
fn from_oracle(workload: &mut Workload, table: &Table<'_>, log: &mut Log<'_>) {
    workload.distribution = table.required_text("distribution", "random", log);
    workload.size = size(table, log);
    workload.is_drawn = table.flag("drawn", true, log);
    let Some(item) = table.get("seed") else { return };
    workload.seed = value::whole(item, 0, WHOLE_MAX, log).unwrap_or(SEED);
    if workload.is_drawn {
        log.error(item.key_span.clone(), "a seed of its own is drawn for each unit")
            .label("this one would never be used")
            .help("write drawn = false for one input that serves for all, or leave 'seed' out");
    }
}

/// Reads an input that contestants know by the workload's name: no oracle, no file.
fn from_contestants(workload: &mut Workload, table: &Table<'_>, log: &mut Log<'_>) {
    workload.distribution = table.text("distribution", log);
    workload.size = size(table, log);
    let seed = table.get("seed").and_then(|item| value::whole(item, 0, WHOLE_MAX, log));
    workload.seed = seed.unwrap_or(SEED);
    if let Some(item) = table.get("drawn").filter(|_| table.flag("drawn", false, log)) {
        log.error(item.span.clone(), "this input cannot be drawn")
            .label("expected false, or nothing said")
            .help("an oracle makes inputs: write [oracle]");
    }
}

/// Reads `size`, which is required.
pub(super) fn size(table: &Table<'_>, log: &mut Log<'_>) -> u64 {
    let item = table.required("size", "20000", log);
    item.and_then(|item| value::whole(item, 1, WHOLE_MAX, log)).unwrap_or(0)
}

/// Reads `answer`, which a study with an oracle must not have.
fn answer(table: &Table<'_>, has_oracle: bool, log: &mut Log<'_>) -> Option<String> {
    let item = table.get("answer")?;
    let answer = value::string(item, "42", log)?;
    if has_oracle {
        log.error(item.key_span.clone(), "the oracle knows the answers of this study")
            .help("leave 'answer' out");
    }
    Some(answer.to_owned())
}
