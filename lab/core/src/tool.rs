//! Compilers and interpreters, as they were found.

use serde::{Deserialize, Serialize};

/// A compiler or an interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// What it is called: `gcc`.
    pub name: String,
    /// The first line of what it says its version is; absent if it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
