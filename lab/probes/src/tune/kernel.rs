//! Settings of the kernel that no single word tells, and a daemon.

use super::*;

pub(super) fn swap(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/meminfo";
    let text = sight.text(FILE)?;
    let bytes = |key| sight.tree.kib_bytes(FILE, key);
    let total = bytes("SwapTotal").ok_or_else(|| Lack::holds(FILE, &text))?;
    let used = total.saturating_sub(bytes("SwapFree").unwrap_or(total));
    match (total, used) {
        (0, _) => Ok(Found::fine("none")),
        (_, 0) => Ok(Found::fine("unused")),
        (_, used) => Ok(Found::new(Standing::Noisy, format!("{} MiB used", used >> 20)).by(
            "sudo swapoff -a",
            Some("sudo swapon -a"),
            Needs::Root,
        )),
    }
}

pub(super) fn irqbalance(sight: &Sight<'_>) -> Outcome {
    let is_it = |file: &String| sight.tree.text(file).is_some_and(|name| name == "irqbalance");
    let processes = sight.tree.matching("/proc/*/comm");
    if processes.is_empty() {
        return Err(Lack::Absent("no /proc/*/comm".to_owned()));
    }
    if !processes.iter().any(is_it) {
        return Ok(Found::fine("not running"));
    }
    let [stop, start] = ["stop", "start"].map(|verb| format!("sudo systemctl {verb} irqbalance"));
    Ok(Found::new(Standing::Could, "running").by(&stop, Some(&start), Needs::Root))
}

/// Level 1 and below let an ordinary user count what the kernel does for a process, level 2 what
/// the process does itself; root may count at any level. Where none opens for one who may, the
/// machine has none.
pub(super) fn perf_events(sight: &Sight<'_>) -> Outcome {
    const FILE: &str = "/proc/sys/kernel/perf_event_paranoid";
    let level: i64 = sight.number(FILE)?;
    let Place { is_root, has_counters, .. } = sight.place;
    if !has_counters && (is_root || level <= 2) {
        return Err(Lack::Absent("none opens".to_owned()));
    }
    let now = format!("perf_event_paranoid {level}");
    if is_root || level <= 1 {
        Ok(Found::fine(now))
    } else {
        let write = Write { file: FILE.to_owned(), old: level.to_string(), new: "1".to_owned() };
        Ok(Found::new(Standing::Could, now).writing(sight, &[write]))
    }
}

/// Shares of the last cache: whether there are any, and one for the benchmark.
pub(super) fn cache_shares(sight: &Sight<'_>) -> Outcome {
    const ROOT: &str = "/sys/fs/resctrl";
    let groups: u64 = match sight.number(&format!("{ROOT}/info/L3/num_closids")) {
        Err(Lack::Absent(_)) => return not_mounted(sight, ROOT),
        told => told?,
    };
    let taken = sight.tree.matching(&format!("{ROOT}/*/schemata"));
    if let Some(own) = taken.iter().find(|file| file.ends_with("/tiebreak/schemata")) {
        return Ok(Found::fine(format!("a group of its own, {}", l3_line(&sight.text(own)?)?)));
    }
    let free = groups.saturating_sub(1 + taken.len() as u64);
    let mask_file = format!("{ROOT}/info/L3/cbm_mask");
    let text = sight.text(&mask_file)?;
    let mask = u64::from_str_radix(&text, 16).map_err(|_| Lack::holds(&mask_file, &text))?;
    let old = l3_line(&sight.text(&format!("{ROOT}/schemata"))?)?;
    let ways = mask.count_ones();
    let found =
        Found::new(Standing::Could, format!("{free} of {groups} groups free, {ways} ways of L3"));
    // A share of fewer ways than these is refused.
    let least_file = format!("{ROOT}/info/L3/min_cbm_bits");
    let least = match sight.number(&least_file) {
        Err(Lack::Absent(_)) => 1,
        told => told?,
    };
    if free == 0 || u64::from(ways / 2) < least.max(1) {
        return Ok(found);
    }
    let rest = mask & ((1 << (ways - ways / 2)) - 1);
    let share = |mask: u64| {
        let domains = old.trim_start_matches("L3:").split(';');
        let each = domains.filter_map(|domain| Some((domain.split_once('=')?.0, mask)));
        let each = each.map(|(id, mask)| format!("{id}={mask:x}"));
        format!("L3:{}", each.collect::<Vec<_>>().join(";"))
    };
    let command = format!(
        "sudo sh -c 'cd {ROOT} && mkdir tiebreak && echo \"{}\" > tiebreak/schemata && echo \
         \"{}\" > schemata' && echo $$ | sudo tee {ROOT}/tiebreak/tasks",
        share(mask & !rest),
        share(rest)
    );
    let undo = format!("sudo sh -c 'cd {ROOT} && rmdir tiebreak && echo \"{old}\" > schemata'");
    Ok(found.by(&command, Some(&undo), Needs::Root))
}

fn not_mounted(sight: &Sight<'_>, root: &str) -> Outcome {
    let cpuinfo = sight.text("/proc/cpuinfo")?;
    let mut words = cpuinfo.split_whitespace();
    if !words.any(|word| word == "cat_l3") {
        let why = "the processor does not say cat_l3 in /proc/cpuinfo";
        return Err(Lack::Absent(why.to_owned()));
    }
    let kernel = sight.text("/proc/filesystems")?;
    if !kernel.split_whitespace().any(|word| word == "resctrl") {
        return Err(Lack::Absent("the kernel was built without resctrl".to_owned()));
    }
    let mount = format!("sudo mount -t resctrl resctrl {root}");
    let unmount = format!("sudo umount {root}");
    let found = Found::new(Standing::Could, "possible, not mounted");
    Ok(found.by(&mount, Some(&unmount), Needs::Root))
}

/// `L3:0=fffff;1=fffff` of a group's shares.
fn l3_line(schemata: &str) -> Result<String, Lack> {
    let mut lines = schemata.lines().map(str::trim);
    let line = lines.find(|line| line.starts_with("L3:")).map(str::to_owned);
    line.ok_or_else(|| Lack::holds("schemata below /sys/fs/resctrl", schemata))
}
