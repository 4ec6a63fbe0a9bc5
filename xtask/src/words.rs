//! Words and characters that no committed file may have.

use crate::finding::Finding;
use crate::mask::{is_name, is_name_char, mask};
use crate::tree::Source;

/// Macros of unfinished code, and those that were left from looking for a fault.
const UNFINISHED: [&str; 3] = ["todo!", "unimplemented!", "dbg!"];

/// Names of types that the field has better ones for: observation, options, request, outcome.
const RETIRED: [&str; 9] =
    ["Asked", "Flight", "Ground", "Said", "Seen", "Shop", "Told", "Upshot", "Wish"];

/// The folders in which machines that build keep their files. Each is one only at the beginning of
/// a path.
const BUILD_ROOTS: [&str; 3] =
    [concat!("/ro", "ot/"), concat!("/wo", "rk/"), concat!("/bui", "lds/")];

/// A fault of a line, and its remedy.
type Fault = Option<(String, &'static str)>;

/// Finds every fault of this kind in a source. `own` are folders of this machine: that of the
/// checkout and that of its user. A record may have any words, but no path of a machine.
pub fn check(source: &Source, own: &[String]) -> Vec<Finding> {
    let is_written = !source.is_record();
    let is_rust = is_written && source.ending() == "rs";
    let masked = if is_rust { mask(&source.text) } else { String::new() };
    let mut masked = masked.lines();
    let mut findings = Vec::new();
    for (number, line) in (1..).zip(source.text.lines()) {
        let code = masked.next().unwrap_or_default();
        let faults = [
            character(line).filter(|_| is_written && source.is_code()),
            unfinished(code),
            retired(code),
            note(line).filter(|_| is_written),
            path(line, own),
        ];
        let found = faults.into_iter().flatten();
        findings.extend(found.map(|(what, to_do)| Finding::new(&source.path, number, what, to_do)));
    }
    findings
}

fn character(line: &str) -> Fault {
    let c = line.chars().find(|c| !c.is_ascii() || (c.is_ascii_control() && *c != '\t'))?;
    Some((format!("the character {}", c.escape_unicode()), "use ASCII, or an escape in a string"))
}

fn unfinished(code: &str) -> Fault {
    let word = UNFINISHED.into_iter().find(|word| {
        code.match_indices(*word).any(|(at, _)| !code[..at].ends_with(is_name_char))
    })?;
    Some((format!("a {word} left behind"), "finish it, or return an error"))
}

fn retired(code: &str) -> Fault {
    let name = RETIRED.into_iter().find(|name| is_name(code, name))?;
    Some((format!("the retired name {name}"), "say what it is: an observation, a request"))
}

fn note(line: &str) -> Fault {
    let note = concat!("FIX", "ME");
    line.contains(note).then(|| (format!("a {note}"), "fix it, or open an issue"))
}

fn path(line: &str, own: &[String]) -> Fault {
    let mut known = BUILD_ROOTS.into_iter().chain(own.iter().map(String::as_str));
    let path = known.find(|path| has_path(line, path))?;
    let what = format!("a path of one machine ({path})");
    Some((what, "use a relative path or a temporary folder"))
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
