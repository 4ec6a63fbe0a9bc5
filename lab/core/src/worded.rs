//! Facts in JSON with the sentence that people read beside them, under `text`.
//!
//! For `#[serde(serialize_with = "crate::worded::option")]`. Readers take the fact and leave the
//! sentence: nothing is recovered from English.

use serde::ser::{Serialize, Serializer};
use std::fmt::Display;

#[derive(serde::Serialize)]
struct Worded<'a, T: Serialize> {
    #[serde(flatten)]
    fact: &'a T,
    text: String,
}

fn worded<T: Serialize + Display>(fact: &T) -> Worded<'_, T> {
    Worded { fact, text: fact.to_string() }
}

/// Writes a fact that is an object in JSON, and its sentence.
///
/// # Errors
/// The serializer's own.
pub fn one<T: Serialize + Display, S: Serializer>(
    fact: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    worded(fact).serialize(serializer)
}

/// The same of a fact that may not be there.
///
/// # Errors
/// The serializer's own.
pub fn option<T: Serialize + Display, S: Serializer>(
    fact: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    fact.as_ref().map(worded).serialize(serializer)
}

/// The same of a list.
///
/// # Errors
/// The serializer's own.
pub fn list<T: Serialize + Display, S: Serializer>(
    facts: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(facts.iter().map(worded))
}
