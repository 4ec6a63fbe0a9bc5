//! Finds what makes this machine noisy, and the commands that would change it. Changes nothing.
//!
//! `rows.toml` has a row for each thing, and `look` makes a [`Setting`] of it. Its input is what
//! files say and what a second of watching found; its output is advice as data. Commands are never
//! run. Those that write files come from one place, `sight::writing`, with those that put every
//! file back as it was.

mod cores;
mod load;
mod show;
mod sight;
mod table;

pub use show::{tuning, tuning_json};

use cores::list;
use load::Second;
use serde::{Deserialize, Serialize};
use sight::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use table::{ROWS, Row, look_at_files};
use tiebreak_machine::cpus::{self, format_cpus, parse_list};
use tiebreak_machine::fingerprint;
use tiebreak_machine::meters::ThreadCounters;
use tiebreak_machine::tree::Tree;

/// Looks at everything. Cost: a second, in which wake-ups are timed and interrupts are counted, and
/// some 70 ms.
pub fn read() -> Tuning {
    let tree = Tree::at(Path::new("/"));
    let cpus_allowed = cpus::allowed();
    let place = Place {
        cpus_allowed: cpus_allowed.len(),
        is_virtual: fingerprint::read().is_guest(),
        // SAFETY: geteuid only reads a number.
        is_root: unsafe { libc::geteuid() } == 0,
        has_counters: ThreadCounters::open().is_ok(),
    };
    let second = Second::watch(&tree, &cpus_allowed);
    below(&Sight { tree: &tree, place, second })
}

fn below(sight: &Sight<'_>) -> Tuning {
    let settings = ROWS.iter().map(|row| setting(row, sight)).collect();
    Tuning { schema: Tuning::SCHEMA.to_owned(), settings }
}

/// One row's setting.
fn setting(row: &Row, sight: &Sight<'_>) -> Setting {
    let found = look(row, sight).unwrap_or_else(|lack| lack);
    let is_helped = found.standing.is_bad() && found.change.is_none();
    Setting {
        knob: row.knob.clone(),
        group: row.group.clone(),
        name: row.name.clone(),
        why: row.why.clone(),
        standing: found.standing,
        now: found.now,
        help: if is_helped { row.help.clone() } else { String::new() },
        change: found.change,
    }
}

fn look(row: &Row, sight: &Sight<'_>) -> Outcome {
    match row.knob.as_str() {
        "runnable-tasks" => load::runnable(sight),
        "cpu-pressure" => load::pressure(sight),
        "cpu-quota" => load::cpu_quota(sight),
        "steal" => load::steal(sight),
        "smt" => cores::threads(sight),
        "isolated-cpus" => cores::isolation(sight),
        "isolation-parts" => cores::isolation_parts(sight),
        "irqbalance" => load::irqbalance(sight),
        "irq-affinity" => cores::interrupts_away(sight),
        "isolated-interrupts" => load::interrupts(sight),
        "smi" => load::smis(sight),
        "wake-up-latency" => load::wake_ups(sight),
        "idle-states" => cores::idle_states(sight),
        "halt-polling" => {
            cores::halts_by_polling(sight).and_then(|()| look_at_files(&row.files, sight))
        }
        "frequency-limit" => cores::frequency_limit(sight),
        "wide-vectors" => load::wide_vectors(sight),
        "swap" => load::swap(sight),
        "cache-shares" => load::cache_shares(sight),
        "perf-events" => load::perf_events(sight),
        _ => look_at_files(&row.files, sight),
    }
}

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
    pub group: String,
    /// What people call it: `frequency governor`.
    pub name: String,
    /// What it does, and what that costs a measurement, as sentences.
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

impl Standing {
    /// Whether something is to be gained by a change.
    fn is_bad(self) -> bool {
        matches!(self, Standing::Noisy | Standing::Could)
    }
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
    /// The owner of the host, outside of this container or virtual machine.
    Host,
}

#[cfg(test)]
mod tests;
