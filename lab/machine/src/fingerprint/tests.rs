use super::*;
use crate::tree::made_up;

fn text(value: &str) -> Option<Fact> {
    Some(Fact::Text(value.to_owned()))
}

fn check(files: &[(&str, &str)], key: &str, value: Option<Fact>) {
    let (_folder, tree) = made_up::tree(files);
    assert_eq!(Facts::below(&tree).0.get(key).cloned(), value, "{key}");
}

#[test]
fn a_machine_that_tells_nothing_gives_no_facts() {
    let (_folder, tree) = made_up::tree(&[]);
    let facts = Facts::below(&tree).0;
    let keys: Vec<_> = facts.keys().collect();
    assert_eq!(keys, ["governor"], "the absent governor is the only fact");
}

#[test]
fn processors_of_both_families_are_named() {
    let x86 = "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 26\nmodel\t\t: 2\n\
               model name\t: AMD EPYC\nstepping\t: 1\nflags\t\t: fpu hypervisor lm\n";
    let files = [("proc/cpuinfo", x86)];
    check(&files, "cpu_model", text("AMD EPYC"));
    check(&files, "cpu_family", Some(Fact::Number(26)));
    check(&files, "cpu_model_number", Some(Fact::Number(2)));
    check(&files, "hypervisor", text("yes"));
    let arm = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd0c\n";
    let files = [("proc/cpuinfo", arm)];
    check(&files, "cpu_vendor", text("0x41"));
    check(&files, "cpu_part", text("0xd0c"));
    check(&files, "hypervisor", None);
}

#[test]
fn caches_have_bytes_by_level() {
    let base = "sys/devices/system/cpu/cpu0/cache";
    let paths: Vec<(String, &str)> = vec![
        (format!("{base}/index0/level"), "1"),
        (format!("{base}/index0/type"), "Data"),
        (format!("{base}/index0/size"), "48K"),
        (format!("{base}/index1/level"), "1"),
        (format!("{base}/index1/type"), "Instruction"),
        (format!("{base}/index1/size"), "32K"),
        (format!("{base}/index3/level"), "3"),
        (format!("{base}/index3/type"), "Unified"),
        (format!("{base}/index3/size"), "32M"),
        (format!("{base}/index3/coherency_line_size"), "64"),
    ];
    let files: Vec<_> = paths.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    check(&files, "l1d_bytes", Some(Fact::Number(48 << 10)));
    check(&files, "l2_bytes", None);
    check(&files, "l3_bytes", Some(Fact::Number(32 << 20)));
    check(&files, "cache_line_bytes", Some(Fact::Number(64)));
}

#[test]
fn settings_and_state_are_read() {
    let files = [
        ("sys/devices/system/cpu/online", "0-3,6\n"),
        ("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n"),
        ("sys/devices/system/cpu/smt/active", "1\n"),
        ("sys/devices/system/cpu/vulnerabilities/a", "Mitigation: x\n"),
        ("sys/devices/system/cpu/vulnerabilities/b", "Not affected\n"),
        ("sys/devices/system/cpu/vulnerabilities/c", "Vulnerable: no microcode\n"),
        ("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
        ("proc/meminfo", "MemTotal:        1024 kB\nMemAvailable:    512 kB\n"),
        ("proc/loadavg", "0.53 0.12 0.04 3/88 5785\n"),
        ("etc/os-release", "ID=debian\nPRETTY_NAME=\"Debian 12\"\n"),
    ];
    check(&files, "cpus_online", Some(Fact::Number(5)));
    check(&files, "governor", text("performance"));
    check(&files, "smt", Some(Fact::Flag(true)));
    check(&files, "mitigations", text("mitigated: a; vulnerable: c"));
    check(&files, "transparent_huge_pages", text("madvise"));
    check(&files, "memory_bytes", Some(Fact::Number(1 << 20)));
    check(&files, "now_memory_available_bytes", Some(Fact::Number(512 << 10)));
    check(&files, "now_load_average_1min", text("0.53"));
    check(&files, "now_tasks_runnable", Some(Fact::Number(2)));
    check(&files, "os", text("Debian 12"));
}

#[test]
fn signatures_become_names() {
    assert_eq!(hypervisor_of(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
    assert_eq!(hypervisor_of(b"bhyve bhyve ").as_deref(), Some("bhyve bhyve"));
    assert_eq!(hypervisor_of(&[0; 12]), None);
    assert_eq!(hypervisor_of(&[200; 12]), None);
}

#[test]
fn this_machine_says_what_every_kernel_says() {
    let facts = read();
    for key in ["architecture", "kernel", "page_bytes", "cpus_allowed"] {
        assert!(facts.0.contains_key(key), "{key}");
    }
    assert_eq!(facts.differences(&read()), Vec::<String>::new());
}
