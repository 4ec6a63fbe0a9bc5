//! Markdown pages: each has one title, and links to files that exist.

use crate::finding::Finding;
use crate::tree::Source;
use std::path::{Component, Path, PathBuf};

/// Finds pages without exactly one title, and links to files that do not `exist`.
pub fn check(source: &Source, exists: impl Fn(&Path) -> bool) -> Vec<Finding> {
    if source.ending() != "md" || source.is_record() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let lines = prose(&source.text);
    let titles: Vec<_> = lines.iter().filter(|(_, line)| line.starts_with("# ")).collect();
    if titles.len() != 1 {
        let line = titles.get(1).map_or(1, |(i, _)| *i);
        let what = format!("{} titles of the first level", titles.len());
        findings.push(Finding::new(&source.path, line, what, "a page has exactly one"));
    }
    for (i, line) in &lines {
        for target in links(line) {
            if resolve(&source.path, target).is_some_and(|path| !exists(&path)) {
                let what = format!("the link to {target} leads nowhere");
                findings.push(Finding::new(&source.path, *i, what, "correct or drop it"));
            }
        }
    }
    findings
}

/// Returns the lines outside of fenced code, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut is_fenced = false;
    let outside = (1..).zip(text.lines()).filter(|(_, line)| {
        let is_fence = line.trim_start().starts_with("```");
        is_fenced ^= is_fence;
        !is_fenced && !is_fence
    });
    outside.collect()
}

fn links(line: &str) -> Vec<&str> {
    let after = line.split("](").skip(1);
    after.filter_map(|rest| rest.split_once(')').map(|(target, _)| target)).collect()
}

/// Returns the path from the root of the file that a link of a page leads to; `None` for addresses
/// and anchors.
fn resolve(page: &str, target: &str) -> Option<PathBuf> {
    let file = target.split('#').next().unwrap_or_default();
    if file.is_empty() || file.contains("://") || file.starts_with("mailto:") {
        return None;
    }
    let mut path = Path::new(page).parent()?.to_owned();
    for part in Path::new(file).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            Component::Normal(name) => path.push(name),
            _ => {}
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_page(text: &str, expected: &[&str]) {
        let known = ["docs/a.md", "README.md", "docs/manual"];
        let exists = |path: &Path| known.iter().any(|known| path == Path::new(known));
        let found = check(&Source::of("docs/page.md", text), exists);
        let found: Vec<_> = found.iter().map(|f| format!("{} {}", f.line, f.what)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn a_page_has_one_title() {
        check_page("# T\n## Part\n```\n# comment\n```\n", &[]);
        check_page("## Part\n", &["1 0 titles of the first level"]);
        check_page("# T\n\n# U\n", &["3 2 titles of the first level"]);
    }

    #[test]
    fn links_lead_to_files() {
        let ok = "[a](a.md) [r](../README.md#part) [m](manual/) [h](https://x.y) [p](#part)";
        check_page(&format!("# T\n{ok}\n"), &[]);
        check_page("# T\n[a](a.md) [b](b.md#x)\n", &["2 the link to b.md#x leads nowhere"]);
        check_page("# T\n```\n[b](b.md)\n```\n", &[]);
    }
}
