//! Code that is copied word for word from the texts that the studies are made after.
//!
//! Facts and figures of those texts are used here, their sentences and code are not. They are in a
//! folder next to the checkout, which some machines do not have.

use crate::finding::Finding;
use crate::mask::is_name_char;
use crate::tree::Source;
use anyhow::{Context, Result};
use std::collections::HashSet;
use std::fs;
use std::path::Path;

/// The folder of the texts, from the root of the repository.
const TEXTS: &str = "../shared/sources";

/// The longest run of tokens that code may share with a text.
const LONGEST_RUN: usize = 30;

/// Endings of files with code.
const CODE: [&str; 10] = ["c", "cpp", "d", "h", "hpp", "js", "mjs", "py", "rs", "sh"];

/// The runs of tokens of the texts, for comparison.
pub struct Texts {
    runs: HashSet<Vec<String>>,
}

impl Texts {
    /// Reads the texts; `None` where there is no such folder.
    ///
    /// # Errors
    /// Fails if a text cannot be read.
    pub fn read(root: &Path) -> Result<Option<Texts>> {
        let folder = root.join(TEXTS);
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(None) };
        let mut texts = Vec::new();
        for entry in entries {
            let path = entry?.path();
            let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            texts.push(String::from_utf8_lossy(&bytes).into_owned());
        }
        Ok(Some(Texts::of(texts.iter().map(String::as_str))))
    }

    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Texts {
        let mut runs = HashSet::new();
        for text in texts {
            let tokens = tokens(text);
            runs.extend(tokens.windows(LONGEST_RUN + 1).map(words));
        }
        Texts { runs }
    }

    /// Finds the first place where a source shares too long a run with a text.
    pub fn check(&self, source: &Source) -> Option<Finding> {
        if !CODE.contains(&source.ending()) || source.is_record() {
            return None;
        }
        let code = without_comments(&source.text);
        let tokens = tokens(&code);
        let windows = tokens.windows(LONGEST_RUN + 1);
        let found = windows.into_iter().find(|window| self.runs.contains(&words(window)))?;
        let what = format!("more than {LONGEST_RUN} tokens in a row as in a text of {TEXTS}");
        Some(Finding::new(&source.path, found[0].line, what, "write it anew from what it does"))
    }
}

/// A word, a number or a sign, and its line, counted from 1.
struct Token<'a> {
    text: &'a str,
    line: usize,
}

fn words(tokens: &[Token<'_>]) -> Vec<String> {
    tokens.iter().map(|token| token.text.to_owned()).collect()
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let (mut tokens, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(first) = rest.chars().next() {
        let end = if is_name_char(first) {
            rest.find(|c| !is_name_char(c)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        let (token, after) = rest.split_at(end);
        if !first.is_whitespace() {
            tokens.push(Token { text: token, line });
        }
        line += usize::from(first == '\n');
        rest = after;
    }
    tokens
}

/// Returns the code without comments in the style of C; their lines stay. A part of a string that
/// looks like a comment goes too, which only makes a run shorter.
fn without_comments(code: &str) -> String {
    let (mut kept, mut rest) = (String::with_capacity(code.len()), code);
    while let Some(at) = rest.find("//").into_iter().chain(rest.find("/*")).min() {
        let (before, comment) = rest.split_at(at);
        kept.push_str(before);
        let end = if comment.starts_with("//") {
            comment.find('\n')
        } else {
            comment.find("*/").map(|end| end + 2)
        };
        let (comment, after) = comment.split_at(end.unwrap_or(comment.len()));
        kept.extend(comment.chars().filter(|c| *c == '\n'));
        rest = after;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_runs_are_found_whatever_the_layout() {
        let numbers: Vec<String> = (0..40).map(|n| format!("x{n}")).collect();
        let text = format!("Some prose before.\n{}\nand after.", numbers.join(" + "));
        let texts = Texts::of([text.as_str()].into_iter());
        let check = |path: &str, code: String, line: Option<usize>| {
            let found = texts.check(&Source::of(path, &code));
            assert_eq!(found.map(|finding| finding.line), line, "{path}: {code}");
        };
        let sum = |count: usize| numbers[..count].join("+\n");
        check("a.c", sum(40), Some(1));
        check("a.c", format!("int y;\n/* a comment\n of two lines */{}", sum(40)), Some(3));
        check("a.cpp", numbers.join(" + // why\n"), Some(1));
        check("a.c", sum(16), Some(1));
        check("a.c", sum(15), None);
        check("a.c", sum(40).replace("x7", "y7"), Some(8));
        check("a.c", sum(30).replace("x15", "y"), None);
        check("a.md", sum(40), None);
        check("measured/a.c", sum(40), None);
    }
}
