//! Names of contests, contestants, workloads, contracts and verifications.

use crate::document::{Item, Log, MAX_NAME_BYTES, Table};
use crate::error::{listed, shown};
use crate::grammar::KEYWORDS;
use crate::suggest::closest;
use std::ops::Range;

/// The names of one kind of table that were read.
pub struct Names {
    /// The kind, such as `workloads`.
    kind: &'static str,
    /// Whether claims use them.
    in_claims: bool,
    /// Each with its line; 0 if it was made.
    seen: Vec<(String, usize)>,
}

impl Names {
    /// Creates a set of names that claims use.
    pub fn in_claims(kind: &'static str) -> Names {
        Names { kind, in_claims: true, seen: Vec::new() }
    }

    /// Creates a set of names that no claim uses.
    pub fn of(kind: &'static str) -> Names {
        Names { kind, in_claims: false, seen: Vec::new() }
    }

    /// Reads the name of a table, which it must have; empty if there is none. An invalid name is
    /// returned too, for what refers to it.
    pub fn read(&mut self, table: &Table<'_>) -> String {
        let name = self.read_text(table);
        let Some(item) = table.get("name").filter(|_| !name.is_empty()) else { return name };
        let what = table.place.noun();
        if !is_name(&name) {
            let plain = plain(&name);
            let meant = Some(plain.as_str()).filter(|plain| is_name(plain));
            item.error(format!("'{}' is not a valid {what} name", shown(&name)))
                .label(format!(
                    "expected at most {MAX_NAME_BYTES} lower-case letters, digits, '-' and '_'"
                ))
                .meant(meant);
        } else if self.in_claims && KEYWORDS.contains(&name.as_str()) {
            item.error(format!("'{name}' is a word of claims"))
                .label(format!("a claim could not name a {what} of this name"));
        }
        name
    }

    /// Reads the name of a table, which it must have and which only has to be new.
    pub fn read_text(&mut self, table: &Table<'_>) -> String {
        let name = table.required_text("name");
        let Some(item) = table.get("name").filter(|_| !name.is_empty()) else { return name };
        self.add(&name, item);
        name
    }

    /// Returns another name of a table: its own with a suffix, if there is one.
    pub fn longer(&mut self, table: &Table<'_>, name: &str, suffix: &str) -> String {
        let longer = format!("{name}{suffix}");
        let Some(item) = table.get("name").filter(|_| !name.is_empty() && !suffix.is_empty())
        else {
            return longer;
        };
        if is_name(name) && !is_name(&longer) {
            item.error(format!("'{}' is too long a name", shown(&longer)))
                .label(format!("with this in its lists it becomes longer by '{suffix}'"));
        }
        self.add(&longer, item);
        longer
    }

    /// Adds the name of a table that has none.
    pub fn made(&mut self, name: String) -> String {
        self.seen.push((name.clone(), 0));
        name
    }

    /// Adds a name, and logs an error if it is not new.
    pub fn add(&mut self, name: &str, item: &Item<'_>) {
        if let Some((_, line)) = self.seen.iter().find(|(other, _)| other == name) {
            let message = format!("two {} are called '{}'", self.kind, shown(name));
            item.error(message).label(match line {
                0 => {
                    let one = self.kind.trim_end_matches('s');
                    format!("that is how a {one} without a name is called")
                }
                line => format!("the other one is in line {line}"),
            });
        }
        self.seen.push((name.to_owned(), item.log.line(item.span.start)));
    }
}

/// Returns whether this is a valid name.
pub fn is_name(name: &str) -> bool {
    name.len() <= MAX_NAME_BYTES
        && name.starts_with(is_letter)
        && name.chars().all(|c| is_letter(c) || matches!(c, '-' | '_'))
}

fn is_letter(c: char) -> bool {
    c.is_ascii_lowercase() || c.is_ascii_digit()
}

/// Returns the valid name that is nearest to what was written.
pub fn plain(name: &str) -> String {
    let name = name.to_ascii_lowercase();
    name.replace(|c: char| !is_letter(c) && c != '_', "-").trim_matches(['-', '_']).to_owned()
}

/// Returns whether a name is a known one, or logs an error with the known ones; not if there are
/// none, because that is reported already.
pub fn is_known(name: &str, known: &[&str], what: &str, span: Range<usize>, log: &Log<'_>) -> bool {
    let is_known = known.contains(&name);
    if !is_known && !known.is_empty() {
        log.error(span, format!("no {what} is called '{}'", shown(name)))
            .expected(&listed(known))
            .meant(closest(name, known.iter().copied()));
    }
    is_known
}

/// Returns the name in a value, if it is a known one.
pub fn known<'a>(item: &Item<'a>, what: &str, known: &[&str]) -> Option<&'a str> {
    let name = item.string_as(known.first().unwrap_or(&"name"))?;
    is_known(name, known, what, item.span.clone(), item.log).then_some(name)
}
