//! Settings of the kernel, and a daemon.

use super::{absent, by_command, by_file, by_sysctl, setting};
use crate::fingerprint::chosen;
use crate::tree::Tree;
use tiebreak_core::machine::{Knob, Needs, Setting, Standing};

pub(super) fn huge_pages(tree: &Tree) -> Setting {
    let file = "/sys/kernel/mm/transparent_hugepage/enabled";
    match tree.text(file).as_deref().and_then(chosen).as_deref() {
        None => absent(Knob::HugePages),
        Some("always") => {
            let could = setting(Knob::HugePages, Standing::Could, "always");
            by_file(could, tree, file, "madvise", Some("always"))
        }
        Some(other) => setting(Knob::HugePages, Standing::Fine, other),
    }
}

pub(super) fn address_randomization(tree: &Tree) -> Setting {
    match tree.number("/proc/sys/kernel/randomize_va_space") {
        None => absent(Knob::AddressRandomization),
        Some(0) => {
            let noisy = setting(Knob::AddressRandomization, Standing::Noisy, "off");
            by_sysctl(noisy, tree, "kernel.randomize_va_space", "2", "0")
        }
        Some(_) => setting(Knob::AddressRandomization, Standing::Fine, "on"),
    }
}

pub(super) fn swap(tree: &Tree) -> Setting {
    let Some(total) = tree.kib_bytes("/proc/meminfo", "SwapTotal") else {
        return absent(Knob::Swap);
    };
    let used = total.saturating_sub(tree.kib_bytes("/proc/meminfo", "SwapFree").unwrap_or(total));
    match (total, used) {
        (0, _) => setting(Knob::Swap, Standing::Fine, "none"),
        (_, 0) => setting(Knob::Swap, Standing::Fine, "unused"),
        (_, used) => {
            let now = format!("{} MiB used", used >> 20);
            let noisy = setting(Knob::Swap, Standing::Noisy, now);
            by_command(noisy, "sudo swapoff -a", Some("sudo swapon -a"), Needs::Root)
        }
    }
}

pub(super) fn nmi_watchdog(tree: &Tree) -> Setting {
    match tree.number("/proc/sys/kernel/nmi_watchdog") {
        None => absent(Knob::NmiWatchdog),
        Some(0) => setting(Knob::NmiWatchdog, Standing::Fine, "off"),
        Some(_) => {
            let could = setting(Knob::NmiWatchdog, Standing::Could, "on");
            by_sysctl(could, tree, "kernel.nmi_watchdog", "0", "1")
        }
    }
}

pub(super) fn timer_migration(tree: &Tree) -> Setting {
    match tree.number("/proc/sys/kernel/timer_migration") {
        None => absent(Knob::TimerMigration),
        Some(0) => setting(Knob::TimerMigration, Standing::Fine, "off"),
        Some(_) => {
            let could = setting(Knob::TimerMigration, Standing::Could, "on");
            by_sysctl(could, tree, "kernel.timer_migration", "0", "1")
        }
    }
}

pub(super) fn irqbalance(tree: &Tree) -> Setting {
    let is_process = |name: &String| name.bytes().all(|byte| byte.is_ascii_digit());
    let mut processes = tree.names("/proc").into_iter().filter(is_process);
    let is_it = |process: String| {
        tree.text(&format!("/proc/{process}/comm")).is_some_and(|name| name == "irqbalance")
    };
    if !processes.any(is_it) {
        return setting(Knob::Irqbalance, Standing::Fine, "not running");
    }
    let [stop, start] = ["stop", "start"].map(|verb| format!("sudo systemctl {verb} irqbalance"));
    let could = setting(Knob::Irqbalance, Standing::Could, "running");
    by_command(could, &stop, Some(&start), Needs::Root)
}

/// Level 1 and below let an ordinary user count what the kernel does for a process; root may count
/// at any level. Where none opens for one who may, the machine has none.
pub(super) fn perf_events(tree: &Tree, is_root: bool, opens: bool) -> Setting {
    let Some(text) = tree.text("/proc/sys/kernel/perf_event_paranoid") else {
        return absent(Knob::PerfEvents);
    };
    let Ok(level) = text.parse::<i64>() else { return absent(Knob::PerfEvents) };
    let now = format!("perf_event_paranoid {level}");
    if (level <= 1 || is_root) && !opens {
        return setting(Knob::PerfEvents, Standing::Absent, "none opens");
    }
    if level <= 1 || is_root {
        return setting(Knob::PerfEvents, Standing::Fine, now);
    }
    let could = setting(Knob::PerfEvents, Standing::Could, now);
    by_sysctl(could, tree, "kernel.perf_event_paranoid", "1", &text)
}
