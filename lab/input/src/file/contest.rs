//! The contests of a file, and their contestants: programs, or two revisions of one.

use super::claims::{HELP, NO_CLAIMS, claims, of_revisions};
use super::options::{Layer, read_hooks};
use super::{BASE_NAME, Contest, Entrants, HEAD_NAME, MAX_CONTESTANTS, Revisions, SLOWDOWN_MAX};
use crate::document::{Item, MAX_NAME_BYTES, Table};
use crate::error::shown;
use crate::names::Names;
use tiebreak_core::plan::Contestant;
use toml::de::DeValue;

/// Reads all contests: at least one.
pub fn contests(root: &Table<'_>, defaults: &Layer) -> Vec<Contest> {
    let mut contests: Vec<Contest> = Vec::new();
    let mut names = Names::of("contests");
    for (index, table) in root.tables("contest").iter().enumerate() {
        let before = contests.iter().map(|contest| contest.claims.len()).sum();
        let name = name(table, index, &mut names);
        contests.extend(contest(table, name, defaults, before));
    }
    contests
}

fn contest(table: &Table<'_>, name: String, defaults: &Layer, before: usize) -> Option<Contest> {
    let mut layer = defaults.with(table);
    let revisions = table.get("revisions");
    if table.get("claims").is_none() && revisions.is_none() {
        table.error(NO_CLAIMS).help(HELP);
    }
    layer.gate.get_or_insert(revisions.is_some());
    // Errors about the contestants would be repeated for each claim.
    let entrants = entrants(table, &layer)?;
    let names: Vec<&str> = match &entrants {
        Entrants::Programs(programs) => programs.iter().map(|p| p.name.as_str()).collect(),
        Entrants::Revisions(_) => vec![BASE_NAME, HEAD_NAME],
    };
    let claims = match (table.get("claims"), revisions, &entrants) {
        (None, Some(item), Entrants::Revisions(asked)) => {
            let slowdown_max = asked.slowdown_max.unwrap_or(SLOWDOWN_MAX);
            vec![of_revisions(item, slowdown_max, &layer)]
        }
        (Some(item), ..) => claims(item, &names, &layer, before),
        (None, ..) => Vec::new(),
    };
    let line = table.log.line(table.span.start);
    Some(Contest { name, line, entrants, claims, options: layer.options })
}

/// Returns the name of a contest: the given one, unless another has it, or its number.
fn name(table: &Table<'_>, index: usize, names: &mut Names) -> String {
    let item = table.get("name");
    let Some((item, name)) = item.and_then(|item| Some((item, item.string()?))) else {
        return names.made(format!("contest-{}", index + 1));
    };
    if name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        item.error(format!("'{}' is not a valid name", shown(&name)))
            .label(format!("expected at most {MAX_NAME_BYTES} bytes and no control characters"));
    } else {
        names.add(&name, item);
    }
    name
}

/// Reads the contestants or the revisions of a contest.
fn entrants(table: &Table<'_>, layer: &Layer) -> Option<Entrants> {
    match (table.get("contestants"), table.get("revisions")) {
        (Some(item), None) => programs(item, layer).map(Entrants::Programs),
        (None, Some(item)) => {
            let has_claims = table.get("claims").is_some();
            revisions(item, has_claims, layer).map(Entrants::Revisions)
        }
        (Some(_), Some(item)) => item
            .key_error("a contest has contestants or revisions, not both")
            .help("make two contests of it")
            .none(),
        (None, None) => table
            .error("this contest has no contestants")
            .help(
                "write [contest.contestants] with a line NAME = \"COMMAND\" for each, or \
                 [contest.revisions] with base and command",
            )
            .none(),
    }
}

