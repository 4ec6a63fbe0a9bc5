//! Frequencies, threads and isolation.

use super::{absent, by_command, by_file, setting};
use crate::cpus::parse_list;
use crate::tree::Tree;
use std::collections::BTreeSet;
use tiebreak_core::machine::{Knob, Needs, Setting, Standing};

const FOLDER: &str = "/sys/devices/system/cpu";
/// Fewer cores than this cannot spare any.
const ENOUGH_TO_ISOLATE: usize = 4;

/// The different texts of a file of each CPU, in order.
fn of_each(tree: &Tree, file: &str) -> Vec<String> {
    let is_cpu = |name: &String| name.strip_prefix("cpu").is_some_and(|n| n.parse::<u32>().is_ok());
    let names = tree.names(FOLDER).into_iter().filter(is_cpu);
    let texts = names.filter_map(|name| tree.text(&format!("{FOLDER}/{name}/{file}")));
    texts.collect::<BTreeSet<_>>().into_iter().collect()
}

pub(super) fn governor(tree: &Tree) -> Setting {
    let governors = of_each(tree, "cpufreq/scaling_governor");
    let now = governors.join(" and ");
    match governors.as_slice() {
        [] => absent(Knob::Governor),
        [only] if only == "performance" => setting(Knob::Governor, Standing::Fine, now),
        all => {
            let available = of_each(tree, "cpufreq/scaling_available_governors").join(" ");
            let noisy = setting(Knob::Governor, Standing::Noisy, now);
            if !available.is_empty() && !available.split(' ').any(|name| name == "performance") {
                return noisy;
            }
            let file = format!("{FOLDER}/cpu0/cpufreq/scaling_governor");
            // Of several governors, one command for all CPUs puts none back.
            let old = if let [only] = all { Some(only.as_str()) } else { None };
            by_file(noisy, tree, &file, "performance", old)
        }
    }
}

pub(super) fn turbo(tree: &Tree) -> Setting {
    // Intel's file says that there is none, the others' that there is some.
    let files = [("intel_pstate/no_turbo", 0, "1"), ("cpufreq/boost", 1, "0")];
    for (file, on, off) in files {
        let file = format!("{FOLDER}/{file}");
        let Some(now) = tree.number(&file) else { continue };
        if now != on {
            return setting(Knob::Turbo, Standing::Fine, "off");
        }
        let noisy = setting(Knob::Turbo, Standing::Could, "on");
        return by_file(noisy, tree, &file, off, Some(&on.to_string()));
    }
    absent(Knob::Turbo)
}

pub(super) fn frequency_limit(tree: &Tree) -> Setting {
    let khz = |file: &str| tree.number(&format!("{FOLDER}/cpu0/cpufreq/{file}"));
    let Some((limit, most)) = khz("scaling_max_freq").zip(khz("cpuinfo_max_freq")) else {
        return absent(Knob::FrequencyLimit);
    };
    if limit >= most {
        return setting(Knob::FrequencyLimit, Standing::Fine, "none");
    }
    let now = format!("{} of {} MHz", limit / 1000, most / 1000);
    let file = format!("{FOLDER}/cpu0/cpufreq/scaling_max_freq");
    let could = setting(Knob::FrequencyLimit, Standing::Could, now);
    by_file(could, tree, &file, &most.to_string(), Some(&limit.to_string()))
}

pub(super) fn threads(tree: &Tree) -> Setting {
    let file = format!("{FOLDER}/smt/control");
    match (tree.number(&format!("{FOLDER}/smt/active")), tree.text(&file).as_deref()) {
        (Some(1), Some("on")) => {
            let could = setting(Knob::Smt, Standing::Could, "several share one");
            by_file(could, tree, &file, "off", Some("on"))
        }
        (Some(1), _) => setting(Knob::Smt, Standing::Could, "several share one"),
        (Some(_), _) => setting(Knob::Smt, Standing::Fine, "one each"),
        (None, _) => absent(Knob::Smt),
    }
}

/// The CPUs of each core, a core that shows no threads being one CPU, in order of their first CPU:
/// a core is isolated whole, or its other threads still take from it.
fn cores(tree: &Tree, online: &[usize]) -> Vec<BTreeSet<usize>> {
    let threads = |cpu: &usize| {
        let file = format!("{FOLDER}/cpu{cpu}/topology/thread_siblings_list");
        let told = tree.text(&file).and_then(|text| parse_list(&text));
        told.into_iter().flatten().filter(|one| online.contains(one)).chain([*cpu]).collect()
    };
    online.iter().map(threads).collect::<BTreeSet<_>>().into_iter().collect()
}

pub(super) fn isolated(tree: &Tree) -> Setting {
    let list = |file: &str| tree.text(&format!("{FOLDER}/{file}")).and_then(|t| parse_list(&t));
    let Some(online) = list("online") else { return absent(Knob::IsolatedCpus) };
    let text = |file: &str| tree.text(&format!("{FOLDER}/{file}")).filter(|text| text != "(null)");
    let sets = [("isolcpus", text("isolated")), ("nohz_full", text("nohz_full"))];
    let named = sets.iter().filter_map(|(name, text)| Some(format!("{name}={}", text.as_ref()?)));
    let now: Vec<String> = named.collect();
    if !now.is_empty() {
        return setting(Knob::IsolatedCpus, Standing::Fine, now.join(" "));
    }
    let cores = cores(tree, &online);
    let [.., first, last] = cores.as_slice() else {
        return setting(Knob::IsolatedCpus, Standing::Fine, "none to spare");
    };
    if cores.len() < ENOUGH_TO_ISOLATE {
        return setting(Knob::IsolatedCpus, Standing::Fine, "none to spare");
    }
    let mut list: Vec<usize> = first.union(last).copied().collect();
    list.sort_unstable();
    let list = list.iter().map(usize::to_string).collect::<Vec<_>>().join(",");
    let command = format!("add to the kernel's command line: isolcpus={list} nohz_full={list}");
    let undo = "remove it from the kernel's command line";
    let could = setting(Knob::IsolatedCpus, Standing::Could, "none");
    by_command(could, &command, Some(undo), Needs::Reboot)
}
