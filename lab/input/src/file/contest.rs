//! The contests of a file.

use super::claims::{Context, claims, no_claims, of_revisions};
use super::entrants::entrants;
use super::options::Layer;
use super::places::Place;
use super::{BASE_NAME, Contest, Entrants, HEAD_NAME, MAX_FILE_CLAIMS, SLOWDOWN_MAX};
use crate::document::keys::{self, Item, items};
use crate::document::log::Log;
use crate::document::{MAX_NAME_BYTES, start, value};
use crate::error::shown;
use std::ops::Range;
use toml::de::{DeArray, DeValue};

/// Reads all contests; `None` if there is none, or none that could be read.
pub(crate) fn contests(
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
            let message = format!("a contest is {}", value::kind(element.get_ref()));
            log.error(element.span(), message).label("expected a table, [[contest]]");
            continue;
        };
        let line = log.line(element.span().start);
        let items = items(table);
        let name = name(&items, index, &mut names, log);
        let entry = Entry { items: &items, span: element.span(), line, name };
        let before = contests.iter().map(|contest| contest.claims.len()).sum();
        contests.extend(contest(entry, defaults, before, log));
    }
    Some(contests)
}

/// Returns the array of contests.
fn array<'a>(item: Option<&Item<'a>>, log: &mut Log<'_>) -> Option<&'a DeArray<'a>> {
    let help = "the smallest file: [[contest]], claims = [\"a is faster than b\"], and \
                contestants = { a = \"COMMAND\", b = \"COMMAND\" }";
    let Some(item) = item else {
        log.error(start(), "there is no contest in this file").help(help);
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
            value::wrong_type(item, "tables, [[contest]]", log);
            None
        }
    }
}

/// A contest as in the file.
struct Entry<'a> {
    items: &'a [Item<'a>],
    span: Range<usize>,
    line: usize,
    name: String,
}

impl<'a> Entry<'a> {
    fn get(&self, key: &str) -> Option<&'a Item<'a>> {
        self.items.iter().find(|item| item.key == key)
    }
}

fn contest(
    entry: Entry<'_>,
    defaults: &Layer,
    before: usize,
    log: &mut Log<'_>,
) -> Option<Contest> {
    keys::check(entry.items, Place::Contest, log);
    let layer = Layer::read(entry.items, defaults, log);
    let (programs, revisions) = (entry.get("contestants"), entry.get("revisions"));
    let has_claims = entry.get("claims").is_some();
    if !has_claims && revisions.is_none() {
        no_claims(entry.span.clone(), log);
    }
    let entrants = entrants(&entry.span, (programs, revisions), has_claims, &layer, log);
    // Errors about the contestants would be repeated for each claim.
    let entrants = entrants?;
    let names: Vec<&str> = match &entrants {
        Entrants::Programs(programs) => programs.iter().map(|p| p.name.as_str()).collect(),
        Entrants::Revisions(_) => vec![BASE_NAME, HEAD_NAME],
    };
    let workload = layer.workload();
    let context = Context {
        names: &names,
        workload: &workload,
        gate: layer.gate.unwrap_or(revisions.is_some()),
        strict: layer.strict.unwrap_or(false),
        centre: layer.centre(),
        timeout_ns: layer.timeout_ns(),
    };
    let claims = match (entry.get("claims"), revisions, &entrants) {
        (None, Some(item), Entrants::Revisions(asked)) => {
            let slowdown_max = asked.slowdown_max.unwrap_or(SLOWDOWN_MAX);
            vec![of_revisions(item, slowdown_max, &context, log)]
        }
        (Some(item), ..) => claims(item, &context, before, log),
        (None, ..) => Vec::new(),
    };
    let (name, line) = (entry.name, entry.line);
    Some(Contest { name, line, entrants, claims, options: layer.options() })
}

/// Returns the name of a contest: the given one, unless another has it, or its number.
fn name(
    items: &[Item<'_>],
    index: usize,
    names: &mut Vec<(String, usize)>,
    log: &mut Log<'_>,
) -> String {
    let number = format!("contest-{}", index + 1);
    let item = items.iter().find(|item| item.key == "name");
    let read = item.and_then(|item| Some((item, value::string(item, "sorting", log)?)));
    let Some((item, name)) = read else {
        names.push((number.clone(), 0));
        return number;
    };
    let line = log.line(item.span.start);
    if name.len() > MAX_NAME_BYTES || name.contains(char::is_control) {
        log.error(item.span.clone(), format!("'{}' is not a valid name", shown(name)))
            .label(format!("expected at most {MAX_NAME_BYTES} bytes and no control characters"));
    } else if let Some((_, before)) = names.iter().find(|(other, _)| other == name) {
        let label = match before {
            0 => "that is how a contest without a name is called".to_owned(),
            line => format!("the other one is in line {line}"),
        };
        let message = format!("two contests are called '{}'", shown(name));
        log.error(item.span.clone(), message).label(label);
    }
    names.push((name.to_owned(), line));
    name.to_owned()
}