/// Reads `[contest.contestants]`; `None` if there are none.
fn programs(item: &Item<'_>, layer: &Layer) -> Option<Vec<Contestant>> {
    let Some(items) = item.entries() else {
        return item
            .wrong_type("a table, [contest.contestants]")
            .help("each of its lines names a contestant: NAME = \"COMMAND\"")
            .none();
    };
    if items.is_empty() {
        return item
            .error("this contest has no contestants")
            .help("each line of the table names one: NAME = \"COMMAND\"")
            .none();
    }
    if items.len() > MAX_CONTESTANTS {
        return item
            .error(format!("this contest has {} contestants", items.len()))
            .label(format!("expected at most {MAX_CONTESTANTS}"))
            .none();
    }
    Some(items.iter().filter_map(|item| program(item, layer)).collect())
}

/// Reads a contestant: a command, or a table with one. It is returned for the claims that name it
/// even if something is wrong with it, unless its name is far too long.
fn program(item: &Item<'_>, layer: &Layer) -> Option<Contestant> {
    check_name(item);
    let mut contestant = Contestant {
        name: item.key.to_owned(),
        command: String::new(),
        workload: layer.options.workload.clone(),
        parameters: Vec::new(),
        hooks: layer.hooks.clone(),
        directory: None,
    };
    match item.value {
        DeValue::String(_) => {
            let command = item.string_as("sort numbers.txt");
            contestant.command = command.unwrap_or_default().to_owned();
        }
        DeValue::Table(_) => {
            let table = item.table("claims.contestant")?;
            contestant.command = command(item, &table);
            read_hooks(&table, &mut contestant.hooks);
            contestant.directory = table.read("directory", Item::string);
        }
        _ => {
            item.wrong_type("a command such as \"sort numbers.txt\", or a table");
        }
    }
    Some(contestant).filter(|contestant| contestant.name.len() <= MAX_NAME_BYTES)
}

/// Reads the command of a table, which must have one; errors are logged.
fn command(parent: &Item<'_>, table: &Table<'_>) -> String {
    let Some(item) = table.get("command") else {
        parent
            .key_error(format!("'{}' has no command", shown(parent.key)))
            .help("write command = \"...\" in its table");
        return String::new();
    };
    item.string().unwrap_or_default()
}

/// Checks a name, which occurs in claims, in tables and on terminals.
fn check_name(item: &Item<'_>) {
    let name = item.key;
    let is_plain = !name.contains(|c: char| c.is_control() || matches!(c, '\'' | '"'));
    let is_name = !name.trim().is_empty() && is_plain && name.len() <= MAX_NAME_BYTES;
    if !is_name {
        item.key_error(format!("'{}' is not a valid contestant name", shown(name))).label(format!(
            "expected letters, digits and the like, at most {MAX_NAME_BYTES} bytes, no quotes"
        ));
    }
}

/// Reads `[contest.revisions]`.
fn revisions(item: &Item<'_>, has_claims: bool, layer: &Layer) -> Option<Revisions> {
    let Some(table) = item.table("claims.revisions") else {
        return item
            .wrong_type("a table, [contest.revisions]")
            .help("it has the keys base, head, build and command")
            .none();
    };
    let head = table.read("head", revision);
    let build = table.read("build", Item::string);
    let jobs: Option<u64> = table.read("build-jobs", Item::whole);
    let slowdown = table.get("max-slowdown");
    if let Some(item) = slowdown.filter(|_| has_claims) {
        item.key_error("'max-slowdown' is claimed only if nothing else is").help(
            "leave it out, or write it as a claim: 'head is no more than 2% slower than base'",
        );
    }
    let slowdown_max = slowdown.and_then(|item| item.fraction());
    let command = command(item, &table);
    let base = match table.get("base") {
        Some(item) => revision(item).unwrap_or_default(),
        None => {
            item.key_error("'revisions' has no base")
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
fn revision(item: &Item<'_>) -> Option<String> {
    let name = item.string()?;
    if name.starts_with('-') || name.contains(char::is_control) {
        return item
            .error(format!("'{}' is not a revision", shown(&name)))
            .label("expected a branch, a tag or a commit such as \"origin/main\"")
            .none();
    }
    Some(name)
}
