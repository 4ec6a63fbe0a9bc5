//! What a process may use of a machine, and the compilers on it.

use serde::{Deserialize, Serialize};

/// What this process may use; absent is what does not limit it or is not told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// CPU time that its control groups may use in [`Limits::cpu_period_us`], in microseconds: the
    /// tightest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_quota_us: Option<u64>,
    /// The period of the quota in microseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_period_us: Option<u64>,
    /// Memory that its control groups may use, in bytes: the tightest of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// Memory nodes that it may use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nodes: Option<Vec<usize>>,
    /// Whether the control groups could be seen at all.
    pub is_cpu_quota_known: bool,
}

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
