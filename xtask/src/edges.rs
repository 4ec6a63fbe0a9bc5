//! The crates that each crate may use: the tables of the pages against the metadata of Cargo.

use crate::finding::Finding;
use crate::{table, tree};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The page with the table of crates.
pub const MAP: &str = "ARCHITECTURE.md";
/// The columns by which that table is found.
const MAP_COLUMNS: [&str; 6] = ["folder", "crate", "what it does", "may use", "unsafe", "may not"];

/// The page with the table of third-party crates.
pub const DEPENDENCIES: &str = "docs/dependencies.md";
/// The columns by which that table is found.
const DEPENDENCY_COLUMNS: [&str; 4] = ["dependency", "used by", "reason", "weighed against"];

/// The part of the output of `cargo metadata` that tidy needs.
#[derive(Debug, Deserialize)]
pub struct Metadata {
    /// The crates of the workspace.
    pub packages: Vec<Package>,
}

/// A crate of the workspace.
#[derive(Debug, Deserialize)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// All its dependencies, those of tests and builds too.
    pub dependencies: Vec<Dependency>,
}

/// A dependency of a crate.
#[derive(Debug, Deserialize)]
pub struct Dependency {
    /// Its name.
    pub name: String,
    /// The path, if it is a folder of the workspace.
    pub path: Option<String>,
}

/// A row of the table of crates.
#[derive(Debug)]
pub struct Crate {
    /// Its path from the root.
    pub folder: String,
    /// Names of the workspace's crates that it may use.
    pub may_use: Vec<String>,
    /// Whether it may contain `unsafe`.
    pub unsafe_allowed: bool,
    /// The line of the page.
    pub line: usize,
}

/// The table of crates, by name.
pub type Map = BTreeMap<String, Crate>;

/// Asks Cargo about the workspace, without the network.
///
/// # Errors
/// Fails if Cargo cannot be started, or fails.
pub fn metadata(root: &Path) -> Result<Metadata> {
    let said = tree::cargo(root, &["metadata", "--no-deps", "--format-version", "1"])?;
    serde_json::from_str(&said).context("reading what cargo metadata says")
}

/// Reads the table of crates.
///
/// # Errors
/// Fails if the page has no such table, or if a cell has an unexpected text.
pub fn map(page: &str) -> Result<Map> {
    let rows = table::find(page, &MAP_COLUMNS)
        .with_context(|| format!("{MAP}: no table with the columns {}", MAP_COLUMNS.join(", ")))?;
    let mut map = Map::new();
    for row in rows {
        let [folder, name, _, may_use, unsafety, _] = &row.cells[..] else {
            bail!("{MAP}:{}: a row of another length", row.line);
        };
        let unsafe_allowed = match unsafety.as_str() {
            "forbidden" => false,
            "allowed" => true,
            other => bail!("{MAP}:{}: '{other}' is neither forbidden nor allowed", row.line),
        };
        let quoted =
            [folder, name].map(|cell| table::quoted(cell).first().map(|s| (*s).to_owned()));
        let [Some(folder), Some(name)] = quoted else {
            bail!("{MAP}:{}: folder and crate stand in backticks", row.line);
        };
        let may_use = table::quoted(may_use).into_iter().map(str::to_owned).collect();
        let entry = Crate { folder, may_use, unsafe_allowed, line: row.line };
        map.insert(name, entry);
    }
    Ok(map)
}

/// Finds edges between crates that the map does not allow, crates that it lacks, and rows without a
/// crate.
pub fn check_edges(map: &Map, metadata: &Metadata) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &metadata.packages {
        let Some(row) = map.get(&package.name) else {
            let what = format!("the crate {} has no row", package.name);
            findings.push(Finding::new(MAP, 1, what, "add it to the table of crates"));
            continue;
        };
        for used in package.dependencies.iter().filter(|used| used.path.is_some()) {
            if !row.may_use.contains(&used.name) {
                let what = format!("{} uses {}", package.name, used.name);
                let remedy = format!("drop it, or say in {MAP} that it may");
                let file = format!("{}/Cargo.toml", row.folder);
                findings.push(Finding::new(&file, 1, what, remedy));
            }
        }
    }
    for (name, row) in map {
        if !metadata.packages.iter().any(|package| package.name == *name) {
            let what = format!("the workspace has no crate {name}");
            findings.push(Finding::new(MAP, row.line, what, "drop the row"));
        }
    }
    findings
}

/// Finds third-party crates that the page does not grant to their users, and rows without a user.
///
/// # Errors
/// Fails if the page has no such table.
pub fn check_dependencies(page: &str, map: &Map, metadata: &Metadata) -> Result<Vec<Finding>> {
    let rows = table::find(page, &DEPENDENCY_COLUMNS).with_context(|| {
        format!("{DEPENDENCIES}: no table with the columns {}", DEPENDENCY_COLUMNS.join(", "))
    })?;
    let granted: BTreeSet<(&str, &str)> = (rows.iter())
        .flat_map(|row| {
            let names = table::quoted(&row.cells[0]);
            let users = table::quoted(&row.cells[1]);
            users
                .into_iter()
                .flat_map(move |user| names.clone().into_iter().map(move |n| (user, n)))
        })
        .collect();
    let used: BTreeSet<(&str, &str)> = (metadata.packages.iter())
        .flat_map(|package| {
            let outside = package.dependencies.iter().filter(|used| used.path.is_none());
            outside.map(|used| (package.name.as_str(), used.name.as_str()))
        })
        .collect();
    let mut findings = Vec::new();
    for (user, name) in used.difference(&granted) {
        let folder = map.get(*user).map_or(".", |row| row.folder.as_str());
        let what = format!("{user} uses {name}");
        let remedy = format!("drop it, or give the reason in {DEPENDENCIES}");
        findings.push(Finding::new(&format!("{folder}/Cargo.toml"), 1, what, remedy));
    }
    for row in &rows {
        let names = table::quoted(&row.cells[0]);
        for user in table::quoted(&row.cells[1]) {
            if !names.iter().any(|name| used.contains(&(user, *name))) {
                let what = format!("{user} does not use {}", names.join(", "));
                findings.push(Finding::new(DEPENDENCIES, row.line, what, "say who does"));
            }
        }
    }
    Ok(findings)
}

#[cfg(test)]
mod tests;
