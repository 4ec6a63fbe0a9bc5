//! What else goes on, and what this process may not use.

use super::*;
use tiebreak_machine::cgroup;

/// Waiting tasks that nobody notices: percent of the last ten seconds.
const PRESSURE_PERCENT: f64 = 5.0;
/// Stolen time that nobody notices, as a share of all CPU time since the start.
const STEAL_SHARE: f64 = 0.005;
/// Shows what uses the CPUs.
const SHOW: &str = "ps -eo pid,user,pcpu,comm --sort=-pcpu | head";

/// Fine, or noisy with a command that shows who it is.
fn busy(is_busy: bool, now: String) -> Found {
    if is_busy {
        Found::new(Standing::Noisy, now).by(SHOW, None, Needs::Nothing)
    } else {
        Found::fine(now)
    }
}

/// A quota below the CPUs that may be used stops threads that all run.
pub(super) fn cpu_quota(sight: &Sight<'_>) -> Outcome {
    let cpus_allowed = sight.place.cpus_allowed;
    let no_group = || Lack::Absent("no control group of this process limits CPU time".to_owned());
    let groups = cgroup::limited(sight.tree).ok_or_else(no_group)?;
    let Some(limit) = cgroup::tightest(&groups) else { return Ok(Found::fine("none")) };
    let cpus = limit.quota_us as f64 / limit.period_us.max(1) as f64;
    let now = format!("{cpus:.2} of {cpus_allowed} CPUs");
    if cpus >= cpus_allowed as f64 {
        return Ok(Found::fine(now));
    }
    let group = limit.stat.trim_end_matches("/cpu.stat");
    let (version_2, version_1) = (format!("{group}/cpu.max"), format!("{group}/cpu.cfs_quota_us"));
    let write = match sight.text(&version_2) {
        Ok(_) => Write {
            file: version_2,
            old: format!("{} {}", limit.quota_us, limit.period_us),
            new: format!("max {}", limit.period_us),
        },
        Err(_) => Write { file: version_1, old: limit.quota_us.to_string(), new: "-1".to_owned() },
    };
    Ok(Found::new(Standing::Noisy, now).writing(sight, &[write]))
}

pub(super) fn pressure(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/pressure/cpu";
    let text = sight.text(FILE)?;
    let percent = text.split(' ').find_map(|field| field.strip_prefix("avg10=")?.parse().ok());
    let percent: f64 = percent.ok_or_else(|| Lack::holds(FILE, &text))?;
    Ok(busy(percent >= PRESSURE_PERCENT, format!("{percent:.0}% of the last 10 s")))
}

/// Tasks that want a CPU now, ourselves not counted.
pub(super) fn runnable(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/loadavg";
    let text = sight.text(FILE)?;
    let field = text.split(' ').nth(3).and_then(|field| field.split_once('/'));
    let tasks = field.and_then(|(tasks, _)| tasks.parse::<usize>().ok());
    let others = tasks.ok_or_else(|| Lack::holds(FILE, &text))?.saturating_sub(1);
    let cpus = sight.place.cpus_allowed;
    Ok(busy(others >= cpus, format!("{others} beside tiebreak, for {cpus} CPUs")))
}

/// Time that the hypervisor gave to others since the machine started.
pub(super) fn steal(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/stat";
    if !sight.place.is_virtual {
        return Err(Lack::Absent("no hypervisor is known here".to_owned()));
    }
    let text = sight.text(FILE)?;
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "));
    let fields: Vec<u64> =
        line.unwrap_or("").split_ascii_whitespace().map_while(|f| f.parse().ok()).collect();
    // user nice system idle iowait irq softirq STEAL; what follows is in the first two already.
    let stolen = fields.get(7).ok_or_else(|| Lack::holds(FILE, &text))?;
    let all: u64 = fields[..8].iter().sum();
    let share = *stolen as f64 / all.max(1) as f64;
    let standing = if share >= STEAL_SHARE { Standing::Noisy } else { Standing::Fine };
    Ok(Found::new(standing, format!("{:.2}% since the start", share * 100.0)))
}
