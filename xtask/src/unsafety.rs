//! `unsafe` code is only in crates to which the map allows it.

use crate::edges::{MAP, Map};
use crate::finding::Finding;
use crate::mask::{is_name, mask};
use crate::tree::Source;

const FORBID: &str = "#![forbid(unsafe_code)]";

/// Finds roots of such crates that do not forbid `unsafe`, and any use of it in them.
pub fn check(map: &Map, sources: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in map.values().filter(|row| !row.unsafe_allowed) {
        let inside = format!("{}/", row.folder);
        for source in sources.iter().filter(|source| source.ending() == "rs") {
            let Some(path) = source.path.strip_prefix(&inside) else { continue };
            let code = mask(&source.text);
            let is_root =
                matches!(path, "src/lib.rs" | "src/main.rs") || path.starts_with("src/bin/");
            if is_root && !code.contains(FORBID) {
                let remedy = format!("add it, or change the map in {MAP}");
                findings.push(Finding::new(&source.path, 1, format!("no {FORBID}"), remedy));
            }
            for (number, _) in (1..).zip(code.lines()).filter(|(_, line)| is_name(line, "unsafe")) {
                let remedy = format!("move it to a crate that may, see {MAP}");
                findings.push(Finding::new(&source.path, number, "unsafe code", remedy));
            }
        }
    }
    findings
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
