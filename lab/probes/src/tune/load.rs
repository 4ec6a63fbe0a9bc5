//! Looks at the load, at settings of the kernel, and at what a second of watching found: wake-ups,
//! interrupts, the firmware's interrupts, and the clock after wide vectors.

use super::*;
use crate::noise::measure::Interrupts;
use crate::noise::measure::counts::Counts;
use crate::tools::wakeups;
use crate::tools::wide::{self, Wide};
use std::time::Duration;
use tiebreak_machine::cgroup::{self, Limited};
use tiebreak_machine::meters::smi::Smis;

/// Waiting tasks that have no effect: percent of the last ten seconds.
const PRESSURE_PERCENT: f64 = 5.0;
/// Stolen time that has no effect, as a share of all CPU time since the start.
const STEAL_SHARE: f64 = 0.005;
/// Shows what uses the CPUs.
const SHOW: &str = "ps -eo pid,user,pcpu,comm --sort=-pcpu | head";

/// Returns a quota below the CPUs that may be used stops threads that all run.
pub(super) fn cpu_quota(sight: &Sight<'_>) -> Outcome {
    let cpus_allowed = sight.place.cpus_allowed;
    let Some(groups) = cgroup::limited(sight.tree) else {
        return Err(Found::absent("no control group of this process limits CPU time"));
    };
    let Some(Limited { quota_us, period_us, stat }) = cgroup::tightest(&groups) else {
        return Ok(Found::fine("none"));
    };
    let cpus = *quota_us as f64 / (*period_us).max(1) as f64;
    let group = stat.trim_end_matches("/cpu.stat");
    let version_2 = format!("{group}/cpu.max");
    let write = if sight.tree.path(&version_2).exists() {
        Write::new(version_2, format!("{quota_us} {period_us}"), format!("max {period_us}"))
    } else {
        Write::new(format!("{group}/cpu.cfs_quota_us"), quota_us, -1)
    };
    let now = format!("{cpus:.2} of {cpus_allowed} CPUs");
    Ok(Found::noisy_if(cpus < cpus_allowed as f64, now).writing(sight, &[write]))
}

pub(super) fn pressure(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/pressure/cpu";
    let text = text(sight.tree, FILE)?;
    let percent = text.split(' ').find_map(|field| field.strip_prefix("avg10=")?.parse().ok());
    let percent: f64 = percent.ok_or_else(|| Found::holds(FILE, &text))?;
    let now = format!("{percent:.0}% of the last 10 s");
    Ok(Found::noisy_if(percent >= PRESSURE_PERCENT, now).by(SHOW, None, Needs::Nothing))
}

/// Tasks that want a CPU now, ourselves not counted.
pub(super) fn runnable(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/loadavg";
    let text = text(sight.tree, FILE)?;
    let field = text.split(' ').nth(3).and_then(|field| field.split_once('/'));
    let tasks = field.and_then(|(tasks, _)| tasks.parse::<usize>().ok());
    let others = tasks.ok_or_else(|| Found::holds(FILE, &text))?.saturating_sub(1);
    let cpus = sight.place.cpus_allowed;
    let now = format!("{others} besides tiebreak, for {cpus} CPUs");
    Ok(Found::noisy_if(others >= cpus, now).by(SHOW, None, Needs::Nothing))
}

/// Time that the hypervisor gave to others since the machine started.
pub(super) fn steal(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/stat";
    if !sight.place.is_virtual {
        return Err(Found::absent("no hypervisor is known here"));
    }
    let text = text(sight.tree, FILE)?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let fields: Vec<u64> =
        line.unwrap_or("").split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq STEAL; what follows is in the first two already.
    let stolen = fields.get(7).ok_or_else(|| Found::holds(FILE, &text))?;
    let all: u64 = fields[..8].iter().sum();
    let share = *stolen as f64 / all.max(1) as f64;
    let now = format!("{:.2}% since the start", share * 100.0);
    Ok(Found::noisy_if(share >= STEAL_SHARE, now))
}

pub(super) fn swap(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/meminfo";
    let text = text(sight.tree, FILE)?;
    let [total, free] = ["SwapTotal", "SwapFree"].map(|key| sight.tree.kib_bytes(FILE, key));
    let total = total.ok_or_else(|| Found::holds(FILE, &text))?;
    let now = match total.saturating_sub(free.unwrap_or(total)) {
        0 if total == 0 => return Ok(Found::fine("none")),
        0 => return Ok(Found::fine("unused")),
        used => format!("{} MiB used", used >> 20),
    };
    let found = Found::new(Standing::Noisy, now);
    Ok(found.by("sudo swapoff -a", Some("sudo swapon -a"), Needs::Root))
}

