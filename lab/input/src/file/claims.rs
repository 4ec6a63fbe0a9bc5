//! The claims of a contest.

use super::{BASE_NAME, FileClaim, HEAD_NAME, MAX_FILE_CLAIMS};
use crate::document::sentence::{is_same, sentence};
use crate::document::{Item, Log, Table, kind};
use crate::error::shown;
use crate::inputs::Place;
use crate::sentence::{display, question};
use std::ops::Range;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, Gate};
use toml::de::DeValue;

const HELP: &str = "write claims = [\"a is faster than b\"]";

/// The context in which claims are read.
pub(super) struct Context<'a> {
    /// The contestants.
    pub(super) names: &'a [&'a str],
    /// Their workload; empty if none is given.
    pub(super) workload: &'a str,
    /// Whether claims are gates by default.
    pub(super) gate: bool,
    /// The default of whether a gate opens only if its claim holds.
    pub(super) strict: bool,
    /// How a ratio is defined, if given.
    pub(super) centre: Option<Centre>,
    /// The time-out, if given, which can be the cap of a mean.
    pub(super) timeout_ns: Option<u64>,
}

/// Logs an error for a contest without claims.
pub(super) fn no_claims(span: Range<usize>, log: &mut Log<'_>) {
    log.error(span, "this contest has no claims").help(HELP);
}

/// Reads the claims of a contest, after `before` claims in earlier contests.
pub(super) fn claims(
    item: &Item<'_>,
    context: &Context<'_>,
    before: usize,
    log: &mut Log<'_>,
) -> Vec<FileClaim> {
    let DeValue::Array(array) = item.value else {
        item.wrong_type("an array of claims", log).help(HELP);
        return Vec::new();
    };
    if array.is_empty() {
        no_claims(item.span.clone(), log);
    }
    let mut claims = Vec::new();
    for (index, element) in item.elements(array).iter().enumerate() {
        if before + index == MAX_FILE_CLAIMS {
            log.error(
                element.span.clone(),
                format!("this is claim {} of the file", before + index + 1),
            )
            .label(format!("expected at most {MAX_FILE_CLAIMS} in all contests together"));
        }
        if before + index >= MAX_FILE_CLAIMS {
            break;
        }
        if let Some(claim) = claim(element, context, log) {
            check_repeated(&claim, &claims, element, log);
            claims.push(claim);
        }
    }
    claims
}

/// Returns the default claim about two revisions at this item: that head is at most this much
/// slower.
pub(super) fn of_revisions(
    item: &Item<'_>,
    slowdown_max: f64,
    context: &Context<'_>,
    log: &mut Log<'_>,
) -> FileClaim {
    let mut claim = question(HEAD_NAME, BASE_NAME);
    claim.statement = Statement::Ratio(Relation::NoMoreThan { fraction: slowdown_max });
    claim.text = display(&claim);
    check_cap(&claim, item, context, log);
    FileClaim {
        claim,
        line: log.line(item.key_span.start),
        gate: gate(context.gate, context.strict),
    }
}

fn gate(is_gate: bool, is_strict: bool) -> Gate {
    match (is_gate, is_strict) {
        (false, _) => Gate::None,
        (true, false) => Gate::OpenUnlessRefuted,
        (true, true) => Gate::ClosedUnlessHolds,
    }
}

/// Reads a claim: a sentence, or a table with one.
fn claim(item: &Item<'_>, context: &Context<'_>, log: &mut Log<'_>) -> Option<FileClaim> {
    match item.value {
        DeValue::String(_) => judged(item, context, gate(context.gate, context.strict), log),
        DeValue::Table(table) => {
            let place = Place::of("claims.claim");
            let table = Table::new(table, item.span.clone(), place, log);
            let gate = table_gate(&table, context, log);
            let Some(item) = table.get("claim") else {
                log.error(table.span, "there is no claim in this table")
                    .help("write {claim = \"a is faster than b\", gate = true}");
                return None;
            };
            judged(item, context, gate, log)
        }
        _ => {
            let message = format!("a claim is {}", kind(item.value));
            log.error(item.span.clone(), message)
                .label("expected a sentence such as \"a is faster than b\", or a table with one");
            None
        }
    }
}

