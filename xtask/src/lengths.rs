//! The lengths of lines, functions and files.

use crate::finding::Finding;
use crate::mask::{is_name_char, mask};
use crate::tree::Source;

/// The longest line, in characters.
const LINE_COLUMNS_MAX: usize = 100;
/// The largest number of statements of a function: each semicolon, `if`, `for`, `while`,
/// `loop` and `match`. A long `match` of short arms and a long table are one statement.
const STATEMENTS_MAX: usize = 45;
/// The longest file.
const FILE_LINES_MAX: usize = 1000;
/// The shortest file of a crate, unless it only gathers others: less belongs to its neighbour.
const FILE_LINES_MIN: usize = 30;

/// Words that begin a statement without a semicolon.
const BRANCHES: [&str; 5] = ["if", "for", "while", "loop", "match"];

/// A function in a source.
#[derive(Debug, PartialEq, Eq)]
struct Function {
    name: String,
    line: usize,
    statements: usize,
}

/// Finds lines that are too wide. Addresses cannot be broken and so may be.
pub fn wide_lines(source: &Source) -> Vec<Finding> {
    if !source.is_code() || source.is_record() || source.is_table() {
        return Vec::new();
    }
    let lines = (1..).zip(source.text.lines()).filter(|(_, line)| !line.contains("://"));
    let lines = lines.map(|(number, line)| (number, line.chars().count()));
    let wide = lines.filter(|(_, columns)| *columns > LINE_COLUMNS_MAX).map(|(number, columns)| {
        let what = format!("line of {columns} columns");
        Finding::new(&source.path, number, what, format!("break it at {LINE_COLUMNS_MAX}"))
    });
    wide.collect()
}

/// Finds a file of a crate that is too short to stand alone: it is neither a crate's root or
/// program, nor the head of a folder, nor a list of modules and names.
pub fn short_file(source: &Source, sources: &[Source]) -> Option<Finding> {
    let stem = source.path.strip_suffix(".rs").filter(|stem| stem.contains("/src/"))?;
    let (folder, name) = stem.rsplit_once('/')?;
    let children = format!("{stem}/");
    let lines = source.text.lines().count();
    if lines >= FILE_LINES_MIN
        || matches!(name, "main" | "lib")
        || folder.ends_with("/bin")
        || !mask(&source.text).lines().any(defines)
        || sources.iter().any(|other| other.path.starts_with(&children))
    {
        return None;
    }
    let remedy = "move what it has to the file that uses it";
    Some(Finding::new(&source.path, 1, format!("file of {lines} lines"), remedy))
}

/// Returns whether a line of code defines something, rather than names it.
fn defines(line: &str) -> bool {
    let start = line.trim_start_matches("pub ").trim_start();
    ["fn ", "struct ", "enum ", "const "].iter().any(|word| start.starts_with(word))
        || line.contains("(crate) fn ")
        || line.contains("(crate) struct ")
}

/// Finds the file and the functions in it that are longer than they should be.
pub fn too_long(source: &Source) -> Vec<Finding> {
    if !source.is_code() || source.is_record() || source.is_table() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    let lines = source.text.lines().count();
    if lines > FILE_LINES_MAX {
        let remedy = format!("split it: {FILE_LINES_MAX} are allowed");
        findings.push(Finding::new(&source.path, 1, format!("file of {lines} lines"), remedy));
    }
    let code = if source.ending() == "rs" { mask(&source.text) } else { String::new() };
    for Function { name, line, statements } in functions(&code) {
        if statements > STATEMENTS_MAX {
            let what = format!("{name} has {statements} statements");
            let remedy = format!("split it: {STATEMENTS_MAX} are allowed");
            findings.push(Finding::new(&source.path, line, what, remedy));
        }
    }
    findings
}

/// Returns every function with a body in masked code, inner ones too.
fn functions(code: &str) -> Vec<Function> {
    let found = code.match_indices("fn").filter_map(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + 2..]);
        let is_inside_name = before.ends_with(is_name_char) || before.ends_with('#');
        // There is no name after the `fn` of a pointer's type.
        let name = after.strip_prefix(char::is_whitespace)?.trim_start();
        let name = name.split(|c| !is_name_char(c) && c != '#').next().unwrap_or_default();
        if is_inside_name || name.is_empty() {
            return None;
        }
        let statements = statements(&after[..end_of_function(after)?]);
        Some(Function { name: name.to_owned(), line: 1 + before.matches('\n').count(), statements })
    });
    found.collect()
}

/// Counts the statements of a function in masked code, those of closures and of inner functions
/// too. The semicolon of an array's type is none.
fn statements(code: &str) -> usize {
    let mut open = Vec::new();
    let mut count = 0;
    for c in code.chars() {
        match c {
            '(' | '[' | '{' => open.push(c),
            ')' | ']' | '}' => drop(open.pop()),
            ';' if open.last() != Some(&'[') => count += 1,
            _ => {}
        }
    }
    let words = code.split(|c: char| !is_name_char(c));
    count + words.filter(|word| BRANCHES.contains(word)).count()
}

