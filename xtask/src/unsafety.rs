//! `unsafe` stands only in the crates that the map allows it to.

use crate::edges::{MAP, Map};
use crate::finding::Finding;
use crate::mask::{is_name_char, mask};
use crate::tree::Source;

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Roots of forbidden crates that do not forbid it, and uses of `unsafe` anywhere in such a crate.
pub fn check(map: &Map, sources: &[Source]) -> Vec<Finding> {
    let forbidden = map.values().filter(|row| !row.unsafe_allowed);
    let mut findings = Vec::new();
    for row in forbidden {
        let inside = format!("{}/", row.folder);
        let of_crate =
            |source: &&Source| source.ending() == "rs" && source.path.starts_with(&inside);
        for source in sources.iter().filter(of_crate) {
            check_source(source, &source.path[inside.len()..], &mut findings);
        }
    }
    findings
}

fn check_source(source: &Source, path_in_crate: &str, findings: &mut Vec<Finding>) {
    let code = mask(&source.text);
    let is_root = matches!(path_in_crate, "src/lib.rs" | "src/main.rs")
        || path_in_crate.starts_with("src/bin/");
    if is_root && !code.contains(FORBID) {
        let remedy = format!("add it, or change the map in {MAP}");
        findings.push(Finding::new(&source.path, 1, format!("no {FORBID}"), remedy));
    }
    for (i, line) in code.lines().enumerate() {
        if has_unsafe(line) {
            let remedy = format!("move it to a crate that may, see {MAP}");
            findings.push(Finding::new(&source.path, i + 1, "unsafe code", remedy));
        }
    }
}

fn has_unsafe(line: &str) -> bool {
    let word = "unsafe";
    line.match_indices(word).any(|(at, _)| {
        let after = &line[at + word.len()..];
        !line[..at].ends_with(is_name_char) && !after.starts_with(is_name_char)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::Crate;

    #[test]
    fn unsafe_is_found_where_it_is_forbidden() {
        let row = |folder: &str, unsafe_allowed| Crate {
            folder: folder.to_owned(),
            may_use: Vec::new(),
            unsafe_allowed,
            line: 1,
        };
        let mut map = Map::new();
        map.insert("a".to_owned(), row("lab/a", false));
        map.insert("b".to_owned(), row("lab/b", true));
        let forbidding = format!("{FORBID}\n// unsafe\n");
        let sources = [
            Source::of("lab/a/src/lib.rs", &forbidding),
            Source::of("lab/a/src/main.rs", "// #![forbid(unsafe_code)]\n"),
            Source::of("lab/a/src/x.rs", "let unsafe_code = \"unsafe\";\n"),
            Source::of("lab/a/tests/y.rs", "\nunsafe { x() }"),
            Source::of("lab/b/src/lib.rs", "unsafe { x() }"),
            Source::of("lab/ab/src/lib.rs", "unsafe { x() }"),
        ];
        let found = check(&map, &sources);
        let found: Vec<_> = found.iter().map(|f| (f.file.as_str(), f.line)).collect();
        assert_eq!(found, [("lab/a/src/main.rs", 1), ("lab/a/tests/y.rs", 2)]);
    }
}
