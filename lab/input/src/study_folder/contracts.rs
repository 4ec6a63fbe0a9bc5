//! Contracts: what a class of contestants promises.

use super::names::Names;
use super::places::Place;
use super::table::{Table, tables};
use crate::document::log::Log;
use tiebreak_core::study::{Contract, PUBLISHED};

/// Contracts that need no entry: their contestants give the same answers. The study's page says
/// what the last two promise less (slack, order of work).
pub(super) const KNOWN: [&str; 3] = [PUBLISHED, "relaxed", "batch"];

/// Reads `[[contract]]`.
pub(super) fn contracts(root: &Table<'_>, log: &mut Log<'_>) -> Vec<Contract> {
    let mut names = Names::of("contracts");
    let tables = tables(root, "contract", Place::Contract, log);
    tables.iter().map(|table| contract(table, &mut names, log)).collect()
}

fn contract(table: &Table<'_>, names: &mut Names, log: &mut Log<'_>) -> Contract {
    let name = names.read(table, "unchecked", log);
    if let Some(item) = table.get("name").filter(|_| KNOWN.contains(&name.as_str())) {
        log.error(item.span.clone(), format!("'{name}' is a contract that every study has"))
            .label("expected another name")
            .help("contestants can name it without an entry here");
    }
    let text = table.required_text("text", "takes 256 to 999 too", log);
    let is_exact = table.flag("exact", true, log);
    Contract { name, text, is_exact }
}

/// Returns whether contestants of this contract give the same answers as those of `published`. An
/// unknown contract counts as exact, because it is already an error.
pub(super) fn is_exact(name: &str, contracts: &[Contract]) -> bool {
    contracts.iter().find(|contract| contract.name == name).is_none_or(|known| known.is_exact)
}
