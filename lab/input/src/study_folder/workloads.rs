//! The workloads of a study, and the inputs that only `study verify` uses.

use super::folder::Folder;
use super::names::Names;
use super::recipe::file;
use super::tables;
use crate::document::{Item, Table};
use std::fs;
use tiebreak_core::study::{Verification, Workload};

/// The default seed of a fixed input.
const SEED: u64 = 1;

/// Reads `[[workload]]`: at least one.
pub(super) fn workloads(root: &Table<'_>, has_oracle: bool, folder: &Folder) -> Vec<Workload> {
    let mut names = Names::in_claims("workloads");
    let before = root.log.count();
    let tables = tables(root, "workload");
    if tables.is_empty() && root.log.count() == before {
        root.error("this study has no workloads")
            .help("write [[workload]] with name, distribution and size");
    }
    tables.iter().map(|table| workload(table, &mut names, has_oracle, folder)).collect()
}

/// Returns their names, in the order of the file.
pub(super) fn names(workloads: &[Workload]) -> Vec<&str> {
    let names = workloads.iter().map(|workload| workload.name.as_str());
    names.filter(|name| !name.is_empty()).collect()
}

fn workload(table: &Table<'_>, names: &mut Names, has_oracle: bool, folder: &Folder) -> Workload {
    let name = names.read(table);
    let mut workload = Workload {
        name,
        distribution: String::new(),
        size: 0,
        seed: SEED,
        is_drawn: false,
        about: table.note("about"),
        file: None,
        answer: answer(table, has_oracle),
    };
    if table.get("file").is_some() {
        from_file(&mut workload, table, folder);
    } else if has_oracle {
        from_oracle(&mut workload, table);
    } else {
        from_contestants(&mut workload, table);
    }
    workload
}

/// Reads an input that is a file of the study's folder.
fn from_file(workload: &mut Workload, table: &Table<'_>, folder: &Folder) {
    for key in ["distribution", "size", "seed"] {
        if let Some(item) = table.get(key) {
            item.key_error(format!("'{key}' does not apply to a file"))
                .help(format!("leave '{key}' or 'file' out: an input is read or made"));
        }
    }
    if let Some(item) = table.get("drawn").filter(|_| table.flag("drawn", false)) {
        item.error("an input that is a file cannot be drawn")
            .label("expected false, or nothing said");
    }
    workload.distribution = "file".to_owned();
    workload.file = table.read("file", |item| named_file(item, folder));
    let found = workload.file.as_ref().and_then(|path| fs::metadata(folder.absolute(path)).ok());
    workload.size = found.map_or(0, |file| file.len());
    if let Some(item) = table.get("file").filter(|_| workload.file.is_some() && workload.size == 0)
    {
        item.error("this file is empty").label("expected one with an input");
    }
}

/// Reads an input that the oracle makes.
fn from_oracle(workload: &mut Workload, table: &Table<'_>) {
    workload.distribution = table.required_text("distribution");
    workload.size = size(table);
    workload.is_drawn = table.flag("drawn", true);
    let Some(item) = table.get("seed") else { return };
    workload.seed = item.whole().unwrap_or(SEED);
    if workload.is_drawn {
        item.key_error("a seed of its own is drawn for each unit")
            .label("this one would never be used")
            .help("write drawn = false for one input that serves for all, or leave 'seed' out");
    }
}

/// Reads an input that contestants know by the workload's name: no oracle, no file.
fn from_contestants(workload: &mut Workload, table: &Table<'_>) {
    workload.distribution = table.note("distribution");
    workload.size = size(table);
    workload.seed = table.read("seed", Item::whole).unwrap_or(SEED);
    if let Some(item) = table.get("drawn").filter(|_| table.flag("drawn", false)) {
        item.error("this input cannot be drawn")
            .label("expected false, or nothing said")
            .help("an oracle makes inputs: write [oracle]");
    }
}

/// Reads `size`, which is required.
fn size(table: &Table<'_>) -> u64 {
    table.required("size").and_then(|item| item.whole()).unwrap_or(0)
}

/// Reads a file that an optional key names.
fn named_file(item: &Item<'_>, folder: &Folder) -> Option<String> {
    file(&item.string()?, item, folder)
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
pub(super) fn verifications(root: &Table<'_>, has_oracle: bool) -> Vec<Verification> {
    let mut names = Names::of("verifications");
    let tables = tables(root, "verify");
    if let Some(first) = tables.first().filter(|_| !has_oracle) {
        first
            .error("nothing can be verified: this study has no oracle")
            .help("write [oracle], or leave [[verify]] out");
    }
    tables.iter().map(|table| verification(table, &mut names)).collect()
}

fn verification(table: &Table<'_>, names: &mut Names) -> Verification {
    Verification {
        name: names.read_text(table),
        distribution: table.required_text("distribution"),
        size: size(table),
        parts: table.read("parts", Item::whole).unwrap_or(1),
        is_full: table.flag("full", false),
    }
}
