//! The description of a machine: facts with stable keys.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number; its unit is the last word of its key.
    Number(u64),
    /// A yes or no.
    Flag(bool),
    /// Text.
    Text(String),
}

/// The facts about a machine, by key (`cpu_model`, `memory_bytes`, ...), in the order of the keys.
///
/// Keys under `now_` describe the machine's state at the start of a run, and may differ between two
/// runs on the same machine. All others describe the machine itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub BTreeMap<String, Fact>);

impl Fingerprint {
    /// Returns whether the machine is known to be a virtual machine.
    pub fn is_guest(&self) -> bool {
        matches!(self.0.get("hypervisor"), Some(Fact::Text(name)) if name != "none")
    }

    /// Returns the keys whose facts differ between the two machines, without state (`now_`).
    pub fn differences(&self, other: &Fingerprint) -> Vec<String> {
        let keys = self.0.keys().chain(other.0.keys());
        let mut keys: Vec<_> = keys
            .filter(|key| !key.starts_with("now_") && self.0.get(*key) != other.0.get(*key))
            .cloned()
            .collect();
        keys.sort();
        keys.dedup();
        keys
    }
}
