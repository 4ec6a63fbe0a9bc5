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
