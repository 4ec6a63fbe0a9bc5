//! Words and characters that no committed file holds.

use crate::finding::Finding;
use crate::mask::{is_name_char, mask};
use crate::tree::Source;

/// Macros that say that something is not done, or that were left from looking for a fault.
const UNFINISHED: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Names of types that the field has better ones for: observation, options, request, outcome.
const RETIRED: [&str; 9] =
    ["Asked", "Flight", "Ground", "Said", "Seen", "Shop", "Told", "Upshot", "Wish"];

/// Where machines that build keep their files. A path is one only if nothing stands before it.
const BUILD_ROOTS: [&str; 3] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/bui", "lds/")];

/// Everything of this kind that is wrong with a source. `own` are folders of this machine: that of
/// the checkout and that of its user.
pub fn check(source: &Source, own: &[String]) -> Vec<Finding> {
    let mut findings = Vec::new();
    if source.is_record() {
        paths(source, own, &mut findings);
        return findings;
    }
    if source.is_code() {
        characters(source, &mut findings);
    }
    if source.ending() == "rs" {
        macros(source, &mut findings);
    }
    notes(source, &mut findings);
    paths(source, own, &mut findings);
    findings
}

fn each_line(
    source: &Source,
    text: &str,
    findings: &mut Vec<Finding>,
    look: impl Fn(&str) -> Option<(String, &'static str)>,
) {
    for (i, line) in text.lines().enumerate() {
        if let Some((what, remedy)) = look(line) {
            findings.push(Finding::new(&source.path, i + 1, what, remedy));
        }
    }
}

fn characters(source: &Source, findings: &mut Vec<Finding>) {
    each_line(source, &source.text, findings, |line| {
        let c = line.chars().find(|c| !c.is_ascii() || (c.is_ascii_control() && *c != '\t'))?;
        let what = format!("the character {}", c.escape_unicode());
        Some((what, "use ASCII, or an escape in a string"))
    });
}

fn macros(source: &Source, findings: &mut Vec<Finding>) {
    each_line(source, &mask(&source.text), findings, |line| {
        let word = UNFINISHED.into_iter().find(|word| has_word(line, word))?;
        Some((format!("a {word} left behind"), "finish it, or return an error"))
    });
    each_line(source, &mask(&source.text), findings, |line| {
        let name = RETIRED.into_iter().find(|name| is_name(line, name))?;
        Some((format!("the retired name {name}"), "say what it is: an observation, a request"))
    });
}

fn notes(source: &Source, findings: &mut Vec<Finding>) {
    let note = concat!("FIX", "ME");
    each_line(source, &source.text, findings, |line| {
        let found = line.contains(note);
        found.then(|| (format!("a {note}"), "fix it, or open an issue"))
    });
}

fn paths(source: &Source, own: &[String], findings: &mut Vec<Finding>) {
    let known = BUILD_ROOTS.into_iter().chain(own.iter().map(String::as_str));
    let known: Vec<&str> = known.collect();
    each_line(source, &source.text, findings, |line| {
        let path = known.iter().find(|path| has_path(line, path))?;
        let what = format!("a path of one machine ({path})");
        Some((what, "use a relative path or a temporary folder"))
    });
}

fn has_word(line: &str, word: &str) -> bool {
    let starts = |at: usize| !line[..at].ends_with(is_name_char);
    line.match_indices(word).any(|(at, _)| starts(at))
}

/// Whether the name stands in the line, whole.
fn is_name(line: &str, name: &str) -> bool {
    line.split(|c: char| !is_name_char(c)).any(|word| word == name)
}

fn has_path(line: &str, path: &str) -> bool {
    let before = |c: char| is_name_char(c) || matches!(c, '.' | '-' | '~' | '}' | ')' | '*');
    line.match_indices(path).any(|(at, _)| !line[..at].ends_with(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_text(path: &str, text: &str, expected: &[&str]) {
        let found = check(&Source::of(path, text), &["/somewhere/checkout".to_owned()]);
        let found: Vec<_> = found.iter().map(|f| format!("{} {}", f.line, f.what)).collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn what_no_file_holds_is_found() {
        check_text("a.rs", "fn a() {}\n", &[]);
        check_text("a.rs", "\n// caf\u{e9}", &["2 the character \\u{e9}"]);
        check_text("Makefile", "\ta\n", &[]);
        check_text("a.sh", "a\r\n\u{7}", &["2 the character \\u{7}"]);
        check_text("a.md", "caf\u{e9}", &[]);
        check_text("a.rs", "a(); todo!()", &["1 a todo! left behind"]);
        check_text("a.rs", "x = dbg!(y);", &["1 a dbg! left behind"]);
        check_text("a.rs", "// todo!\nmy_dbg!(); \"unimplemented!\"", &[]);
        check_text("a.rs", "struct Told;", &["1 the retired name Told"]);
        check_text("a.rs", "struct Foretold; // Told\nlet told = \"Told\";", &[]);
        check_text("a.toml", concat!("# FIX", "ME later"), &[concat!("1 a FIX", "ME")]);
    }

    #[test]
    fn paths_of_a_machine_are_found_even_in_records() {
        let folder = BUILD_ROOTS[0];
        let found = format!("1 a path of one machine ({folder})");
        check_text("a.rs", &format!("\"{folder}me/x\""), &[&found]);
        check_text("a/measured/b.json", &format!("\"{folder}me/x\""), &[&found]);
        check_text("a.sh", &format!("cd \"$ROOT{folder}x\""), &[]);
        check_text("a.sh", &format!("ls lab{folder}x ./x{folder}"), &[]);
        let root = "1 a path of one machine (/somewhere/checkout)";
        check_text("a.md", "see /somewhere/checkout/target", &[root]);
    }
}
