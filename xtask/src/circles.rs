//! Modules that use each other in a circle, of which none can be read alone.

use crate::finding::Finding;
use crate::mask::{is_name_char, mask};
use crate::tree::Source;
use std::collections::{BTreeMap, BTreeSet};

/// The crates whose modules must not use each other in circles.
const CRATES: [&str; 9] = [
    "lab/cli/src/",
    "lab/core/src/",
    "lab/engine/src/",
    "lab/load/src/",
    "lab/machine/src/",
    "lab/probes/src/",
    "lab/report/src/",
    "lab/stats/src/",
    "lab/store/src/",
];

/// The modules that each top-level module of a crate uses, with the file and line of the first use.
type Uses<'a> = BTreeMap<&'a str, BTreeMap<String, (&'a Source, usize)>>;

/// Returns a finding for each crate whose modules use each other in a circle, at the use that
/// closes it.
pub fn check(sources: &[Source]) -> Vec<Finding> {
    CRATES.iter().filter_map(|root| circle(&uses(sources, root))).collect()
}

fn uses<'a>(sources: &'a [Source], root: &str) -> Uses<'a> {
    let mut uses = Uses::new();
    for source in sources.iter().filter(|source| source.ending() == "rs") {
        let Some(path) = source.path.strip_prefix(root) else { continue };
        if path.contains("tests") || path == "lib.rs" || path == "main.rs" {
            continue;
        }
        let module = path.split(['/', '.']).next().unwrap_or(path);
        let of = uses.entry(module).or_default();
        let code = mask(&source.text);
        // Tests may use any module.
        let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or(&code);
        for (index, line) in code.lines().enumerate() {
            for name in used(line) {
                of.entry(name).or_insert((source, index + 1));
            }
        }
    }
    uses
}

/// Returns the modules after each `crate::` of a line, also those between braces.
fn used(line: &str) -> Vec<String> {
    let mut names = Vec::new();
    for rest in line.split("crate::").skip(1) {
        let list = rest.strip_prefix('{').map(|list| list.split('}').next().unwrap_or(list));
        let each: Vec<&str> = list.map_or(vec![rest], |list| list.split(',').collect());
        names.extend(each.into_iter().map(|text| -> String {
            text.trim_start().chars().take_while(|c| is_name_char(*c)).collect()
        }));
    }
    names
}

/// Finds a use from which the module that uses is reached again.
fn circle(uses: &Uses<'_>) -> Option<Finding> {
    for (module, used) in uses {
        for (name, (source, line)) in used {
            if name != module && reaches(uses, name, module) {
                let what = format!("{module} uses {name}, which uses {module} in the end");
                let remedy = "move what both need to a module of its own";
                return Some(Finding::new(&source.path, *line, what, remedy));
            }
        }
    }
    None
}

fn reaches(uses: &Uses<'_>, from: &str, to: &str) -> bool {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(module) = open.pop() {
        if module == to {
            return true;
        }
        if seen.insert(module) {
            open.extend(uses.get(module).iter().flat_map(|used| used.keys().map(String::as_str)));
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn circles_are_found_and_tests_may_have_them() {
        let check_files = |files: &[(&str, &str)], expected: &[&str]| {
            let sources: Vec<Source> = files
                .iter()
                .map(|(file, text)| Source::of(&format!("lab/report/src/{file}"), text))
                .collect();
            let found: Vec<String> = check(&sources).iter().map(Finding::to_string).collect();
            assert_eq!(found, expected, "{files:?}");
        };
        let (a, b) = ("use crate::b::B;", "\nuse crate::{c, d::D};");
        check_files(&[("a.rs", a), ("b.rs", b), ("c.rs", ""), ("d.rs", "")], &[]);
        let said = "lab/report/src/a.rs:1: a uses b, which uses a in the end: move what both need \
                    to a module of its own";
        check_files(&[("a.rs", a), ("b.rs", b), ("d/e.rs", "crate::a::f();")], &[said]);
        let test = "#[cfg(test)]\nmod tests {\n use crate::a;\n}";
        check_files(&[("a.rs", a), ("b.rs", test)], &[]);
        check_files(&[("a.rs", a), ("b.rs", "// crate::a\n\"crate::a\"")], &[]);
        check_files(&[("a.rs", a), ("b/tests.rs", "use crate::a;")], &[]);
    }
}
