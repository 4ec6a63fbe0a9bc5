//! The errors of a file, as they are found.

use super::errors::{FileError, FileErrors};
use crate::error::{ClaimError, harmless, shown};
use std::ops::Range;

/// Collects errors in any order.
pub(crate) struct Log<'a> {
    text: &'a str,
    /// The byte at which each line starts.
    starts: Vec<usize>,
    found: Vec<Found>,
}

/// An error: where it is, what is wrong, what was expected there, and what would help.
pub(crate) struct Found {
    span: Range<usize>,
    message: String,
    label: Option<String>,
    help: Option<String>,
}

impl Found {
    /// Sets the text next to the mark.
    pub(crate) fn label(&mut self, label: impl Into<String>) -> &mut Found {
        self.label = Some(label.into());
        self
    }

    /// Sets what would help.
    pub(crate) fn help(&mut self, help: impl Into<String>) -> &mut Found {
        self.help = Some(help.into());
        self
    }

    /// Sets what was probably meant.
    pub(crate) fn meant(&mut self, meant: Option<&str>) -> &mut Found {
        if let Some(meant) = meant {
            self.help(format!("did you mean '{}'?", shown(meant)));
        }
        self
    }
}

impl<'a> Log<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Log { text, starts: std::iter::once(0).chain(starts).collect(), found: Vec::new() }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    /// Returns the number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.found.len()
    }

    /// Returns the file.
    pub(crate) fn text(&self) -> &'a str {
        self.text
    }

    /// Adds an error about some bytes.
    pub(crate) fn error(&mut self, span: Range<usize>, message: impl Into<String>) -> &mut Found {
        self.found.push(Found { span, message: message.into(), label: None, help: None });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Adds errors of syntax that do not follow from others: only the first of several in a line,
    /// and none after one in brackets, because their end is then unknown.
    pub(crate) fn syntax(&mut self, errors: &[toml::de::Error]) {
        let is_in_brackets =
            |message: &str| ["array", "inline table"].iter().any(|word| message.contains(word));
        let mut last_line = 0;
        for error in errors {
            let span = error.span().unwrap_or(self.text.len()..self.text.len());
            let line = self.line(span.start);
            if line == last_line {
                continue;
            }
            last_line = line;
            let (message, expected) = match error.message().split_once(", expected ") {
                Some((message, expected)) => (message, Some(expected)),
                None => (error.message(), None),
            };
            let expected = expected.filter(|expected| *expected != "literal string");
            let found = self.error(span, message);
            found.label = expected.map(|expected| format!("expected {expected}"));
            found.help = syntax_help(message).map(str::to_owned);
            if is_in_brackets(message) {
                break;
            }
        }
    }

    /// Adds the error of a sentence, with the bytes of its wrong word in the file.
    pub(crate) fn claim(&mut self, span: Range<usize>, error: &ClaimError) {
        let found = self.error(span, error.problem.to_string()).meant(error.suggestion.as_deref());
        found.label = error.expectation();
    }

    /// Returns the number of the line that contains a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        self.starts.partition_point(|start| *start <= at)
    }

    /// Returns all errors, sorted by place. Each is one line without terminal control sequences,
    /// whatever the file contains.
    pub(crate) fn into_errors(mut self, name: &str) -> FileErrors {
        self.found.sort_by_key(|found| (found.span.start, found.span.end));
        let found = std::mem::take(&mut self.found);
        let place = |found: Found| {
            let at = found.span.start;
            let line = self.line(at);
            let start = self.starts[line - 1];
            FileError {
                line,
                column: 1 + self.text[start..at].chars().count(),
                message: harmless(&found.message),
                label: found.label.as_deref().map(harmless),
                help: found.help.as_deref().map(harmless),
                span: found.span,
            }
        };
        let errors = found.into_iter().map(place).collect();
        FileErrors::new(name, self.text, errors)
    }
}

/// Returns what helps with an error of syntax.
fn syntax_help(message: &str) -> Option<&'static str> {
    match message {
        "duplicate key" => {
            Some("a key stands once in its table, and so does the name of a contestant")
        }
        "string values must be quoted" => Some("write it between quotes, as in \"1%\""),
        "missing comma between array elements" => {
            Some("an array has a comma after each element, and ']' at its end")
        }
        _ => None,
    }
}
