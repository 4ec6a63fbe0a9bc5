//! Facts in JSON, each with the sentence that people read, under `text`.
//!
//! For `#[serde(serialize_with = "crate::worded::option")]`. Programs read the fact and ignore the
//! sentence; nothing has to be parsed from English.

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

/// Writes a fact that is an object in JSON, with its sentence.
///
/// # Errors
/// Fails if the serializer fails.
pub fn one<T: Serialize + Display, S: Serializer>(
    fact: &T,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    worded(fact).serialize(serializer)
}

/// Writes a fact that may be absent, in the same form.
///
/// # Errors
/// Fails if the serializer fails.
pub fn option<T: Serialize + Display, S: Serializer>(
    fact: &Option<T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    fact.as_ref().map(worded).serialize(serializer)
}

/// Writes a list of facts, in the same form.
///
/// # Errors
/// Fails if the serializer fails.
pub fn list<T: Serialize + Display, S: Serializer>(
    facts: &[T],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(facts.iter().map(worded))
}
