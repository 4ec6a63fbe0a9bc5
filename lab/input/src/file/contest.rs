//! The contests of a file, and their contestants: programs, or two revisions of one.

use super::claims::{Context, claims, no_claims, of_revisions};
use super::options::{Layer, hooks};
use super::{
    BASE_NAME, Contest, Entrants, HEAD_NAME, MAX_CONTESTANTS, MAX_FILE_CLAIMS, Revisions,
    SLOWDOWN_MAX,
};
use crate::document::{Item, Log, MAX_NAME_BYTES, START, Table, items, kind};
use crate::error::shown;
use crate::inputs::Place;
use tiebreak_core::plan::Contestant;
use toml::de::{DeArray, DeValue};

/// Reads all contests; `None` if there is none, or none that could be read.
pub(super) fn contests(
    item: Option<&Item<'_>>,
    defaults: &Layer,
    log: &mut Log<'_>,
) -> Option<Vec<Contest>> {
    let array = array(item, log)?;
    let mut contests: Vec<Contest> = Vec::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    for (index, element) in array.iter().enumerate() {
        if index == MAX_FILE_CLAIMS {
            log.error(element.span(), format!("this is contest {} of the file", index + 1))
                .label(format!("expected at most {MAX_FILE_CLAIMS}, as each has a claim"));
            break;
        }
        let DeValue::Table(table) = element.get_ref() else {
            let message = format!("a contest is {}", kind(element.get_ref()));
            log.error(element.span(), message).label("expected a table, [[contest]]");
            continue;
        };
        let before = contests.iter().map(|contest| contest.claims.len()).sum();
        let table = Table::new(table, element.span(), Place::of("claims.contest"), log);
        let name = name(&table, index, &mut names, log);
        contests.extend(contest(&table, name, defaults, before, log));
    }
    Some(contests)
}

/// Returns the array of contests.
fn array<'a>(item: Option<&Item<'a>>, log: &mut Log<'_>) -> Option<&'a DeArray<'a>> {
    let help = "the smallest file: [[contest]], claims = [\"a is faster than b\"], and \
                contestants = { a = \"COMMAND\", b = \"COMMAND\" }";
    let Some(item) = item else {
        log.error(START, "there is no contest in this file").help(help);
        return None;
    };
    match item.value {
        DeValue::Array(array) if !array.is_empty() => Some(array),
        DeValue::Array(_) => {
            log.error(item.span.clone(), "there is no contest in this file").help(help);
            None
        }
        DeValue::Table(_) => {
            log.error(item.span.clone(), "'contest' is one table, and contests are many")
                .help("write [[contest]], with two brackets");
            None
        }
        _ => {
            item.wrong_type("tables, [[contest]]", log);
            None
        }
    }
}

fn contest(
    table: &Table<'_>,
    name: String,
    defaults: &Layer,
    before: usize,
    log: &mut Log<'_>,
) -> Option<Contest> {
    let layer = defaults.with(table, log);
    let revisions = table.get("revisions");
    if table.get("claims").is_none() && revisions.is_none() {
        no_claims(table.span.clone(), log);
    }
    let entrants = entrants(table, &layer, log);
    // Errors about the contestants would be repeated for each claim.
    let entrants = entrants?;
    let names: Vec<&str> = match &entrants {
        Entrants::Programs(programs) => programs.iter().map(|p| p.name.as_str()).collect(),
        Entrants::Revisions(_) => vec![BASE_NAME, HEAD_NAME],
    };
    let options = layer.options();
    let context = Context {
        names: &names,
        workload: &options.workload,
        gate: layer.gate.unwrap_or(revisions.is_some()),
        strict: layer.strict.unwrap_or(false),
        centre: options.centre,
        timeout_ns: options.program.timeout_ns,
    };
    let claims = match (table.get("claims"), revisions, &entrants) {
        (None, Some(item), Entrants::Revisions(asked)) => {
            let slowdown_max = asked.slowdown_max.unwrap_or(SLOWDOWN_MAX);
            vec![of_revisions(item, slowdown_max, &context, log)]
        }
        (Some(item), ..) => claims(item, &context, before, log),
        (None, ..) => Vec::new(),
    };
    let line = log.line(table.span.start);
    Some(Contest { name, line, entrants, claims, options })
}

