//! Results as JSON, in the form that is derived from the types in [`tiebreak_core::result`]: of a
//! run as `docs/schema/result-1.schema.json` describes it, of a file of claims as
//! `docs/schema/check-1.schema.json`, and of a study as `docs/schema/study-result-1.schema.json`.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use tiebreak_core::result::StudyResult;

/// The schema name in the JSON of a study.
const STUDY_SCHEMA: &str = "tiebreak/study/1";

/// The result as a JSON value.
pub fn value<T: Serialize>(result: &T) -> Value {
    // Keys are texts and numbers finite or null, so that nothing here can fail.
    serde_json::to_value(result).unwrap_or(Value::Null)
}

/// Returns the result as text with two blanks of indent and a line feed at the end; keys stand in
/// the order of the schema, always.
pub fn text<T: Serialize>(result: &T) -> String {
    serde_json::to_string_pretty(result).unwrap_or_default() + "\n"
}

/// Returns the text of a result whose type has no field for its schema.
pub(crate) fn text_of<T: Serialize>(schema: &'static str, result: &T) -> String {
    #[derive(Serialize)]
    struct Document<'a, T> {
        schema: &'static str,
        #[serde(flatten)]
        result: &'a T,
    }
    text(&Document { schema, result })
}

/// The error of a text that is not the JSON of a study.
#[derive(Debug)]
pub struct NotAStudy(String);

impl fmt::Display for NotAStudy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "not what 'tiebreak study run NAME --json FILE' writes: {}", self.0)
    }
}

impl std::error::Error for NotAStudy {}

impl From<serde_json::Error> for NotAStudy {
    fn from(error: serde_json::Error) -> NotAStudy {
        NotAStudy(error.to_string())
    }
}

/// Reads the result of a study, as [`text`] wrote it.
///
/// # Errors
/// The text is no JSON, of another schema, or lacks something.
pub fn read_study(text: &str) -> Result<StudyResult, NotAStudy> {
    #[derive(Deserialize)]
    struct Envelope {
        schema: String,
    }
    let Envelope { schema } = serde_json::from_str(text)?;
    if schema == STUDY_SCHEMA {
        Ok(serde_json::from_str(text)?)
    } else {
        Err(NotAStudy(format!("its schema is {schema}, not {STUDY_SCHEMA}")))
    }
}
