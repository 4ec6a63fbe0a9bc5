//! Known files and functions that are longer than they should be: they may only shrink.

use crate::finding::Finding;
use crate::lengths::TooLong;
use anyhow::{Context, Result};
use std::collections::BTreeMap;

/// The path of the ratchet.
pub const FILE: &str = "xtask/ratchet.txt";

const HEAD: &str = "\
# What is longer than its limit and known: a path and its lines, or path::function and its
# statements.
# An entry may only shrink or go; `cargo xtask tidy --bless` does that.
";

/// The allowed length of each known file or function.
pub type Ratchet = BTreeMap<String, usize>;

/// Reads the ratchet.
///
/// # Errors
/// Fails if a line is not a key and a number.
pub fn parse(text: &str) -> Result<Ratchet> {
    let lines = text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty());
    lines
        .map(|line| {
            let entry = line.trim().rsplit_once(' ');
            let (key, lines) = entry.with_context(|| format!("{FILE}: '{line}' has no number"))?;
            let lines = lines.parse().with_context(|| format!("{FILE}: '{line}'"))?;
            Ok((key.to_owned(), lines))
        })
        .collect()
}

/// Writes the ratchet.
pub fn render(ratchet: &Ratchet) -> String {
    let lines = ratchet.iter().map(|(key, lines)| format!("{key} {lines}\n"));
    HEAD.to_owned() + &lines.collect::<String>()
}

/// Returns the longest of each name: two functions of one name in a file share an entry.
fn longest(found: &[TooLong]) -> BTreeMap<&str, &TooLong> {
    let mut rising: Vec<&TooLong> = found.iter().rev().collect();
    rising.sort_by_key(|item| item.count);
    rising.into_iter().map(|item| (item.key.as_str(), item)).collect()
}

/// Returns the ratchet with smaller entries where they suffice: none is new and none is larger.
pub fn bless(ratchet: &Ratchet, found: &[TooLong]) -> Ratchet {
    let longest = longest(found);
    let still = ratchet.iter().filter_map(|(key, allowed)| {
        let item = longest.get(key.as_str())?;
        Some((key.clone(), item.count.min(*allowed)))
    });
    still.collect()
}

/// Finds what is too long and not known, what has grown, and entries that should shrink.
pub fn check(ratchet: &Ratchet, found: &[TooLong]) -> Vec<Finding> {
    let longest = longest(found);
    let mut findings = Vec::new();
    for (key, item) in &longest {
        let allowed = ratchet.get(*key).copied().unwrap_or(item.limit);
        if item.count > allowed {
            let what = format!("{key} has {} {}", item.count, item.unit);
            let remedy = format!("split it: {allowed} are allowed");
            findings.push(Finding::new(&item.file, item.line, what, remedy));
        }
    }
    for (i, (key, allowed)) in ratchet.iter().enumerate() {
        let lines = longest.get(key.as_str()).map_or(0, |item| item.count);
        if lines < *allowed {
            let what = format!("the entry of {key} allows {allowed} and it needs fewer");
            let line = i + 1 + HEAD.lines().count();
            findings.push(Finding::new(FILE, line, what, "run cargo xtask tidy --bless"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(key: &str, lines: usize) -> TooLong {
        TooLong {
            key: key.to_owned(),
            file: "a.rs".to_owned(),
            line: 3,
            unit: "lines",
            count: lines,
            limit: 70,
        }
    }

    #[test]
    fn an_entry_may_only_shrink() {
        let ratchet = parse("# words\na.rs::f 90\na.rs::gone 80\n").unwrap();
        let check = |found: &[TooLong]| -> Vec<String> {
            check(&ratchet, found).iter().map(Finding::to_string).collect()
        };
        let grown = check(&[long("a.rs::f", 91), long("a.rs::new", 71)]);
        assert_eq!(grown[0], "a.rs:3: a.rs::f has 91 lines: split it: 90 are allowed");
        assert_eq!(grown[1], "a.rs:3: a.rs::new has 71 lines: split it: 70 are allowed");
        assert!(grown[2].contains("a.rs::gone allows 80"), "{grown:?}");
        assert_eq!(grown.len(), 3);

        let found = [long("a.rs::f", 75), long("a.rs::f", 80), long("a.rs::new", 100)];
        assert_eq!(check(&found).len(), 3);
        let blessed = bless(&ratchet, &found);
        assert_eq!(blessed, parse("a.rs::f 80").unwrap());
        assert_eq!(parse(&render(&blessed)).unwrap(), blessed);
        assert_eq!(bless(&ratchet, &[long("a.rs::f", 99)])["a.rs::f"], 90);
    }

    #[test]
    fn a_broken_ratchet_is_refused() {
        assert!(parse("a.rs").unwrap_err().to_string().contains("no number"));
        assert!(parse("a.rs many").is_err());
    }
}
