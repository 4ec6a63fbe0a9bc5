//! A finding of tidy, as one line.

use std::fmt;

/// One fault, its place and its remedy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// The path from the root of the repository.
    pub file: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The fault.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

impl Finding {
    /// Returns a finding at a line counted from 1.
    pub fn new(
        file: &str,
        line: usize,
        what: impl Into<String>,
        remedy: impl Into<String>,
    ) -> Finding {
        Finding { file: file.to_owned(), line, what: what.into(), remedy: remedy.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}: {}", self.file, self.line, self.what, self.remedy)
    }
}
