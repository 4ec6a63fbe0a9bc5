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
    /// Which one.
    pub knob: Knob,
    /// How it stands.
    pub standing: Standing,
    /// How it is now, as the machine says it: `powersave`, `2 threads a core`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub now: String,
    /// What would change it; absent if nothing needs to change, or nothing here can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
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
    /// This machine does not have it, or does not tell.
    Absent,
}

/// Commands for a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// What would change it.
    pub command: String,
    /// What would put it back as it is now; absent where there is nothing to put back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// What it takes.
    pub needs: Needs,
}

/// What it takes to change a setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

/// What may make a machine noisy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Knob {
    /// The rule by which the kernel chooses frequencies.
    Governor,
    /// Frequencies above the nominal one.
    Turbo,
    /// A highest frequency below what the CPU can do.
    FrequencyLimit,
    /// Several threads of one core.
    Smt,
    /// Transparent huge pages.
    HugePages,
    /// Random places for code, stack and heap.
    AddressRandomization,
    /// Memory that was moved to a disk.
    Swap,
    /// The kernel's watch for hangs, by a hardware counter.
    NmiWatchdog,
    /// Timers that move from idle CPUs to busy ones.
    TimerMigration,
    /// CPUs that are kept free of other work.
    IsolatedCpus,
    /// A daemon that moves interrupts from CPU to CPU.
    Irqbalance,
    /// Who may use hardware counters.
    PerfEvents,
    /// A limit on CPU time.
    CpuQuota,
    /// How long tasks waited for a CPU of late.
    CpuPressure,
    /// How many tasks want a CPU now.
    RunnableTasks,
    /// CPU time that a hypervisor gave to others.
    Steal,
}
