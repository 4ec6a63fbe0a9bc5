//! What a machine is, as far as it was read: names with stable keys.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One fact about the machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Fact {
    /// A number, its unit being the last word of its key.
    Number(u64),
    /// A yes or no.
    Flag(bool),
    /// Text.
    Text(String),
}

/// The facts about a machine, by key (`cpu_model`, `memory_bytes`, ...), in the order of the keys.
///
/// Keys under `now_` tell the machine's state at the start of a run and may differ between two runs
/// on the same machine; all others say what the machine is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Fingerprint(pub BTreeMap<String, Fact>);

impl Fingerprint {
    /// Whether it is a virtual machine; no where nobody tells.
    pub fn is_guest(&self) -> bool {
        matches!(self.0.get("hypervisor"), Some(Fact::Text(name)) if name != "none")
    }

    /// The keys of which the two machines say different things, state (`now_`) apart.
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
