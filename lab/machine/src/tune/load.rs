//! What else goes on, and what this process may not use.

use super::{absent, by_command, by_file, setting};
use crate::cgroup;
use crate::tree::Tree;
use tiebreak_core::machine::{Knob, Needs, Setting, Standing};

/// Waiting tasks that nobody notices: percent of the last ten seconds.
const PRESSURE_PERCENT: f64 = 5.0;
/// Stolen time that nobody notices, as a share of all CPU time since the start.
const STEAL_SHARE: f64 = 0.005;
/// Shows what uses the CPUs.
const SHOW: &str = "ps -eo pid,user,pcpu,comm --sort=-pcpu | head";

/// A quota below the CPUs that may be used stops threads that all run.
pub(super) fn cpu_quota(tree: &Tree, cpus_allowed: usize) -> Setting {
    let Some(groups) = cgroup::limited(tree) else { return absent(Knob::CpuQuota) };
    let Some(limit) = cgroup::tightest(&groups) else {
        return setting(Knob::CpuQuota, Standing::Fine, "none");
    };
    let cpus = limit.quota_us as f64 / limit.period_us.max(1) as f64;
    let now = format!("{cpus:.2} of {cpus_allowed} CPUs");
    if cpus >= cpus_allowed as f64 {
        return setting(Knob::CpuQuota, Standing::Fine, now);
    }
    let group = limit.stat.trim_end_matches("/cpu.stat");
    let noisy = setting(Knob::CpuQuota, Standing::Noisy, now);
    let version_2 = format!("{group}/cpu.max");
    if tree.text(&version_2).is_some() {
        let old = format!("'{} {}'", limit.quota_us, limit.period_us);
        return by_file(noisy, tree, &version_2, "max", Some(&old));
    }
    let version_1 = format!("{group}/cpu.cfs_quota_us");
    by_file(noisy, tree, &version_1, "-1", Some(&limit.quota_us.to_string()))
}

pub(super) fn pressure(tree: &Tree) -> Setting {
    let text = tree.text("/proc/pressure/cpu").unwrap_or_default();
    let percent = text.split(' ').find_map(|field| field.strip_prefix("avg10=")?.parse().ok());
    let Some(percent): Option<f64> = percent else { return absent(Knob::CpuPressure) };
    let now = format!("{percent:.0}% of the last 10 s");
    if percent < PRESSURE_PERCENT {
        return setting(Knob::CpuPressure, Standing::Fine, now);
    }
    by_command(setting(Knob::CpuPressure, Standing::Noisy, now), SHOW, None, Needs::Nothing)
}

/// Tasks that want a CPU now, ourselves not counted.
pub(super) fn runnable(tree: &Tree, cpus_allowed: usize) -> Setting {
    let text = tree.text("/proc/loadavg").unwrap_or_default();
    let field = text.split(' ').nth(3).and_then(|field| field.split_once('/'));
    let Some(tasks) = field.and_then(|(tasks, _)| tasks.parse::<usize>().ok()) else {
        return absent(Knob::RunnableTasks);
    };
    let others = tasks.saturating_sub(1);
    let now = format!("{others} beside tiebreak, for {cpus_allowed} CPUs");
    if others < cpus_allowed {
        return setting(Knob::RunnableTasks, Standing::Fine, now);
    }
    by_command(setting(Knob::RunnableTasks, Standing::Noisy, now), SHOW, None, Needs::Nothing)
}

/// Time that the hypervisor gave to others since the machine started.
pub(super) fn steal(tree: &Tree, is_virtual: bool) -> Setting {
    let text = tree.text("/proc/stat").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let fields: Vec<u64> =
        line.unwrap_or("").split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq STEAL; what follows is in the first two already.
    let Some(stolen) = fields.get(7).filter(|_| is_virtual) else {
        return absent(Knob::Steal);
    };
    let all: u64 = fields[..8].iter().sum();
    let share = *stolen as f64 / all.max(1) as f64;
    let now = format!("{:.2}% since the start", share * 100.0);
    let standing = if share >= STEAL_SHARE { Standing::Noisy } else { Standing::Fine };
    setting(Knob::Steal, standing, now)
}
