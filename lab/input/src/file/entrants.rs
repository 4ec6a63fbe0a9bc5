//! The contestants of a contest: programs, or two revisions of one.

use super::options::{Layer, hooks};
use super::places::Place;
use super::{Entrants, MAX_CONTESTANTS, Revisions, setting};
use crate::document::keys::{self, Item, items};
use crate::document::log::Log;
use crate::document::{MAX_NAME_BYTES, value};
use crate::error::shown;
use std::ops::Range;
use tiebreak_core::plan::Contestant;
use toml::de::DeValue;

/// Reads the contestants or the revisions of the contest at `span`.
pub(crate) fn entrants(
    span: &Range<usize>,
    (programs, revisions): (Option<&Item<'_>>, Option<&Item<'_>>),
    has_claims: bool,
    layer: &Layer,
    log: &mut Log<'_>,
) -> Option<Entrants> {
    match (programs, revisions) {
        (Some(item), None) => self::programs(item, layer, log).map(Entrants::Programs),
        (None, Some(item)) => {
            self::revisions(item, has_claims, layer, log).map(Entrants::Revisions)
        }
        (Some(_), Some(item)) => {
            log.error(item.key_span.clone(), "a contest has contestants or revisions, not both")
                .help("make two contests of it");
            None
        }
        (None, None) => {
            log.error(span.clone(), "this contest has no contestants").help(
                "write [contest.contestants] with a line NAME = \"COMMAND\" for each, or \
                 [contest.revisions] with base and command",
            );
            None
        }
    }
}

/// Reads `[contest.contestants]`; `None` if there are none.
fn programs(item: &Item<'_>, layer: &Layer, log: &mut Log<'_>) -> Option<Vec<Contestant>> {
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, "a table, [contest.contestants]", log)
            .help("each of its lines names a contestant: NAME = \"COMMAND\"");
        return None;
    };
    let items = items(table);
    if items.is_empty() {
        log.error(item.span.clone(), "this contest has no contestants")
            .help("each line of the table names one: NAME = \"COMMAND\"");
        return None;
    }
    if items.len() > MAX_CONTESTANTS {
        log.error(item.span.clone(), format!("this contest has {} contestants", items.len()))
            .label(format!("expected at most {MAX_CONTESTANTS}"));
        return None;
    }
    Some(items.iter().filter_map(|item| program(item, layer, log)).collect())
}

/// Reads a contestant: a command, or a table with one. It is returned for the claims that name it
/// even if something is wrong with it, unless its name is far too long.
fn program(item: &Item<'_>, layer: &Layer, log: &mut Log<'_>) -> Option<Contestant> {
    check_name(item, log);
    let mut contestant = Contestant {
        name: item.key.to_owned(),
        command: String::new(),
        workload: layer.workload(),
        parameters: Vec::new(),
        hooks: layer.hooks.clone(),
        directory: None,
    };
    match item.value {
        DeValue::String(_) => {
            let command = value::string(item, "sort numbers.txt", log);
            contestant.command = command.unwrap_or_default().to_owned();
        }
        DeValue::Table(table) => {
            let items = items(table);
            keys::check(&items, Place::Contestant, log);
            contestant.command = command(item, &items, log);
            contestant.hooks = hooks(&items, &layer.hooks, log);
            let folder = items.iter().find(|item| item.key == "directory");
            let folder = folder.and_then(|item| value::string(item, "build", log));
            contestant.directory = folder.map(str::to_owned);
        }
        _ => {
            value::wrong_type(item, "a command such as \"sort numbers.txt\", or a table", log);
        }
    }
    Some(contestant).filter(|contestant| contestant.name.len() <= MAX_NAME_BYTES)
}

/// Reads the command of a table, which must have one; errors are in the log.
fn command(parent: &Item<'_>, items: &[Item<'_>], log: &mut Log<'_>) -> String {
    let Some(item) = items.iter().find(|item| item.key == "command") else {
        log.error(parent.key_span.clone(), format!("'{}' has no command", shown(parent.key)))
            .help("write command = \"...\" in its table");
        return String::new();
    };
    value::string(item, "sort numbers.txt", log).unwrap_or_default().to_owned()
}

/// Checks a name, which occurs in claims, in tables and on terminals.
fn check_name(item: &Item<'_>, log: &mut Log<'_>) {
    let name = item.key;
    let is_plain = !name.contains(|c: char| c.is_control() || matches!(c, '\'' | '"'));
    let is_name = !name.trim().is_empty() && is_plain && name.len() <= MAX_NAME_BYTES;
    if !is_name {
        log.error(
            item.key_span.clone(),
            format!("'{}' is not a valid contestant name", shown(name)),
        )
        .label(format!(
            "expected letters, digits and the like, at most {MAX_NAME_BYTES} bytes, no quotes"
        ));
    }
}

/// Reads `[contest.revisions]`.
fn revisions(
    item: &Item<'_>,
    has_claims: bool,
    layer: &Layer,
    log: &mut Log<'_>,
) -> Option<Revisions> {
    let DeValue::Table(table) = item.value else {
        value::wrong_type(item, "a table, [contest.revisions]", log)
            .help("it has the keys base, head, build and command");
        return None;
    };
    let items = items(table);
    keys::check(&items, Place::Revisions, log);
    let find = |key: &str| items.iter().find(|item| item.key == key);
    let head = find("head").and_then(|item| revision(item, log));
    let build = find("build").and_then(|item| value::string(item, "make app", log));
    let jobs = find("build-jobs").and_then(|item| setting::build_jobs(item, log));
    let slowdown = find("max-slowdown");
    if let Some(item) = slowdown.filter(|_| has_claims) {
        log.error(item.key_span.clone(), "'max-slowdown' is claimed only if nothing else is").help(
            "leave it out, or write it as a claim: 'head is no more than 2% slower than base'",
        );
    }
    let slowdown_max = slowdown.and_then(|item| setting::fraction(item, log));
    let command = command(item, &items, log);
    let base = match find("base") {
        Some(item) => revision(item, log).unwrap_or_default(),
        None => {
            log.error(item.key_span.clone(), "'revisions' has no base")
                .help("write base = \"origin/main\": the revision that is compared with");
            String::new()
        }
    };
    Some(Revisions {
        base,
        head: head.unwrap_or_else(|| "HEAD".to_owned()),
        build: build.map(str::to_owned),
        builds_at_once: jobs == Some(2),
        slowdown_max,
        command,
        hooks: layer.hooks.clone(),
    })
}

/// Reads a revision's name, which git must not take for an option.
fn revision(item: &Item<'_>, log: &mut Log<'_>) -> Option<String> {
    let name = value::string(item, "origin/main", log)?;
    if name.starts_with('-') || name.contains(char::is_control) {
        log.error(item.span.clone(), format!("'{}' is not a revision", shown(name)))
            .label("expected a branch, a tag or a commit such as \"origin/main\"");
        return None;
    }
    Some(name.to_owned())
}
