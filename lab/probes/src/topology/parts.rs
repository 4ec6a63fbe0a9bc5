//! CPUs, caches, memory nodes, and what this process may use of them, as the machine tells it.

use serde::{Deserialize, Serialize};

/// A CPU as the kernel counts them: a core, or a thread of one.
///
/// Core, cluster, die and package are counted over the whole machine from 0, in the order of their
/// first CPU: the kernel's own numbers repeat in each package, or are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    /// Its number.
    pub cpu: usize,
    /// Whether it is on.
    pub is_online: bool,
    /// Whether this process may run on it.
    pub is_allowed: bool,
    /// Its core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub core: Option<usize>,
    /// The cluster of cores that it belongs to, where the kernel knows of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<usize>,
    /// Its die.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub die: Option<usize>,
    /// Its package: what sits in a socket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<usize>,
    /// Its memory node, by the kernel's number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<usize>,
    /// The other CPUs of its core, as told.
    pub smt_siblings: Vec<usize>,
    /// Of what kind its core is, where the machine has several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<CoreKind>,
    /// Its highest frequency, if told, in cycles a second.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_hz: Option<u64>,
}

/// A kind of core, on a machine that has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoreKind {
    /// The fastest kind.
    Performance,
    /// Any other.
    Efficiency,
}

/// A cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u8,
    /// What it holds.
    pub kind: CacheKind,
    /// Its size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size_bytes: Option<u64>,
    /// Its line in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// How many lines of one index it can hold.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ways: Option<u64>,
    /// The CPUs that share it.
    pub cpus: Vec<usize>,
}

/// What a cache holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

/// A memory node: memory, and the CPUs that are nearest to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// Its number.
    pub node: usize,
    /// Its CPUs; none of memory alone.
    pub cpus: Vec<usize>,
    /// Its memory in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_bytes: Option<u64>,
    /// How far it is to each node, in the order of the nodes, as the firmware says: 10 is itself.
    /// Empty if not told.
    pub distances: Vec<u64>,
}

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
