//! What makes a machine noisy, and what would change it.

use serde::{Deserialize, Serialize};

/// All that was looked at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tuning {
    /// `tiebreak/machine-tuning/1`.
    pub schema: String,
    /// The settings and the state, in a fixed order.
    pub settings: Vec<Setting>,
}

impl Tuning {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine-tuning/1";
}

/// Something about a machine that decides how noisy measurements are.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Which one, a word that does not change from version to version: `governor`.
    pub knob: String,
    /// What it belongs to: `frequency`.
    #[serde(default)]
    pub group: String,
    /// What people call it: `frequency governor`.
    #[serde(default)]
    pub name: String,
    /// What it does, and what that costs a measurement, as sentences.
    #[serde(default)]
    pub why: String,
    /// How it stands.
    pub standing: Standing,
    /// How it is now, as the machine says it: `powersave`; why, of what is absent or unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub now: String,
    /// What would change it; absent if nothing needs to change, or nothing here can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// What helps where nothing here changes it, as a sentence.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub help: String,
}

/// How a setting stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// As a measurement would have it.
    Fine,
    /// It adds noise.
    Noisy,
    /// It is not what makes measurements wrong, but there is something to gain.
    Could,
    /// This machine does not have it.
    Absent,
    /// It cannot be read, or says what is not known here.
    Unknown,
}

/// Commands for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What would change it.
    pub command: String,
    /// What would put it back as it is now; absent where the command only shows something.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What it takes.
    pub needs: Needs,
}

/// What it takes to change a setting, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Needs {
    /// Nothing but this user.
    Nothing,
    /// Root.
    Root,
    /// Root, and a restart of the machine.
    Reboot,
    /// Somebody outside of this container or virtual machine.
    Host,
}
