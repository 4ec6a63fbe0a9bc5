//! Inputs that only `study verify` uses.

use super::names::Names;
use super::places::Place;
use super::table::{Table, tables};
use super::workloads::{WHOLE_MAX, size};
use crate::document::log::Log;
use crate::document::value;
use tiebreak_core::study::Verification;

/// The most parts of an exhaustive input.
const MAX_PARTS: u64 = 1 << 32;

/// Reads `[[verify]]`, which needs an oracle.
pub(super) fn verifications(
    root: &Table<'_>,
    has_oracle: bool,
    log: &mut Log<'_>,
) -> Vec<Verification> {
    let mut names = Names::of("verifications");
    let tables = tables(root, "verify", Place::Verify, log);
    if let Some(first) = tables.first().filter(|_| !has_oracle) {
        log.error(first.span.clone(), "nothing can be verified: this study has no oracle")
            .help("write [oracle], or leave [[verify]] out");
    }
    tables.iter().map(|table| verification(table, &mut names, log)).collect()
}

fn verification(table: &Table<'_>, names: &mut Names, log: &mut Log<'_>) -> Verification {
    let parts = table.get("parts").and_then(|item| value::whole(item, 1, MAX_PARTS, log));
    Verification {
        name: names.read_text(table, "every string of length 0 to 3", log),
        distribution: table.required_text("distribution", "exhaustive", log),
        size: match table.get("size") {
            Some(item) => value::whole(item, 0, WHOLE_MAX, log).unwrap_or(0),
            None => size(table, log),
        },
        parts: parts.unwrap_or(1),
        is_full: table.flag("full", false, log),
    }
}
