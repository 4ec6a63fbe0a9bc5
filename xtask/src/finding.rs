//! What tidy found wrong, as one line.

use std::fmt;

/// One thing that is wrong, where it is, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Path from the root of the repository.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl Finding {
    /// A finding at a line counted from 1.
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
