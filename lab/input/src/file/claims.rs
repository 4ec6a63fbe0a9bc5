//! The claims of a contest.

use super::options::Layer;
use super::{BASE_NAME, FileClaim, HEAD_NAME, MAX_FILE_CLAIMS};
use crate::cursor::{Part, place_of};
use crate::document::sentence::{is_same, sentence};
use crate::document::{Item, kind};
use crate::error::shown;
use crate::sentence::{display, question};
use std::ops::Range;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, Gate};

/// The error of a contest without claims.
pub const NO_CLAIMS: &str = "this contest has no claims";
/// What could be written.
pub const HELP: &str = "write claims = [\"a is faster than b\"]";

/// Reads the claims of a contest, after `before` claims in earlier contests.
pub fn claims(item: &Item<'_>, names: &[&str], layer: &Layer, before: usize) -> Vec<FileClaim> {
    let Some(elements) = item.elements() else {
        item.wrong_type("an array of claims").help(HELP);
        return Vec::new();
    };
    if elements.is_empty() {
        item.error(NO_CLAIMS).help(HELP);
    }
    let mut claims = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        if before + index >= MAX_FILE_CLAIMS {
            element
                .error(format!("this is claim {} of the file", before + index + 1))
                .label(format!("expected at most {MAX_FILE_CLAIMS} in all contests together"));
            break;
        }
        if let Some(claim) = claim(element, names, layer) {
            check_repeated(&claim, &claims, element);
            claims.push(claim);
        }
    }
    claims
}

/// Returns the default claim about two revisions at this item: that head is at most this much
/// slower.
pub fn of_revisions(item: &Item<'_>, slowdown_max: f64, layer: &Layer) -> FileClaim {
    let mut claim = question(HEAD_NAME, BASE_NAME, Metric::WallTime);
    claim.statement = Statement::Ratio(Relation::NoMoreThan { fraction: slowdown_max });
    claim.text = display(&claim);
    check_cap(&claim, item, layer);
    let line = item.log.line(item.key_span.start);
    FileClaim { claim, line, gate: Gate::of(layer.gate == Some(true), layer.strict) }
}

/// Reads a claim: a sentence, or a table with one and with a gate of its own.
fn claim(item: &Item<'_>, names: &[&str], layer: &Layer) -> Option<FileClaim> {
    let (mut gate, mut strict) = (layer.gate == Some(true), layer.strict);
    let table = item.table("claims.claim");
    if let Some(table) = &table {
        table.update("gate", &mut gate, Item::boolean);
        let own = table.get("strict").and_then(|item| Some((item, item.boolean()?)));
        if let Some((item, true)) = own.filter(|_| !gate) {
            item.key_error("this claim is not a gate, so it cannot be strict")
                .help("write gate = true next to it");
        }
        strict = own.map_or(strict, |(_, strict)| strict);
    } else if !item.value.is_str() {
        return item
            .error(format!("a claim is {}", kind(item.value)))
            .label("expected a sentence such as \"a is faster than b\", or a table with one")
            .none();
    }
    let item = match &table {
        None => item,
        Some(table) => table.get("claim").or_else(|| {
            table
                .error("there is no claim in this table")
                .help("write {claim = \"a is faster than b\", gate = true}")
                .none()
        })?,
    };
    let (claim, words) = sentence(item, names)?;
    check_workload(&claim, place_of(&words, Part::Workload), item, &layer.options.workload);
    check_cap(&claim, item, layer);
    let (line, gate) = (item.log.line(item.span.start), Gate::of(gate, strict));
    Some(FileClaim { claim, line, gate })
}

/// Checks that the workload of a claim is that of its contest; it stands at these bytes.
fn check_workload(claim: &Claim, span: Option<Range<usize>>, item: &Item<'_>, workload: &str) {
    let Some((name, span)) = claim.workload.as_deref().zip(span) else { return };
    if name == workload {
        return;
    }
    let label = match workload {
        "" => "nothing was said of it".to_owned(),
        workload => format!("that is '{}'", shown(workload)),
    };
    let name = shown(name);
    item.log
        .error(span, format!("'{name}' is not the workload of this contest"))
        .label(label)
        .help(format!("write workload = \"{name}\" in the contest, or leave 'on {name}' out"));
}

/// Checks that a mean has a cap. A mean can be shown to be below something only if there is a
/// largest value (Bahadur and Savage 1956): a cap, or for wall time the time-out. A ratio of means
/// has two such sides.
fn check_cap(claim: &Claim, item: &Item<'_>, layer: &Layer) {
    let is_timed = claim.metric == Metric::WallTime;
    let timeout_ns = layer.options.program.timeout_ns.filter(|_| is_timed).map(|ns| ns as f64);
    match claim.statement {
        Statement::Ratio(_)
            if layer.options.centre == Some(Centre::Mean) && timeout_ns.is_none() =>
        {
            item.error("the means of this ratio have no cap")
                .label("one large value could make it anything")
                .help(if is_timed {
                    "give the contest a timeout, such as timeout = \"5s\": a run that takes longer \
                     is ended, and counts as 5 s"
                } else {
                    "a timeout caps wall time only: give this claim a contest with centre = \
                     \"median\""
                });
        }
        Statement::Property(Property::Mean { is_below: true, bar, cap: None })
            if timeout_ns.is_none_or(|timeout_ns| timeout_ns <= bar) =>
        {
            let or = if is_timed { ", or give the contest a timeout above the bar" } else { "" };
            item.error("this mean has no cap")
                .label("one large value could lift it above any bar")
                .help(format!(
                    "end it with 'capped at' and the value that larger ones count as{or}"
                ));
        }
        _ => {}
    }
}

/// Logs an error for a repeated claim, which would use error twice.
fn check_repeated(repeated: &FileClaim, before: &[FileClaim], item: &Item<'_>) {
    if let Some(other) = before.iter().find(|other| is_same(&other.claim, &repeated.claim)) {
        let message = format!("this claim stands in line {} already", other.line);
        item.error(message).help("leave one of the two out");
    }
}
