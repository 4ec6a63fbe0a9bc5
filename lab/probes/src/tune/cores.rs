//! Cores: their threads, their isolation, the interrupts that may go to them, how they idle.

use super::*;

/// Fewer cores than this cannot spare any.
const ENOUGH_TO_ISOLATE: usize = 4;
/// Waking from a state that takes longer is noticed.
const DEEP_US: u64 = 20;
/// Parameters of the kernel that keep CPUs free of tasks, of the tick, and of what RCU puts off.
const PARAMETERS: [&str; 3] = ["isolcpus", "nohz_full", "rcu_nocbs"];

pub(super) fn list(cpus: &Cpus) -> String {
    format_cpus(&cpus.iter().copied().collect::<Vec<_>>())
}

pub(super) fn threads(sight: &Sight<'_>) -> Outcome {
    let (active, control) = (format!("{FOLDER}/smt/active"), format!("{FOLDER}/smt/control"));
    match &text(sight.tree, &active)?[..] {
        "0" => return Ok(Found::fine("one each")),
        "1" => {}
        other => return Err(Found::holds(&active, other)),
    }
    let old = text(sight.tree, &control).ok().filter(|old| old == "on");
    let write = old.map(|old| Write::new(control, old, "off"));
    Ok(Found::new(Standing::Could, "several share one").writing(sight, write.as_slice()))
}

pub(super) fn frequency_limit(sight: &Sight<'_>) -> Outcome {
    let (mut writes, mut now) = (Vec::new(), BTreeSet::new());
    for (file, old) in each(sight.tree, &format!("{FOLDER}/cpu*/cpufreq/scaling_max_freq"))? {
        let limit: u64 = old.parse().map_err(|_| Found::holds(&file, &old))?;
        let most: u64 = number(sight.tree, &file.replace("scaling_max", "cpuinfo_max"))?;
        if limit < most {
            now.insert(format!("{} of {} MHz", limit / 1000, most / 1000));
            writes.push(Write::new(file, old, most));
        }
    }
    if writes.is_empty() {
        return Ok(Found::fine("none"));
    }
    let now = now.into_iter().collect::<Vec<_>>().join(" and ");
    Ok(Found::new(Standing::Could, now).writing(sight, &writes))
}

/// Returns the CPUs of each core, a core that shows no threads being one CPU, in order of their
/// first CPU: a core is isolated whole, or its other threads still take from it.
fn cores(sight: &Sight<'_>, online: &Cpus) -> BTreeSet<Cpus> {
    let cores = online.iter().map(|cpu| {
        let file = format!("{FOLDER}/cpu{cpu}/topology/thread_siblings_list");
        let threads = list_of(sight.tree, &file).unwrap_or_default();
        threads.intersection(online).copied().chain([*cpu]).collect()
    });
    cores.collect()
}