/// Returns the name of a contest: the given one, unless another has it, or its number.
fn name(
    table: &Table<'_>,
    index: usize,
    names: &mut Vec<(String, usize)>,
    log: &mut Log<'_>,
) -> String {
    let number = format!("contest-{}", index + 1);
    let item = table.get("name");
    let Some((item, name)) = item.and_then(|item| Some((item, item.string(log)?))) else {
        names.push((number.clone(), 0));
        return number;
    };
    let line = log.line(item.span.start);
    if name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        log.error(item.span.clone(), format!("'{}' is not a valid name", shown(&name)))
            .label(format!("expected at most {MAX_NAME_BYTES} bytes and no control characters"));
    } else if let Some((_, before)) = names.iter().find(|(other, _)| *other == name) {
        let label = match before {
            0 => "that is how a contest without a name is called".to_owned(),
            line => format!("the other one is in line {line}"),
        };
        let message = format!("two contests are called '{}'", shown(&name));
        log.error(item.span.clone(), message).label(label);
    }
    names.push((name.clone(), line));
    name
}

/// Reads the contestants or the revisions of a contest.
fn entrants(table: &Table<'_>, layer: &Layer, log: &mut Log<'_>) -> Option<Entrants> {
    match (table.get("contestants"), table.get("revisions")) {
        (Some(item), None) => programs(item, layer, log).map(Entrants::Programs),
        (None, Some(item)) => {
            let has_claims = table.get("claims").is_some();
            revisions(item, has_claims, layer, log).map(Entrants::Revisions)
        }
        (Some(_), Some(item)) => {
            log.error(item.key_span.clone(), "a contest has contestants or revisions, not both")
                .help("make two contests of it");
            None
        }
        (None, None) => {
            log.error(table.span.clone(), "this contest has no contestants").help(
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
        item.wrong_type("a table, [contest.contestants]", log)
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
            let command = item.string_as("sort numbers.txt", log);
            contestant.command = command.unwrap_or_default().to_owned();
        }
        DeValue::Table(table) => {
            let table = Table::new(table, item.span.clone(), Place::of("claims.contestant"), log);
            contestant.command = command(item, &table, log);
            contestant.hooks = hooks(&table, &layer.hooks, log);
            contestant.directory = table.read("directory", Item::string, log);
        }
        _ => {
            item.wrong_type("a command such as \"sort numbers.txt\", or a table", log);
        }
    }
    Some(contestant).filter(|contestant| contestant.name.len() <= MAX_NAME_BYTES)
}

/// Reads the command of a table, which must have one; errors are in the log.
fn command(parent: &Item<'_>, table: &Table<'_>, log: &mut Log<'_>) -> String {
    let Some(item) = table.get("command") else {
        log.error(parent.key_span.clone(), format!("'{}' has no command", shown(parent.key)))
            .help("write command = \"...\" in its table");
        return String::new();
    };
    item.string(log).unwrap_or_default()
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
        item.wrong_type("a table, [contest.revisions]", log)
            .help("it has the keys base, head, build and command");
        return None;
    };
    let table = Table::new(table, item.span.clone(), Place::of("claims.revisions"), log);
    let head = table.read("head", revision, log);
    let build = table.read("build", Item::string, log);
    let jobs: Option<u64> = table.read("build-jobs", Item::whole, log);
    let slowdown = table.get("max-slowdown");
    if let Some(item) = slowdown.filter(|_| has_claims) {
        log.error(item.key_span.clone(), "'max-slowdown' is claimed only if nothing else is").help(
            "leave it out, or write it as a claim: 'head is no more than 2% slower than base'",
        );
    }
    let slowdown_max = slowdown.and_then(|item| item.fraction(log));
    let command = command(item, &table, log);
    let base = match table.get("base") {
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
        build,
        builds_at_once: jobs == Some(2),
        slowdown_max,
        command,
        hooks: layer.hooks.clone(),
    })
}

/// Reads a revision's name, which git must not take for an option.
fn revision(item: &Item<'_>, log: &mut Log<'_>) -> Option<String> {
    let name = item.string(log)?;
    if name.starts_with('-') || name.contains(char::is_control) {
        log.error(item.span.clone(), format!("'{}' is not a revision", shown(&name)))
            .label("expected a branch, a tag or a commit such as \"origin/main\"");
        return None;
    }
    Some(name)
}
