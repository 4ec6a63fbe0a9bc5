//! Claim sentences and what they mean, with errors that point at the word that is wrong.
//!
//! [`parse`] reads a sentence into a [`Claim`](tiebreak_core::claim::Claim), [`display`] writes a
//! claim as a sentence that [`parse`] reads back, [`meaning`] says exactly what such a claim is
//! about, and [`question`] replaces a claim if there is none.
//!
//! ```text
//! A is faster than B
//! A is at least 1.5x faster than B              also: 1.5 times, 5%
//! A is no more than 2% slower than B            also: at most; 1.02x
//! A is within 2% of B
//! A uses less peak memory than B                any metric; 'memory' is peak memory
//! A uses at least 1.5x less memory than B       50% less is a half, and so 2x less
//! A uses no more than 2% more memory than B
//! A is at least 10x faster than B in 98% of rounds
//! A succeeds at least 98% of the time           with 96% as bad
//! p99 of A is below 5 ms                        also: median of A; at most; with 98% as bad
//! mean of A is below 5 ms capped at 50 ms       also: above
//! ```
//!
//! `on WORKLOAD` and `by METRIC` may follow in any order, and a final full stop. `fewer` and `less`
//! are the same. Upper and lower case are the same, except in names and joules. Numbers are plain
//! decimals, bars have a unit of their metric (`5 ms`, `64 MiB`, `2 mJ`, or none where events are
//! counted). A name is one word, or is between quotes (`'` or `"`), where a doubled quote stands
//! for one; it has no control characters.
//!
//! ```
//! use tiebreak_core::claim::{Relation, Statement};
//!
//! let claim = tiebreak_input::parse("A is at least 1.5x faster than B", &["A", "B"])?;
//! assert_eq!(claim.statement, Statement::Ratio(Relation::AtLeast { factor: 1.5 }));
//!
//! let error = tiebreak_input::parse("A is fsater than B", &["A", "B"]).unwrap_err();
//! assert_eq!(error.to_string(), "'fsater' cannot stand here; did you mean 'faster'?");
//! assert_eq!(error.span, 5..11);
//! # Ok::<(), tiebreak_input::ClaimError>(())
//! ```

#![forbid(unsafe_code)]

mod amount;
pub mod byte_set;
mod cursor;
mod decimal;
mod document;
mod error;
mod file;
mod grammar;
pub mod inputs;
mod names;
mod parameters;
pub mod quantity;
mod sentence;
pub mod steps;
pub mod study_folder;
mod suggest;

pub use document::MAX_FILE_BYTES;
pub use document::errors::{FileError, FileErrors};
pub use error::{ClaimError, MAX_CLAIM_BYTES, shown};
pub use file::{
    BASE_NAME, ClaimsFile, Contest, EXAMPLE, Entrants, FileClaim, HEAD_NAME, MAX_CONTESTANTS,
    MAX_FILE_CLAIMS, Options, Revisions, SLOWDOWN_MAX, parse_file,
};
pub use grammar::parse;
pub use parameters::fill;
pub use sentence::{display, meaning, measure_question, question};