/// Returns the gate of a claim's table, with the contest's defaults.
fn table_gate(table: &Table<'_>, context: &Context<'_>, log: &mut Log<'_>) -> Gate {
    let is_gate = table.flag("gate", context.gate, log);
    let strict = table.get("strict").and_then(|item| Some((item, item.boolean(log)?)));
    if let Some((item, true)) = strict.filter(|_| !is_gate) {
        log.error(item.key_span.clone(), "this claim is not a gate, so it cannot be strict")
            .help("write gate = true beside it");
    }
    gate(is_gate, strict.map_or(context.strict, |(_, is_strict)| is_strict))
}

fn judged(
    item: &Item<'_>,
    context: &Context<'_>,
    gate: Gate,
    log: &mut Log<'_>,
) -> Option<FileClaim> {
    let (claim, words) = sentence(item, context.names, log)?;
    check_workload(&claim, words.workload, context, log);
    check_cap(&claim, item, context, log);
    Some(FileClaim { claim, line: log.line(item.span.start), gate })
}

/// Checks that the workload of a claim is that of its contest.
fn check_workload(
    claim: &Claim,
    span: Option<Range<usize>>,
    context: &Context<'_>,
    log: &mut Log<'_>,
) {
    let Some((name, span)) = claim.workload.as_deref().zip(span) else { return };
    if name == context.workload {
        return;
    }
    let label = match context.workload {
        "" => "nothing was said of it".to_owned(),
        workload => format!("that is '{}'", shown(workload)),
    };
    let name = shown(name);
    log.error(span, format!("'{name}' is not the workload of this contest"))
        .label(label)
        .help(format!("write workload = \"{name}\" in the contest, or leave 'on {name}' out"));
}

/// Checks that a mean has a cap. A mean can be shown to be below something only if there is a
/// largest value (Bahadur and Savage 1956): a cap, or for wall time the time-out. A ratio of means
/// has two such sides.
fn check_cap(claim: &Claim, item: &Item<'_>, context: &Context<'_>, log: &mut Log<'_>) {
    if claim.statement.relation().is_some() {
        return check_ratio_of_means(claim, item, context, log);
    }
    let Statement::Property(Property::Mean { is_below: true, bar, cap: None }) = claim.statement
    else {
        return;
    };
    let is_timed = claim.metric == Metric::WallTime;
    if is_timed && context.timeout_ns.is_some_and(|timeout_ns| timeout_ns as f64 > bar) {
        return;
    }
    let or_timeout = if is_timed { ", or give the contest a timeout above the bar" } else { "" };
    log.error(item.span.clone(), "this mean has no cap")
        .label("one large value could lift it above any bar")
        .help(format!(
            "end it with 'capped at' and the value that larger ones count as{or_timeout}"
        ));
}

fn check_ratio_of_means(claim: &Claim, item: &Item<'_>, context: &Context<'_>, log: &mut Log<'_>) {
    let is_timed = claim.metric == Metric::WallTime;
    if context.centre != Some(Centre::Mean) || is_timed && context.timeout_ns.is_some() {
        return;
    }
    let help = if is_timed {
        "give the contest a timeout, such as timeout = \"5s\": a run that takes longer is \
             ended, and counts as 5 s"
    } else {
        "a timeout caps wall time only: give this claim a contest with centre = \"median\""
    };
    log.error(item.span.clone(), "the means of this ratio have no cap")
        .label("one large value could make it anything")
        .help(help);
}

/// Logs an error for a repeated claim, which would use error twice.
fn check_repeated(repeated: &FileClaim, before: &[FileClaim], item: &Item<'_>, log: &mut Log<'_>) {
    if let Some(other) = before.iter().find(|other| is_same(&other.claim, &repeated.claim)) {
        let message = format!("this claim stands in line {} already", other.line);
        log.error(item.span.clone(), message).help("leave one of the two out");
    }
}