/// Returns the place after the brace that closes the body; `None` if there is no body.
fn end_of_function(code: &str) -> Option<usize> {
    let (mut brackets, mut braces) = (0, 0);
    for (at, c) in code.char_indices() {
        match c {
            '(' | '[' if braces == 0 => brackets += 1,
            ')' | ']' if braces == 0 => brackets -= 1,
            ';' if braces == 0 && brackets == 0 => return None,
            '{' => braces += 1,
            '}' if braces <= 1 => return (braces == 1).then_some(at + 1),
            '}' => braces -= 1,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(source: &str, expected: &[(&str, usize, usize)]) {
        let found = functions(&mask(source));
        let found: Vec<_> = found.iter().map(|f| (f.name.as_str(), f.line, f.statements)).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn functions_are_found_with_their_statements() {
        check("fn a() {}", &[("a", 1, 0)]);
        check("\npub fn a(x: [u8; 4])\n-> u8 {\n x[0]\n}\n", &[("a", 2, 0)]);
        check("trait T {\n fn a();\n fn b() {\n }\n}", &[("b", 3, 0)]);
        check("fn a() {\n let s = \"};\"; // };\n ';';\n}\nfn b() {}", &[("a", 1, 2), ("b", 5, 0)]);
        check("fn a() {\n fn b() {\n x();\n }\n}", &[("a", 1, 1), ("b", 2, 1)]);
        check("let f: fn (u8) -> u8 = g;", &[]);
        check("type F = fn(u8); struct S { fn_: u8 }", &[]);
        check("// fn a() {}\nfn b<'a>(x: &'a u8) where u8: Copy {\n}", &[("b", 2, 0)]);
        check("fn r#fn() { if x { y } else { z } }", &[("r#fn", 1, 1)]);
        check("fn a() { f(|x| { g(x); h(x); [0; 8] }); }", &[("a", 1, 3)]);
        check("fn a() -> u8 { match x { 1 => 2, 2 => 3, _ => 4 } }", &[("a", 1, 1)]);
        check("fn never_closed() {", &[]);
    }

    #[test]
    fn what_is_too_long_is_named() {
        let body = |statements: usize| format!("fn f() {{\n{}}}\n", "x();\n".repeat(statements));
        let source = |text: String| Source { path: "a.rs".to_owned(), text };
        assert_eq!(too_long(&source(body(STATEMENTS_MAX))), []);
        let found = too_long(&source(body(STATEMENTS_MAX + 1)));
        assert_eq!(
            found.iter().map(Finding::to_string).collect::<Vec<_>>(),
            ["a.rs:1: f has 46 statements: split it: 45 are allowed"]
        );
        assert_eq!(too_long(&source("\n".repeat(FILE_LINES_MAX))), []);
        let found = too_long(&source("\n".repeat(FILE_LINES_MAX + 1)));
        assert_eq!(found[0].to_string(), "a.rs:1: file of 1001 lines: split it: 1000 are allowed");
        assert_eq!(too_long(&Source::of("b/tables.rs", &"\n".repeat(1900))), []);
    }

    #[test]
    fn wide_lines_are_found_by_characters() {
        let wide = |text: &str| wide_lines(&Source::of("a.rs", text)).len();
        assert_eq!(wide(&"x".repeat(100)), 0);
        assert_eq!(wide(&"x".repeat(101)), 1);
        assert_eq!(wide(&"\u{e9}".repeat(100)), 0);
        assert_eq!(wide(&format!("// https://{}", "x".repeat(101))), 0);
        assert_eq!(wide_lines(&Source::of("a.md", &"x".repeat(101))), []);
    }

    #[test]
    fn short_files_are_found_unless_they_gather() {
        let is_short = |sources: &[Source]| short_file(&sources[0], sources).is_some();
        let small = || Source::of("lab/a/src/b.rs", "pub(crate) fn f() {}\n");
        assert!(is_short(&[small()]));
        assert!(!is_short(&[small(), Source::of("lab/a/src/b/c.rs", "")]));
        for (path, text) in [
            ("lab/a/src/lib.rs", "fn f() {}\n"),
            ("lab/a/src/bin/tool.rs", "fn main() {}\n"),
            ("lab/a/src/b.rs", "pub use core::sync::atomic::fence;\n"),
            ("lab/a/src/b.rs", &"fn f() {}\n".repeat(FILE_LINES_MIN)),
            ("lab/a/tests/b.rs", "fn f() {}\n"),
        ] {
            assert!(!is_short(&[Source::of(path, text)]), "{path}: {text}");
        }
    }
}
