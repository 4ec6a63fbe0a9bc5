//! The claims of a contest.

use super::{BASE_NAME, FileClaim, HEAD_NAME, MAX_FILE_CLAIMS, Options};
use crate::document::sentence::{is_same, sentence};
use crate::document::{Item, Table, kind};
use crate::error::shown;
use crate::sentence::{display, question};
use std::ops::Range;
use tiebreak_core::claim::{Claim, Property, Relation, Statement};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Centre, Gate};

/// The error of a contest without claims.
pub(super) const NO_CLAIMS: &str = "this contest has no claims";
/// What could be written.
pub(super) const HELP: &str = "write claims = [\"a is faster than b\"]";

/// The context in which claims are read.
pub(super) struct Context<'a> {
    /// The contestants.
    pub(super) names: &'a [&'a str],
    /// How the contest is run.
    pub(super) options: &'a Options,
    /// Whether claims are gates by default.
    pub(super) gate: bool,
    /// The default of whether a gate opens only if its claim holds.
    pub(super) strict: bool,
}

/// Reads the claims of a contest, after `before` claims in earlier contests.
pub(super) fn claims(item: &Item<'_>, context: &Context<'_>, before: usize) -> Vec<FileClaim> {
    let Some(elements) = item.elements() else {
        item.wrong_type("an array of claims").help(HELP);
        return Vec::new();
    };
    if elements.is_empty() {
        item.error(NO_CLAIMS).help(HELP);
    }
    let mut claims = Vec::new();
    for (index, element) in elements.iter().enumerate() {
        if before + index == MAX_FILE_CLAIMS {
            element
                .error(format!("this is claim {} of the file", before + index + 1))
                .label(format!("expected at most {MAX_FILE_CLAIMS} in all contests together"));
        }
        if before + index >= MAX_FILE_CLAIMS {
            break;
        }
        if let Some(claim) = claim(element, context) {
            check_repeated(&claim, &claims, element);
            claims.push(claim);
        }
    }
    claims
}

/// Returns the default claim about two revisions at this item: that head is at most this much
/// slower.
pub(super) fn of_revisions(item: &Item<'_>, slowdown_max: f64, context: &Context<'_>) -> FileClaim {
    let mut claim = question(HEAD_NAME, BASE_NAME);
    claim.statement = Statement::Ratio(Relation::NoMoreThan { fraction: slowdown_max });
    claim.text = display(&claim);
    check_cap(&claim, item, context);
    FileClaim {
        claim,
        line: item.log.line(item.key_span.start),
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
fn claim(item: &Item<'_>, context: &Context<'_>) -> Option<FileClaim> {
    if let Some(table) = item.table("claims.claim") {
        let gate = table_gate(&table, context);
        let Some(item) = table.get("claim") else {
            return table
                .error("there is no claim in this table")
                .help("write {claim = \"a is faster than b\", gate = true}")
                .none();
        };
        return judged(item, context, gate);
    }
    if item.value.is_str() {
        return judged(item, context, gate(context.gate, context.strict));
    }
    item.error(format!("a claim is {}", kind(item.value)))
        .label("expected a sentence such as \"a is faster than b\", or a table with one")
        .none()
}

/// Returns the gate of a claim's table, with the contest's defaults.
fn table_gate(table: &Table<'_>, context: &Context<'_>) -> Gate {
    let is_gate = table.flag("gate", context.gate);
    let strict = table.get("strict").and_then(|item| Some((item, item.boolean()?)));
    if let Some((item, true)) = strict.filter(|_| !is_gate) {
        item.key_error("this claim is not a gate, so it cannot be strict")
            .help("write gate = true beside it");
    }
    gate(is_gate, strict.map_or(context.strict, |(_, is_strict)| is_strict))
}

fn judged(item: &Item<'_>, context: &Context<'_>, gate: Gate) -> Option<FileClaim> {
    let (claim, words) = sentence(item, context.names)?;
    check_workload(&claim, words.workload, item, context);
    check_cap(&claim, item, context);
    Some(FileClaim { claim, line: item.log.line(item.span.start), gate })
}

/// Checks that the workload of a claim is that of its contest.
fn check_workload(
    claim: &Claim,
    span: Option<Range<usize>>,
    item: &Item<'_>,
    context: &Context<'_>,
) {
    let Some((name, span)) = claim.workload.as_deref().zip(span) else { return };
    if name == context.options.workload {
        return;
    }
    let label = match context.options.workload.as_str() {
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
fn check_cap(claim: &Claim, item: &Item<'_>, context: &Context<'_>) {
    if claim.statement.relation().is_some() {
        return check_ratio_of_means(claim, item, context);
    }
    let Statement::Property(Property::Mean { is_below: true, bar, cap: None }) = claim.statement
    else {
        return;
    };
    let is_timed = claim.metric == Metric::WallTime;
    if is_timed
        && context.options.program.timeout_ns.is_some_and(|timeout_ns| timeout_ns as f64 > bar)
    {
        return;
    }
    let or_timeout = if is_timed { ", or give the contest a timeout above the bar" } else { "" };
    item.error("this mean has no cap").label("one large value could lift it above any bar").help(
        format!("end it with 'capped at' and the value that larger ones count as{or_timeout}"),
    );
}

fn check_ratio_of_means(claim: &Claim, item: &Item<'_>, context: &Context<'_>) {
    let is_timed = claim.metric == Metric::WallTime;
    if context.options.centre != Some(Centre::Mean)
        || is_timed && context.options.program.timeout_ns.is_some()
    {
        return;
    }
    let help = if is_timed {
        "give the contest a timeout, such as timeout = \"5s\": a run that takes longer is \
             ended, and counts as 5 s"
    } else {
        "a timeout caps wall time only: give this claim a contest with centre = \"median\""
    };
    item.error("the means of this ratio have no cap")
        .label("one large value could make it anything")
        .help(help);
}

/// Logs an error for a repeated claim, which would use error twice.
fn check_repeated(repeated: &FileClaim, before: &[FileClaim], item: &Item<'_>) {
    if let Some(other) = before.iter().find(|other| is_same(&other.claim, &repeated.claim)) {
        let message = format!("this claim stands in line {} already", other.line);
        item.error(message).help("leave one of the two out");
    }
}
