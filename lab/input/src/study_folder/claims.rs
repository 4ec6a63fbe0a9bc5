//! The claims of a study.

use super::contestants::Contestants;
use super::workloads::names_of;
use crate::cursor::{Part, Words, place_of};
use crate::display;
use crate::document::sentence::{is_same, sentence};
use crate::document::{Item, Log, Table};
use crate::error::shown;
use crate::names::{self, is_known};
use tiebreak_core::claim::Claim;
use tiebreak_core::metric::Metric;
use tiebreak_core::study::{StudyClaim, Workload};

/// Reads `[[claim]]`.
pub fn claims(
    root: &Table<'_>,
    contestants: &Contestants,
    workloads: &[Workload],
) -> Vec<StudyClaim> {
    let mut made: Vec<(Claim, usize)> = Vec::new();
    let mut claims = Vec::new();
    let names = contestants.names();
    for table in &root.tables("claim") {
        let is_published = table.flag("published", false);
        let ends = ends(table, workloads);
        let Some(item) = table.required("text") else { continue };
        if names.is_empty() {
            continue;
        }
        let Some((claim, words)) = sentence(item, &names) else { continue };
        check_form(&claim, item);
        check_exact(&claim, &words, contestants, item.log);
        check_workload(&claim, &words, workloads, item.log);
        check_metric(&claim, &words, contestants, item.log);
        let line = item.log.line(item.span.start);
        for claim in over_sizes(claim, table, ends, workloads) {
            check_repeated(&claim, item, &made);
            claims.push(StudyClaim { text: claim.text.clone(), line: line as u64, is_published });
            made.push((claim, line));
        }
    }
    claims
}

/// Reads `from` and `to`, the workloads at the ends of a range of sizes.
fn ends<'w>(table: &Table<'_>, workloads: &'w [Workload]) -> [Option<&'w Workload>; 2] {
    let names = names_of(workloads);
    ["from", "to"].map(|key| {
        let name = table.read(key, |item| names::known(item, "workload", &names))?;
        workloads.iter().find(|one| one.name == name)
    })
}

/// Returns a claim once for each workload of a distribution whose size lies between two ends;
/// without ends the claim as it is.
fn over_sizes(
    claim: Claim,
    table: &Table<'_>,
    ends: [Option<&Workload>; 2],
    workloads: &[Workload],
) -> Vec<Claim> {
    let Some(end) = ends[0].or(ends[1]) else { return vec![claim] };
    if let [Some(from), Some(to)] = ends
        && let Some(item) = table.get("to").filter(|_| from.distribution != to.distribution)
    {
        item.error(format!("'{}' is of another distribution than '{}'", to.name, from.name))
            .label(format!("expected a workload of '{}'", from.distribution));
        return Vec::new();
    }
    let (key, other) = if ends[0].is_some() { ("from", "to") } else { ("to", "from") };
    let item = table.get(key);
    if let (Some(item), Some(workload)) = (item, &claim.workload) {
        item.key_error(format!("this claim is about {workload} already"))
            .help(format!("leave 'on {workload}' or '{key}' out"));
        return Vec::new();
    }
    let [least, most] =
        [ends[0].map_or(0, |one| one.size), ends[1].map_or(u64::MAX, |one| one.size)];
    let is_meant = |one: &&Workload| {
        one.distribution == end.distribution
            && one.file.is_none()
            && (least..=most).contains(&one.size)
            && [Some(&claim.left), claim.right.as_ref()].into_iter().flatten().all(|s| one.races(s))
    };
    let meant: Vec<Claim> = workloads
        .iter()
        .filter(is_meant)
        .map(|one| {
            let mut claim = Claim { workload: Some(one.name.clone()), ..claim.clone() };
            claim.text = display(&claim);
            claim
        })
        .collect();
    if let (Some(item), true) = (item, meant.len() < 2) {
        item.error("this is no range of sizes")
            .label(format!(
                "expected two or more workloads of '{}' from here, with '{other}' up to there",
                end.distribution
            ))
            .help("a claim about one workload ends in 'on NAME'");
    }
    meant
}

/// Checks that the study has the workload that a claim names, and races the two there.
fn check_workload(claim: &Claim, words: &Words, workloads: &[Workload], log: &Log<'_>) {
    let named = claim.workload.as_deref().zip(place_of(words, Part::Workload));
    let Some((name, span)) = named else {
        let sides = || std::iter::once(&claim.left).chain(&claim.right);
        let is_raced = workloads.iter().any(|on| sides().all(|side| on.races(side)));
        let place = place_of(words, Part::Left).filter(|_| !is_raced && !workloads.is_empty());
        if let Some((right, span)) = claim.right.as_deref().zip(place) {
            log.error(span, format!("no workload races '{}' and '{right}'", claim.left))
                .label("expected two that meet in the 'contestants' of a workload");
        }
        return;
    };
    if !is_known(name, &names_of(workloads), "workload", span, log) {
        return;
    }
    let Some(workload) = workloads.iter().find(|one| one.name == name) else { return };
    let sides = [(Part::Left, Some(&claim.left)), (Part::Right, claim.right.as_ref())];
    for (part, side) in sides {
        let Some((side, span)) = side.zip(place_of(words, part)) else { continue };
        if !workload.races(side) {
            log.error(span, format!("'{side}' is not raced on {name}"))
                .label("expected one of its 'contestants'");
        }
    }
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