pub(super) fn irqbalance(sight: &Sight<'_>) -> Outcome {
    let processes = sight.tree.matching("/proc/*/comm");
    if processes.is_empty() {
        return Err(Found::absent("no /proc/*/comm"));
    }
    let mut names = processes.iter().filter_map(|file| sight.tree.text(file));
    if !names.any(|name| name == "irqbalance") {
        return Ok(Found::fine("not running"));
    }
    let [stop, start] = ["stop", "start"].map(|verb| format!("sudo systemctl {verb} irqbalance"));
    Ok(Found::new(Standing::Could, "running").by(&stop, Some(&start), Needs::Root))
}

/// Level 1 and below let an ordinary user count what the kernel does for a process, level 2 what
/// the process does itself; root may count at any level. Where none opens for a user who may, the
/// machine has none.
pub(super) fn perf_events(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/sys/kernel/perf_event_paranoid";
    let level: i64 = number(sight.tree, FILE)?;
    let Place { is_root, has_counters, .. } = sight.place;
    if !has_counters && (is_root || level <= 2) {
        return Err(Found::absent("none opens"));
    }
    let found = Found::could_if(!is_root && level > 1, format!("perf_event_paranoid {level}"));
    Ok(found.writing(sight, &[Write::new(FILE, level, 1)]))
}

/// Shares of the last cache: whether there are any, and whether some are taken.
pub(super) fn cache_shares(sight: &Sight<'_>) -> Outcome {
    const ROOT: &str = "/sys/fs/resctrl";
    let groups: u64 = match number(sight.tree, &format!("{ROOT}/info/L3/num_closids")) {
        Err(lack) if lack.standing == Standing::Absent => return not_mounted(sight, ROOT),
        found => found?,
    };
    let taken = sight.tree.matching(&format!("{ROOT}/*/schemata"));
    if taken.iter().any(|file| file.ends_with("/tiebreak/schemata")) {
        return Ok(Found::fine("a group of its own"));
    }
    let free = groups.saturating_sub(1 + taken.len() as u64);
    let file = format!("{ROOT}/info/L3/cbm_mask");
    let text = text(sight.tree, &file)?;
    let mask = u64::from_str_radix(&text, 16).map_err(|_| Found::holds(&file, &text))?;
    let now = format!("{free} of {groups} groups free, {} ways of L3", mask.count_ones());
    Ok(Found::new(Standing::Could, now))
}

fn not_mounted(sight: &Sight<'_>, root: &str) -> Outcome {
    for (file, word, why) in [
        ("/proc/cpuinfo", "cat_l3", "the processor does not say cat_l3 in /proc/cpuinfo"),
        ("/proc/filesystems", "resctrl", "the kernel was built without resctrl"),
    ] {
        if !text(sight.tree, file)?.split_whitespace().any(|said| said == word) {
            return Err(Found::absent(why));
        }
    }
    let mount = format!("sudo mount -t resctrl resctrl {root}");
    let unmount = format!("sudo umount {root}");
    let found = Found::new(Standing::Could, "possible, not mounted");
    Ok(found.by(&mount, Some(&unmount), Needs::Root))
}

/// How long is watched.
const WATCHED: Duration = Duration::from_secs(1);
/// A typical wake-up that takes longer has to do with how the CPU sleeps.
const SLOW_WAKE_NS: u64 = 20_000;
/// One in a hundred that takes longer is late because of something else.
const LATE_WAKE_NS: u64 = 1_000_000;
/// Interrupts a second on an isolated CPU that have no effect.
const FEW: u64 = 10;
/// A clock that is lower by less cannot be distinguished from the same clock.
const CLOCK_SHARE: f64 = 0.98;

/// What was seen in one second.
#[derive(Debug)]
pub(super) struct Second {
    /// How late the wake-ups of timers were, sorted; or why that is not known.
    pub(super) late_ns: Result<Vec<u64>, String>,
    /// The interrupts of the isolated CPUs, a CPU each.
    pub(super) interrupts: Vec<(usize, Vec<Interrupts>)>,
    /// The firmware's interrupts.
    pub(super) smis: Result<u64, String>,
    /// The clock after wide vectors.
    pub(super) wide: Result<Wide, String>,
}

