//! What makes this machine noisy, and the commands that would change it. Changes nothing.
//!
//! Facts go in, advice comes out as data: a [`Setting`] a knob, with how it stands, how it is now,
//! and what would change it and put it back. Only files are read; nothing is tried out.

mod cpu;
mod kernel;
mod load;
mod reach;

use crate::meters::ThreadCounters;
use crate::tree::Tree;
use crate::{cpus, fingerprint};
use std::path::Path;
use tiebreak_core::fingerprint::Fact;
use tiebreak_core::machine::{Change, Knob, Needs, Setting, Standing, Tuning};

/// Looks at everything. Cost: some milliseconds, most of it for the names of all processes.
pub fn read() -> Tuning {
    let facts = fingerprint::read();
    let is_virtual = match facts.0.get("hypervisor") {
        Some(Fact::Text(name)) => name != "none",
        _ => false,
    };
    let place = Place {
        cpus_allowed: cpus::allowed().len(),
        is_virtual,
        // SAFETY: geteuid only reads a number.
        is_root: unsafe { libc::geteuid() } == 0,
        has_counters: ThreadCounters::open().is_ok(),
    };
    below(&Tree::at(Path::new("/")), &place)
}

/// What no file tells.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// How many CPUs this process may use.
    cpus_allowed: usize,
    /// Whether a hypervisor is below.
    is_virtual: bool,
    /// Whether this process is root's, who may open every counter.
    is_root: bool,
    /// Whether a hardware counter opens: a machine may have none, whoever asks.
    has_counters: bool,
}

fn below(tree: &Tree, place: &Place) -> Tuning {
    let settings = vec![
        cpu::governor(tree),
        cpu::turbo(tree),
        cpu::frequency_limit(tree),
        cpu::threads(tree),
        kernel::huge_pages(tree),
        kernel::address_randomization(tree),
        kernel::swap(tree),
        kernel::nmi_watchdog(tree),
        kernel::timer_migration(tree),
        cpu::isolated(tree),
        kernel::irqbalance(tree),
        kernel::perf_events(tree, place.is_root, place.has_counters),
        load::cpu_quota(tree, place.cpus_allowed),
        load::pressure(tree),
        load::runnable(tree, place.cpus_allowed),
        load::steal(tree, place.is_virtual),
    ];
    Tuning { schema: Tuning::SCHEMA.to_owned(), settings }
}

fn setting(knob: Knob, standing: Standing, now: impl Into<String>) -> Setting {
    Setting { knob, standing, now: now.into(), change: None }
}

fn absent(knob: Knob) -> Setting {
    setting(knob, Standing::Absent, "")
}

/// With a file that changes it: `value` does, `old` puts it back, if one value can. The file says
/// who may.
fn by_file(setting: Setting, tree: &Tree, file: &str, value: &str, old: Option<&str>) -> Setting {
    let needs = reach::needs(tree, file);
    let files = reach::of_all_cpus(file);
    let write = |value: &str| match needs {
        Needs::Nothing if files == file => format!("echo {value} > {files}"),
        Needs::Nothing => format!("echo {value} | tee {files}"),
        _ => format!("echo {value} | sudo tee {files}"),
    };
    by_command(setting, &write(value), old.map(write).as_deref(), needs)
}

/// With a setting under `/proc/sys` that changes it, by its name with dots.
fn by_sysctl(setting: Setting, tree: &Tree, name: &str, value: &str, old: &str) -> Setting {
    let needs = reach::needs(tree, &format!("/proc/sys/{}", name.replace('.', "/")));
    let sudo = if needs == Needs::Nothing { "" } else { "sudo " };
    let write = |value: &str| format!("{sudo}sysctl -w {name}={value}");
    by_command(setting, &write(value), Some(&write(old)), needs)
}

/// With any other command that changes it.
fn by_command(setting: Setting, command: &str, undo: Option<&str>, needs: Needs) -> Setting {
    let change = Change { command: command.to_owned(), undo: undo.map(str::to_owned), needs };
    Setting { change: Some(change), ..setting }
}

#[cfg(test)]
mod tests;
