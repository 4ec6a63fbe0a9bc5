//! The description of this machine: facts with stable keys, read fast.

use crate::cgroup;
use crate::cpus;
use crate::tree::{Tree, field};
use std::collections::BTreeMap;
use tiebreak_core::fingerprint::Fact::{self, Flag, Number, Text};
use tiebreak_core::fingerprint::Fingerprint;

#[cfg(test)]
mod tests;

const MEMORY: &str = "/proc/meminfo";
/// Facts of `/proc/cpuinfo`; x86 and Arm name their fields differently.
const TEXT_FIELDS: [(&str, &[&str]); 4] = [
    ("cpu_model", &["model name", "Model", "cpu model", "uarch"]),
    ("cpu_vendor", &["vendor_id", "CPU implementer"]),
    ("cpu_part", &["CPU part"]),
    ("cpu_microcode", &["microcode"]),
];
/// Facts of it that are numbers.
const NUMBER_FIELDS: [(&str, &str); 3] =
    [("cpu_family", "cpu family"), ("cpu_model_number", "model"), ("cpu_stepping", "stepping")];
/// Facts that are the text of a file.
const TEXTS: [(&str, &str); 4] = [
    ("clock_source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
    ("system_vendor", "/sys/class/dmi/id/sys_vendor"),
    ("system_product", "/sys/class/dmi/id/product_name"),
    ("hypervisor", "/sys/hypervisor/type"),
];

/// Reads the description of this machine.
///
/// Keys end in their unit; facts that the machine does not report are absent. Keys under `now_` are
/// its state. The function only reads `/proc`, `/sys` and `/etc/os-release` and makes system calls;
/// it starts no process. Cost: about 1 ms.
pub fn read() -> Fingerprint {
    let mut facts = Facts::below(&Tree::here());
    facts.set("cpus_allowed", Text, Some(cpus::format_cpus(&cpus::allowed())));
    facts.system_calls();
    facts.hypervisor_name();
    Fingerprint(facts.0)
}

/// The facts collected so far.
struct Facts(BTreeMap<String, Fact>);

impl Facts {
    /// Reads the facts that files contain.
    fn below(tree: &Tree) -> Facts {
        let mut facts = Facts(BTreeMap::new());
        facts.processor(&tree.text("/proc/cpuinfo").unwrap_or_default());
        facts.caches(tree);
        facts.settings(tree);
        facts.vulnerabilities(tree);
        facts.system(tree);
        facts.now(tree);
        facts
    }

    /// Adds a fact if it is known; the empty text is not.
    fn set<T>(&mut self, key: &str, fact: fn(T) -> Fact, value: Option<T>) {
        let fact = value.map(fact).filter(|fact| *fact != Text(String::new()));
        self.0.extend(fact.map(|fact| (key.to_owned(), fact)));
    }

    /// Reads the first processor of `/proc/cpuinfo`.
    fn processor(&mut self, cpuinfo: &str) {
        for (key, names) in TEXT_FIELDS {
            self.set(key, Text, field(cpuinfo, names).map(str::to_owned));
        }
        for (key, name) in NUMBER_FIELDS {
            self.set(key, Number, field(cpuinfo, &[name]).and_then(|text| text.parse().ok()));
        }
        if let Some(flags) = field(cpuinfo, &["flags"]) {
            let is_virtual = flags.split(' ').any(|flag| flag == "hypervisor");
            let name = if is_virtual { "yes" } else { "none" };
            self.set("hypervisor", Text, Some(name.to_owned()));
        }
    }

    /// Reads the caches of the first CPU, by level. For a split level, the data side counts.
    fn caches(&mut self, tree: &Tree) {
        let folder = "/sys/devices/system/cpu/cpu0/cache";
        for index in tree.names(folder).iter().filter(|name| name.starts_with("index")) {
            let [level, kind, size, line] = ["level", "type", "size", "coherency_line_size"]
                .map(|file| tree.text(&format!("{folder}/{index}/{file}")));
            let (Some(level), Some(kind)) = (level, kind) else { continue };
            let key = match (level.as_str(), kind.as_str()) {
                ("1", "Data") => "l1d_bytes",
                ("2", "Unified" | "Data") => "l2_bytes",
                ("3", "Unified" | "Data") => "l3_bytes",
                _ => continue,
            };
            self.set(key, Number, size.as_deref().and_then(cache_bytes));
            self.set("cache_line_bytes", Number, line.and_then(|text| text.parse().ok()));
        }
    }

    fn settings(&mut self, tree: &Tree) {
        let online = tree.text("/sys/devices/system/cpu/online");
        let online = online.as_deref().and_then(cpus::parse_list).map(|cpus| cpus.len() as u64);
        self.set("cpus_online", Number, online);
        let governor = tree.text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
        self.set("governor", Text, Some(governor.unwrap_or_else(|| "absent".to_owned())));
        let is_active = tree.number("/sys/devices/system/cpu/smt/active").map(|active| active == 1);
        self.set("smt", Flag, is_active);
        let no_turbo = tree.number("/sys/devices/system/cpu/intel_pstate/no_turbo");
        let boost = tree.number("/sys/devices/system/cpu/cpufreq/boost").map(|boost| boost == 1);
        self.set("turbo", Flag, no_turbo.map(|no_turbo| no_turbo == 0).or(boost));
        let pages = tree.text("/sys/kernel/mm/transparent_hugepage/enabled");
        self.set("transparent_huge_pages", Text, pages.as_deref().and_then(chosen));
        let random = tree.number("/proc/sys/kernel/randomize_va_space");
        self.set("address_randomization", Flag, random.map(|random| random > 0));
        if let Some(limits) = cgroup::limited(tree) {
            let quota = cgroup::tightest(&limits);
            let quota = quota.map(|of| format!("{} us every {} us", of.quota_us, of.period_us));
            self.set("cgroup_cpu_quota", Text, quota);
        }
    }

    /// Reads the kernel's list of processor vulnerabilities, in short form.
    fn vulnerabilities(&mut self, tree: &Tree) {
        let folder = "/sys/devices/system/cpu/vulnerabilities";
        let mut mitigated = Vec::new();
        let mut open = Vec::new();
        for name in tree.names(folder) {
            match tree.text(&format!("{folder}/{name}")) {
                Some(state) if state.starts_with("Mitigation") => mitigated.push(name),
                Some(state) if state.starts_with("Vulnerable") => open.push(name),
                _ => {}
            }
        }
        let parts = [("mitigated", mitigated), ("vulnerable", open)];
        let parts = parts.into_iter().filter(|(_, names)| !names.is_empty());
        let parts = parts.map(|(what, names)| format!("{what}: {}", names.join(" ")));
        self.set("mitigations", Text, Some(parts.collect::<Vec<_>>().join("; ")));
    }

    fn system(&mut self, tree: &Tree) {
        self.set("memory_bytes", Number, tree.kib_bytes(MEMORY, "MemTotal"));
        let release = tree.text("/etc/os-release").unwrap_or_default();
        let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
        self.set("os", Text, name.map(|name| name.trim_matches(['"', '\'']).to_owned()));
        for (key, path) in TEXTS {
            self.set(key, Text, tree.text(path));
        }
    }

    fn now(&mut self, tree: &Tree) {
        let load = tree.text("/proc/loadavg").unwrap_or_default();
        let mut fields = load.split(' ');
        self.set("now_load_average_1min", Text, fields.next().map(str::to_owned));
        let runnable = fields.nth(2).and_then(|field| field.split_once('/'));
        // This process is one of the running ones.
        let runnable = runnable.and_then(|(count, _)| count.parse::<u64>().ok());
        self.set("now_tasks_runnable", Number, runnable.map(|count| count.saturating_sub(1)));
        self.set("now_memory_available_bytes", Number, tree.kib_bytes(MEMORY, "MemAvailable"));
        let pressure = tree.text("/proc/pressure/cpu").unwrap_or_default();
        let pressure = pressure.split(' ').find_map(|field| field.strip_prefix("avg10="));
        self.set("now_cpu_pressure_percent", Text, pressure.map(str::to_owned));
    }

    fn system_calls(&mut self) {
        // SAFETY: all zero bytes are a valid utsname: its fields are arrays of characters.
        let mut name: libc::utsname = unsafe { std::mem::zeroed() };
        // SAFETY: `name` is a valid place for the result.
        if unsafe { libc::uname(&raw mut name) } == 0 {
            self.set("kernel", Text, Some(characters(&name.release)));
            self.set("architecture", Text, Some(characters(&name.machine)));
        }
        // SAFETY: sysconf only reads a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
        self.set("page_bytes", Number, u64::try_from(page).ok());
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: `time` is a valid place for the result.
        if unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC, &raw mut time) } == 0 {
            let step = time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64;
            self.set("clock_resolution_ns", Number, Some(step));
        }
    }

    /// Asks the processor for the hypervisor's signature, where `/proc/cpuinfo` reports a
    /// hypervisor.
    fn hypervisor_name(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.0.get("hypervisor") == Some(&Text("yes".to_owned())) {
            let leaf = std::arch::x86_64::__cpuid(0x4000_0000);
            let words = [leaf.ebx, leaf.ecx, leaf.edx];
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.set("hypervisor", Text, hypervisor_of(&bytes));
        }
    }
}

/// Returns the common name of a hypervisor from its signature of twelve bytes.
fn hypervisor_of(signature: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(signature);
    let text = text.trim_matches(['\0', ' ']);
    let name = match text {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU",
        other => other,
    };
    let plain = !name.is_empty() && name.bytes().all(|byte| (b' '..=b'~').contains(&byte));
    plain.then(|| name.to_owned())
}

/// Parses `48K`, `1024K` or `32M` as bytes.
pub fn cache_bytes(text: &str) -> Option<u64> {
    let units = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];
    let found = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(*unit)?, *scale)));
    let (digits, scale) = found.unwrap_or((text, 1));
    digits.parse::<u64>().ok()?.checked_mul(scale).filter(|bytes| *bytes > 0)
}

/// Returns the word in brackets of `always [madvise] never`.
pub fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

/// Returns the text of a C character array, up to a zero.
fn characters(field: &[libc::c_char]) -> String {
    let bytes: Vec<u8> = field.iter().map(|c| *c as u8).take_while(|byte| *byte != 0).collect();
    String::from_utf8_lossy(&bytes).into_owned()
}
