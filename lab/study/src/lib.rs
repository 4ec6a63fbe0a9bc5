//! Claim sentences and what they mean, with errors that point at the word that is wrong.
//!
//! [`parse`] reads a sentence into a [`Claim`](tiebreak_core::claim::Claim), [`display`] writes a
//! claim as a sentence that [`parse`] reads back, [`meaning`] says what such a claim is about, and
//! [`question`] is what stands in place of a claim when nothing was claimed.
//!
//! ```text
//! A is faster than B
//! A is at least 1.5x faster than B              also: 1.5 times, 5%
//! A is no more than 2% slower than B            also: at most; 1.02x
//! A is within 2% of B
//! A uses less peak memory than B                any metric; 'memory' is peak memory
//! A uses at least 1.5x less memory than B       50% less is a half, and so 2x less
//! A uses no more than 2% more memory than B
//! ```
//!
//! `on WORKLOAD` and `by METRIC` may follow in any order, and a final full stop. `fewer` and `less`
//! are the same. Letters of either case will do, names apart. Numbers are plain decimals. A name is
//! one word, or stands between quotes (`'` or `"`), where a doubled quote stands for one;
//! it has no control characters.
//!
//! ```
//! use tiebreak_core::claim::Relation;
//!
//! let claim = tiebreak_study::parse("A is at least 1.5x faster than B", &["A", "B"])?;
//! assert_eq!(claim.relation, Relation::AtLeast { factor: 1.5 });
//!
//! let error = tiebreak_study::parse("A is fsater than B", &["A", "B"]).unwrap_err();
//! assert_eq!(error.to_string(), "'fsater' cannot stand here; did you mean 'faster'?");
//! assert_eq!(error.span, 5..11);
//! # Ok::<(), tiebreak_study::ClaimError>(())
//! ```

#![forbid(unsafe_code)]

mod amount;
mod cursor;
mod decimal;
mod error;
mod grammar;
mod names;
mod render;
mod sentence;
mod suggest;
mod token;

pub use error::{ClaimError, Form, Problem};
pub use grammar::{MAX_CLAIM_BYTES, parse};
pub use sentence::{display, meaning, question};