/// Returns the parameters that this kernel has: without the tick's file it cannot stop the tick.
fn parameters(sight: &Sight<'_>) -> impl Iterator<Item = &'static str> {
    let has_tick = text(sight.tree, &format!("{FOLDER}/nohz_full")).is_ok();
    PARAMETERS.into_iter().filter(move |name| has_tick || *name != "nohz_full")
}

/// Returns the parameters with these CPUs; of `isolcpus` the flags that the command line has stay.
fn isolating(sight: &Sight<'_>, cpus: &Cpus) -> String {
    let line = text(sight.tree, "/proc/cmdline").unwrap_or_default();
    let isolcpus = parameter(&line, "isolcpus").unwrap_or_default().split_inclusive(',');
    let flags: String =
        isolcpus.filter(|word| word.starts_with(|first: char| first.is_alphabetic())).collect();
    let parameters = parameters(sight).map(|name| {
        let flags = if name == "isolcpus" { &flags } else { "" };
        format!("{name}={flags}{}", list(cpus))
    });
    parameters.collect::<Vec<_>>().join(" ")
}

/// Returns the value of a parameter on the kernel's command line.
fn parameter<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

pub(super) fn isolation(sight: &Sight<'_>) -> Outcome {
    let online = list_of(sight.tree, &format!("{FOLDER}/online"))?;
    match isolated(sight.tree) {
        Err(lack) if lack.standing == Standing::Absent => {}
        list_or_error => return list_or_error.map(|cpus| Found::fine(list(&cpus))),
    }
    let cores = cores(sight, &online);
    if cores.len() < ENOUGH_TO_ISOLATE {
        return Ok(Found::fine("none to spare"));
    }
    let parameters = isolating(sight, &cores.into_iter().rev().take(2).flatten().collect());
    let command = format!("add to the kernel's command line: {parameters}");
    let undo = "remove it from the kernel's command line";
    Ok(Found::new(Standing::Could, "none").by(&command, Some(undo), Needs::Reboot))
}

/// Whether whole cores are isolated, and from tasks, the tick and RCU alike.
pub(super) fn isolation_parts(sight: &Sight<'_>) -> Outcome {
    let online = list_of(sight.tree, &format!("{FOLDER}/online"))?;
    let isolated = isolated(sight.tree)?;
    let hit = cores(sight, &online).into_iter().filter(|core| !core.is_disjoint(&isolated));
    let wanted: Cpus = hit.flatten().collect();
    let line = text(sight.tree, "/proc/cmdline")?;
    let nohz = list_of(sight.tree, &format!("{FOLDER}/nohz_full")).unwrap_or_default();
    let mut lacking = Vec::new();
    for name in parameters(sight) {
        let has = match name {
            "isolcpus" => list_of(sight.tree, &format!("{FOLDER}/isolated")).unwrap_or_default(),
            "nohz_full" => nohz.clone(),
            // The kernel takes RCU off the CPUs without a tick by itself.
            _ => asked(&line, name, &online)?.union(&nohz).copied().collect(),
        };
        let lacks: Cpus = wanted.difference(&has).copied().collect();
        lacking.extend((!lacks.is_empty()).then(|| format!("{name} lacks {}", list(&lacks))));
    }
    if lacking.is_empty() {
        return Ok(Found::fine(format!("{} from all", list(&wanted))));
    }
    let now = format!("of CPUs {}, {}", list(&wanted), lacking.join(", "));
    let command = format!("write on the kernel's command line: {}", isolating(sight, &wanted));
    let mut old: Vec<&str> = line.split_whitespace().collect();
    old.retain(|word| PARAMETERS.iter().any(|name| word.starts_with(name)));
    let undo = match old.join(" ") {
        none if none.is_empty() => "remove them from the kernel's command line".to_owned(),
        old => format!("write there as before: {old}"),
    };
    Ok(Found::new(Standing::Could, now).by(&command, Some(&undo), Needs::Reboot))
}

/// Returns the CPUs that a parameter of the kernel's command line names; words before them are
/// flags.
fn asked(line: &str, name: &str, online: &Cpus) -> Outcome<Cpus> {
    match parameter(line, name) {
        None => Ok(Cpus::new()),
        Some("all") => Ok(online.clone()),
        Some(value) => parse_list(value)
            .map(Cpus::from_iter)
            .ok_or_else(|| Found::holds("/proc/cmdline", &format!("{name}={value}"))),
    }
}

/// Interrupts of devices that may come to isolated CPUs.
pub(super) fn interrupts_away(sight: &Sight<'_>) -> Outcome {
    let isolated = isolated(sight.tree)?;
    let online = list_of(sight.tree, &format!("{FOLDER}/online"))?;
    let all = each(sight.tree, "/proc/irq/*/smp_affinity_list")?;
    let (mut writes, mut come) = (Vec::new(), 0);
    for (file, old) in &all {
        let cpus = parse_list(old).ok_or_else(|| Found::holds(file, old))?;
        let cpus = Cpus::from_iter(cpus);
        if cpus.is_disjoint(&isolated) {
            continue;
        }
        let kept = [&cpus, &online].map(|of| of.difference(&isolated).copied().collect::<Cpus>());
        let kept = kept.iter().find(|cpus| !cpus.is_empty()).map_or(String::new(), list);
        writes.push(Write::new(file, old, kept));
        let effective = file.replace("smp_affinity_list", "effective_affinity_list");
        let effective = list_of(sight.tree, &effective).unwrap_or(cpus);
        come += usize::from(!effective.is_disjoint(&isolated));
    }
    let (all, cpus) = (all.len(), list(&isolated));
    if writes.is_empty() {
        return Ok(Found::fine(format!("none of {all} may come to CPUs {cpus}")));
    }
    let now = format!("{} of {all} may come to CPUs {cpus}, and {come} do now", writes.len());
    let standing = if come > 0 { Standing::Noisy } else { Standing::Could };
    Ok(Found::new(standing, now).writing(sight, &writes))
}

/// Returns what decides how idle CPUs sleep, by its name.
fn idle_governor(sight: &Sight<'_>) -> Outcome<String> {
    let file = format!("{FOLDER}/cpuidle/current_governor");
    text(sight.tree, &file).or_else(|_| text(sight.tree, &(file + "_ro")))
}

/// States of idle CPUs from which it takes long to wake.
pub(super) fn idle_states(sight: &Sight<'_>) -> Outcome {
    let (mut states, mut writes) = (BTreeSet::new(), Vec::new());
    for (file, latency) in each(sight.tree, &format!("{FOLDER}/cpu*/cpuidle/state*/latency"))? {
        let us: u64 = latency.parse().map_err(|_| Found::holds(&file, &latency))?;
        let [file, name] = ["/disable", "/name"].map(|other| file.replace("/latency", other));
        match &text(sight.tree, &file)?[..] {
            "1" => continue,
            "0" => states.insert((us, text(sight.tree, &name)?)),
            old => return Err(Found::holds(&file, old)),
        };
        if us > DEEP_US {
            writes.push(Write::new(file, 0, 1));
        }
    }
    let names: Vec<String> = states.iter().map(|(us, name)| format!("{name} {us} us")).collect();
    let governor = idle_governor(sight).unwrap_or_else(|_| "no".to_owned());
    let now = format!("{}, {governor} governor", names.join(", "));
    Ok(Found::could_if(!writes.is_empty(), now).writing(sight, &writes))
}

/// Whether an idle CPU of a guest looks for work before it asks the hypervisor to stop it.
pub(super) fn halts_by_polling(sight: &Sight<'_>) -> Outcome<()> {
    match idle_governor(sight)? {
        governor if governor == "haltpoll" => Ok(()),
        governor => Err(Found::absent(format!("the governor of idle states is {governor}"))),
    }
}
