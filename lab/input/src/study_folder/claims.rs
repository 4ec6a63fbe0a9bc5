//! The claims of a study.

use super::contestants::Contestants;
use crate::cursor::{Part, Words, place_of};
use crate::document::sentence::{is_same, sentence};
use crate::document::{Item, Log, Table};
use crate::error::shown;
use crate::names::is_known;
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::study::StudyClaim;

/// Reads `[[claim]]`.
pub fn claims(root: &Table<'_>, contestants: &Contestants, workloads: &[&str]) -> Vec<StudyClaim> {
    let mut made: Vec<(Claim, usize)> = Vec::new();
    let mut claims = Vec::new();
    let names = contestants.names();
    for table in &root.tables("claim") {
        let is_published = table.flag("published", false);
        let Some(item) = table.required("text") else { continue };
        if names.is_empty() {
            continue;
        }
        let Some((claim, words)) = sentence(item, &names) else { continue };
        check_form(&claim, item);
        check_exact(&claim, &words, contestants, item.log);
        if let Some((name, span)) = claim.workload.as_deref().zip(place_of(&words, Part::Workload))
        {
            is_known(name, workloads, "workload", span, item.log);
        }
        check_metric(&claim, &words, contestants, item.log);
        check_repeated(&claim, item, &made);
        let line = item.log.line(item.span.start);
        claims.push(StudyClaim { text: claim.text.clone(), line: line as u64, is_published });
        made.push((claim, line));
    }
    claims
}

/// Checks that a claim compares two contestants. Only then is it about something drawn at random:
/// an absolute figure depends as much on the hour as on the code (rule A11), and a function that
/// fails is void.
fn check_form(claim: &Claim, item: &Item<'_>) {
    if claim.statement.is_of_two() {
        return;
    }
    let label = if claim.statement.is_about_success() {
        "a contestant that fails or answers wrongly is void here"
    } else {
        "nothing is drawn at random that could protect this number"
    };
    item.error("a study's claim compares two contestants")
        .label(label)
        .help("write one such as 'a is at least 1.5x faster than b'");
}

/// Checks that the contestants of a claim are exact: others are not raced for a verdict.
fn check_exact(claim: &Claim, words: &Words, contestants: &Contestants, log: &Log<'_>) {
    let names = [(Part::Left, Some(&claim.left)), (Part::Right, claim.right.as_ref())];
    for (part, name) in names {
        let Some((name, span)) = name.zip(place_of(words, part)) else { continue };
        if let Some(contract) = contestants.inexact_contract(name) {
            log.error(span, format!("'{name}' answers by the contract '{contract}'"))
                .label("expected a contestant whose contract is exact")
                .help("it is shown in the table with a mark, and in no claim");
        }
    }
}

/// Checks the metric. Functions share a process and its memory; only runners have their own.
fn check_metric(claim: &Claim, words: &Words, contestants: &Contestants, log: &Log<'_>) {
    let are_runners = contestants.are_runners == Some(true);
    let metric = claim.metric;
    let of_runners = are_runners.then_some(Metric::PeakMemory);
    if metric.is_of_batches() || of_runners == Some(metric) {
        return;
    }
    let Some(span) = place_of(words, Part::Metric) else { return };
    let who = if are_runners { "runners" } else { "functions" };
    let of_batches = Metric::ALL.into_iter().filter(|metric| metric.is_of_batches());
    let measured = of_runners.into_iter().chain(of_batches);
    let names: Vec<String> = measured.map(|metric| format!("'{}'", metric.name())).collect();
    log.error(span, format!("'{}' is not measured for {who}", metric.name())).expected(&names);
}

/// Logs an error for a repeated claim, which would use error twice; a claim without a workload is
/// made on each.
fn check_repeated(claim: &Claim, item: &Item<'_>, made: &[(Claim, usize)]) {
    for (other, line) in made {
        let message = if is_same(claim, other) {
            format!("this claim stands in line {line} already")
        } else if is_same(&on_every_workload(claim), other) {
            format!("line {line} claims this on every workload")
        } else if is_same(claim, &on_every_workload(other)) {
            let workload = other.workload.as_deref().unwrap_or_default();
            format!("line {line} claims this on '{}' already", shown(workload))
        } else {
            continue;
        };
        item.error(message).help("leave one of the two out");
        return;
    }
}

fn on_every_workload(claim: &Claim) -> Claim {
    Claim { workload: None, ..claim.clone() }
}
