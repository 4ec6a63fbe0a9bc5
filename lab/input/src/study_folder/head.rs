//! The keys of a study above its tables.

use super::contestants::Contestants;
use super::names;
use super::table::Table;
use crate::document::keys::Item;
use crate::document::log::Log;
use crate::document::value;
use tiebreak_core::plan::{Budget, Centre, Scope};
use tiebreak_core::study::Call;

/// The default precision of a ratio.
const PRECISION: f64 = 0.05;

/// How a ratio can be defined. Means are not possible: they need a cap, and the time of a call has
/// none.
const CENTRES: [(&str, Centre); 2] = [("factor", Centre::Factor), ("median", Centre::Median)];

/// The keys above the tables.
pub(super) struct Head {
    pub(super) title: String,
    pub(super) source: String,
    pub(super) item: String,
    pub(super) call: Call,
    pub(super) reads_in_run: bool,
    pub(super) reads_whole: bool,
    pub(super) scope: Scope,
    pub(super) centre: Option<Centre>,
    pub(super) reference: String,
    pub(super) budget: Option<Budget>,
    pub(super) precision: f64,
}

pub(super) fn head(root: &Table<'_>, contestants: &Contestants, log: &mut Log<'_>) -> Head {
    let calls = [("separate", Call::Separate), ("inlined", Call::Inlined)];
    let call = root.get("call").and_then(|item| value::word(item, &calls, log));
    let reads = [("whole", (true, true)), ("run", (true, false)), ("prepare", (false, false))];
    let reads = root.get("reads_input").and_then(|item| value::word(item, &reads, log));
    let (reads_in_run, reads_whole) = reads.unwrap_or_default();
    let item = match root.text("item", log) {
        item if item.is_empty() => "item".to_owned(),
        item => item,
    };
    Head {
        title: root.required_text("title", "8-bit integers from text", log),
        source: root.required_text("source", "AUTHOR, DATE: TITLE", log),
        item,
        call: call.unwrap_or(Call::Separate),
        reads_in_run,
        reads_whole,
        scope: scope(root, contestants, log),
        centre: root.get("centre").and_then(|item| value::word(item, &CENTRES, log)),
        reference: reference(root, contestants, log),
        budget: root.get("budget").and_then(|item| value::budget(item, log)),
        precision: root.get("precision").and_then(|item| precision(item, log)).unwrap_or(PRECISION),
    }
}

/// Reads a share above 0 and at most 1.
fn precision(item: &Item<'_>, log: &mut Log<'_>) -> Option<f64> {
    let precision = value::share(item, log)?;
    if !(precision > 0.0 && precision <= 1.0) {
        value::wrong(item, "a share above 0 and at most 100%, such as \"5%\"", log);
        return None;
    }
    Some(precision)
}

/// Reads what is drawn anew for each observation. A runner has no placement that could be drawn.
fn scope(root: &Table<'_>, contestants: &Contestants, log: &mut Log<'_>) -> Scope {
    let are_runners = contestants.are_runners() == Some(true);
    let default = if are_runners { Scope::Binary } else { Scope::Code };
    let Some(item) = root.get("scope") else { return default };
    let scopes = [("code", Scope::Code), ("binary", Scope::Binary), ("layout", Scope::Layout)];
    let scope = value::word(item, &scopes, log);
    if scope == Some(Scope::Code) && are_runners {
        log.error(item.span.clone(), "these contestants are not linked, so they have no placement")
            .label("expected \"binary\" or \"layout\"");
    }
    scope.unwrap_or(default)
}

/// Reads the contestant with which the others are compared.
fn reference(root: &Table<'_>, contestants: &Contestants, log: &mut Log<'_>) -> String {
    let names = contestants.names();
    let first = names.first().copied().filter(|name| names::is_name(name)).unwrap_or("naive");
    let Some(item) = root.required("reference", &format!("\"{first}\""), log) else {
        return String::new();
    };
    let Some(name) = names::known(item, "contestant", &names, log) else {
        return String::new();
    };
    if let Some(contract) = contestants.inexact_contract(name) {
        log.error(item.span.clone(), format!("'{name}' answers by the contract '{contract}'"))
            .label("expected a contestant whose contract is exact")
            .help("the table compares all others with it");
    }
    name.to_owned()
}
