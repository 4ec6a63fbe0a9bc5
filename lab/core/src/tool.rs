//! Compilers and interpreters of a machine.

use serde::{Deserialize, Serialize};

/// A compiler or an interpreter.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tool {
    /// The name: `gcc`.
    pub name: String,
    /// The first line of its version output; absent if it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// The reason why it did not answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}