impl Second {
    /// Watches for a second, and times wide vectors after it.
    pub(super) fn watch(tree: &Tree, cpus: &[usize]) -> Second {
        let smis = Smis::open(tree).map(|smis| (smis.count(), smis));
        let before = Counts::read(tree);
        let late_ns = wakeups::late_ns(cpus, WATCHED).map_err(|error| error.to_string());
        let after = Counts::read(tree);
        let smis = smis.and_then(|(then, smis)| {
            let since = smis.count().zip(then).and_then(|(now, then)| now.checked_sub(then));
            since.ok_or_else(|| "it was lost while it was read".to_owned())
        });
        let isolated = isolated(tree).unwrap_or_default().into_iter();
        Second {
            late_ns,
            interrupts: isolated.map(|cpu| (cpu, after.interrupts_since(&before, cpu))).collect(),
            smis,
            wide: cpus
                .first()
                .map_or(Err("no CPU is known".to_owned()), |cpu| wide::clock_after(*cpu)),
        }
    }
}

/// Returns how late ordinary wake-ups are.
pub(super) fn wake_ups(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/dev/cpu_dma_latency";
    let late_ns = sight.second.late_ns.as_ref().map_err(|error| Found::unknown(error.clone()))?;
    let Some(last) = late_ns.len().checked_sub(1) else {
        return Err(Found::unknown("nothing woke within a second"));
    };
    let [half, most, worst] = [50, 99, 100].map(|percent| late_ns[(last * percent).div_ceil(100)]);
    let [in_half, in_most, at_worst] =
        [half, most, worst].map(|ns| format!("{:.0} us", ns as f64 / 1000.0));
    let now = format!("median {in_half}, 99th percentile {in_most}, worst {at_worst}");
    let found = if most > LATE_WAKE_NS {
        Found::new(Standing::Noisy, now)
    } else {
        Found::could_if(half > SLOW_WAKE_NS, now)
    };
    // Only the typical one is a matter of how a CPU sleeps, and only where it sleeps.
    let mut loads = [pressure(sight), runnable(sight)].into_iter().flatten();
    let is_busy = loads.any(|found| found.standing == Standing::Noisy);
    if half <= SLOW_WAKE_NS || is_busy || !sight.tree.path(FILE).exists() {
        return Ok(found);
    }
    let hold = format!("sudo sh -c 'exec 3> {FILE}; echo 0 >&3; exec sleep infinity'");
    let undo = "end that command (Ctrl-C): it holds as long as it runs";
    Ok(found.by(&hold, Some(undo), Needs::Root))
}

/// Interrupts that came to isolated CPUs.
pub(super) fn interrupts(sight: &Sight<'_>) -> Outcome {
    let cpus = isolated(sight.tree)?;
    let counts = sight.second.interrupts.iter().filter(|(cpu, _)| cpus.contains(cpu));
    let all: Vec<&Interrupts> = counts.flat_map(|(_, counts)| counts).collect();
    let total: u64 = all.iter().map(|one| one.count).sum();
    let mut now = format!("{total} in 1 s on CPUs {}", list(&cpus));
    let is_noisy = total > FEW * cpus.len() as u64;
    if let Some(most) = all.iter().max_by_key(|one| one.count).filter(|_| is_noisy) {
        let words = if most.words.is_empty() { &most.name } else { &most.words };
        now += &format!(", most of them: {words}");
    }
    Ok(Found::noisy_if(is_noisy, now))
}

/// Returns what the firmware took, as far as it is counted.
pub(super) fn smis(sight: &Sight<'_>) -> Outcome {
    let count = sight.second.smis.as_ref().map_err(|error| {
        Found::unknown(format!("{error}; gaps without a cause: tiebreak machine noise"))
    })?;
    let whose = if sight.place.is_virtual {
        ", as this virtual machine counts them; those of the host are not known"
    } else {
        ""
    };
    Ok(Found::noisy_if(*count > 0, format!("{count} in 1 s{whose}")))
}

/// Whether wide vectors lower the clock for what runs after them.
pub(super) fn wide_vectors(sight: &Sight<'_>) -> Outcome {
    let wide = sight.second.wide.as_ref().map_err(|error| Found::absent(error.clone()))?;
    let share = wide.clock_share();
    // Neither of the two may be the other's noise.
    let is_lower = share < CLOCK_SHARE && wide.ordinary_ns[2] < wide.wide_ns[0];
    Ok(Found::could_if(is_lower, format!("{:.0}% after {}", share * 100.0, wide.vectors)))
}
