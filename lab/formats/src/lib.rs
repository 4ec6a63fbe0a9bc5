//! Results in the formats of other tools.
//!
//! Everything here turns a [`tiebreak_core::result::CheckResult`] into a `String`: JUnit for CI
//! systems, Markdown for comments and summaries, GitHub's workflow commands. Nothing prints, no
//! statistic is computed, and no verdict is worded: whoever calls brings [`Words`].

#![forbid(unsafe_code)]

#[cfg(test)]
mod fixture;
pub mod github;
pub mod junit;
pub mod markdown;
mod outcome;
mod text;
mod words;

pub use outcome::Outcome;
pub use words::Words;
