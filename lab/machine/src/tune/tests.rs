use super::*;
use crate::tree::made_up;

const CPU: &str = "sys/devices/system/cpu";
const HERE: Place = Place { cpus_allowed: 4, is_virtual: true, is_root: false, has_counters: true };

fn look(files: &[(&str, &str)], place: &Place, knob: Knob) -> Setting {
    let owned: Vec<(String, &str)> =
        files.iter().map(|(path, text)| (path.replace("CPU", CPU), *text)).collect();
    let files: Vec<_> = owned.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let (_folder, tree) = made_up::tree(&files);
    let settings = below(&tree, place).settings;
    settings.into_iter().find(|setting| setting.knob == knob).unwrap()
}

/// Checks how a setting stands, and the commands that change it and put it back.
fn check(files: &[(&str, &str)], knob: Knob, standing: Standing, now: &str, commands: [&str; 2]) {
    let found = look(files, &HERE, knob);
    assert_eq!((found.standing, found.now.as_str()), (standing, now), "{knob:?}");
    let change = found.change.as_ref();
    let told = [change.map(|c| &c.command), change.and_then(|c| c.undo.as_ref())];
    assert_eq!(told.map(|text| text.map_or("", String::as_str)), commands, "{knob:?}");
}

const NONE: [&str; 2] = ["", ""];

#[test]
fn a_machine_that_tells_nothing_needs_nothing() {
    let (_folder, tree) = made_up::tree(&[]);
    let settings = below(&tree, &HERE).settings;
    assert_eq!(settings.len(), 16);
    for setting in settings {
        let expected = match setting.knob {
            Knob::Irqbalance => Standing::Fine,
            _ => Standing::Absent,
        };
        assert_eq!((setting.standing, setting.change), (expected, None), "{:?}", setting.knob);
    }
}

#[test]
fn frequencies() {
    let governor = |text| [("CPU/cpu0/cpufreq/scaling_governor", text)];
    check(&governor("performance\n"), Knob::Governor, Standing::Fine, "performance", NONE);
    let file = "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor";
    let [change, undo] =
        ["performance", "powersave"].map(|word| format!("echo {word} | tee {file}"));
    let commands = [change.as_str(), undo.as_str()];
    check(&governor("powersave\n"), Knob::Governor, Standing::Noisy, "powersave", commands);
    let mixed = [governor("powersave")[0], ("CPU/cpu1/cpufreq/scaling_governor", "performance")];
    let now = "performance and powersave";
    check(&mixed, Knob::Governor, Standing::Noisy, now, [change.as_str(), ""]);
    let poor =
        [governor("powersave")[0], ("CPU/cpu0/cpufreq/scaling_available_governors", "powersave")];
    check(&poor, Knob::Governor, Standing::Noisy, "powersave", NONE);
    let limits = |most| {
        [
            ("CPU/cpu0/cpufreq/scaling_max_freq", "2000000"),
            ("CPU/cpu0/cpufreq/cpuinfo_max_freq", most),
        ]
    };
    check(&limits("2000000"), Knob::FrequencyLimit, Standing::Fine, "none", NONE);
    let found = look(&limits("3500000"), &HERE, Knob::FrequencyLimit);
    assert_eq!((found.standing, &found.now[..]), (Standing::Could, "2000 of 3500 MHz"));
}

#[test]
fn turbo_is_told_in_two_ways() {
    let intel = |text| [("CPU/intel_pstate/no_turbo", text)];
    let other = |text| [("CPU/cpufreq/boost", text)];
    check(&intel("1"), Knob::Turbo, Standing::Fine, "off", NONE);
    check(&other("0"), Knob::Turbo, Standing::Fine, "off", NONE);
    let file = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    let commands = [format!("echo 1 > {file}"), format!("echo 0 > {file}")];
    let commands = [&commands[0][..], &commands[1]];
    check(&intel("0"), Knob::Turbo, Standing::Could, "on", commands);
    let file = "/sys/devices/system/cpu/cpufreq/boost";
    let commands = [format!("echo 0 > {file}"), format!("echo 1 > {file}")];
    check(&other("1"), Knob::Turbo, Standing::Could, "on", [&commands[0], &commands[1]]);
}

#[test]
fn threads_and_isolation() {
    let threads = |active, control| [("CPU/smt/active", active), ("CPU/smt/control", control)];
    check(&threads("0", "notsupported"), Knob::Smt, Standing::Fine, "one each", NONE);
    let file = "/sys/devices/system/cpu/smt/control";
    let commands = [format!("echo off > {file}"), format!("echo on > {file}")];
    let commands = [&commands[0][..], &commands[1]];
    check(&threads("1", "on"), Knob::Smt, Standing::Could, "several share one", commands);
    check(&threads("1", "forceoff"), Knob::Smt, Standing::Could, "several share one", NONE);
    let online = |list| [("CPU/online", list), ("CPU/nohz_full", "(null)")];
    check(&online("0-1"), Knob::IsolatedCpus, Standing::Fine, "none to spare", NONE);
    let commands = [
        "add to the kernel's command line: isolcpus=6,7 nohz_full=6,7",
        "remove it from the kernel's command line",
    ];
    check(&online("0-7"), Knob::IsolatedCpus, Standing::Could, "none", commands);
    // Two sockets of 32 cores, whose second threads are 64 CPUs on: cores 62 and 63 whole.
    let siblings = (0..128).map(|cpu: usize| {
        let file = format!("CPU/cpu{cpu}/topology/thread_siblings_list");
        (file, format!("{},{}", cpu % 64, cpu % 64 + 64))
    });
    let siblings: Vec<(String, String)> = siblings.collect();
    let mut large: Vec<(&str, &str)> = siblings.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    large.push(("CPU/online", "0-127"));
    let list = "62,63,126,127";
    let command = format!("add to the kernel's command line: isolcpus={list} nohz_full={list}");
    check(&large, Knob::IsolatedCpus, Standing::Could, "none", [&command, commands[1]]);
    let few = [
        ("CPU/online", "0-3"),
        ("CPU/cpu0/topology/thread_siblings_list", "0-1"),
        ("CPU/cpu1/topology/thread_siblings_list", "0-1"),
    ];
    check(&few, Knob::IsolatedCpus, Standing::Fine, "none to spare", NONE);
    let isolated = [("CPU/online", "0-7"), ("CPU/isolated", "2-3"), ("CPU/nohz_full", "2")];
    let now = "isolcpus=2-3 nohz_full=2";
    check(&isolated, Knob::IsolatedCpus, Standing::Fine, now, NONE);
}

#[test]
fn kernel_settings() {
    let kernel = |name: &str| format!("proc/sys/kernel/{name}");
    for (name, knob, good, bad, wanted, standing) in [
        ("randomize_va_space", Knob::AddressRandomization, "2", "0", "2", Standing::Noisy),
        ("nmi_watchdog", Knob::NmiWatchdog, "0", "1", "0", Standing::Could),
        ("timer_migration", Knob::TimerMigration, "0", "1", "0", Standing::Could),
        ("perf_event_paranoid", Knob::PerfEvents, "-1", "4", "1", Standing::Could),
    ] {
        let file = kernel(name);
        assert_eq!(look(&[(&file, good)], &HERE, knob).standing, Standing::Fine);
        let found = look(&[(&file, bad)], &HERE, knob);
        let change = found.change.unwrap();
        assert_eq!(found.standing, standing);
        assert_eq!(change.command, format!("sysctl -w kernel.{name}={wanted}"));
        assert_eq!(change.undo, Some(format!("sysctl -w kernel.{name}={bad}")));
    }
    let root = Place { is_root: true, ..HERE };
    let without = Place { has_counters: false, ..root };
    let file = [("proc/sys/kernel/perf_event_paranoid", "2")];
    assert_eq!(look(&file, &without, Knob::PerfEvents).standing, Standing::Absent);
    let strict = [("proc/sys/kernel/perf_event_paranoid", "4")];
    assert_eq!(look(&strict, &root, Knob::PerfEvents).standing, Standing::Fine);
    let pages = |text| [("sys/kernel/mm/transparent_hugepage/enabled", text)];
    let madvise = pages("always [madvise] never");
    check(&madvise, Knob::HugePages, Standing::Fine, "madvise", NONE);
    let found = look(&pages("[always] madvise never"), &HERE, Knob::HugePages);
    assert_eq!((found.standing, found.change.is_some()), (Standing::Could, true));
    let swap = |text| [("proc/meminfo", text)];
    check(&swap("SwapTotal: 0 kB\nSwapFree: 0 kB"), Knob::Swap, Standing::Fine, "none", NONE);
    check(&swap("SwapTotal: 8 kB\nSwapFree: 8 kB"), Knob::Swap, Standing::Fine, "unused", NONE);
    let used = swap("SwapTotal: 4096 kB\nSwapFree: 2048 kB");
    let commands = ["sudo swapoff -a", "sudo swapon -a"];
    check(&used, Knob::Swap, Standing::Noisy, "2 MiB used", commands);
    let daemon = [("proc/17/comm", "irqbalance\n"), ("proc/18/comm", "sh\n")];
    let commands = ["sudo systemctl stop irqbalance", "sudo systemctl start irqbalance"];
    check(&daemon, Knob::Irqbalance, Standing::Could, "running", commands);
}

#[test]
fn quotas_of_both_versions() {
    let version_2 = |limit| {
        [
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/job/cpu.stat", "throttled_usec 0\n"),
            ("sys/fs/cgroup/job/cpu.max", limit),
        ]
    };
    check(&version_2("max 100000"), Knob::CpuQuota, Standing::Fine, "none", NONE);
    let enough = "4.00 of 4 CPUs";
    check(&version_2("400000 100000"), Knob::CpuQuota, Standing::Fine, enough, NONE);
    let file = "/sys/fs/cgroup/job/cpu.max";
    let commands = [format!("echo max > {file}"), format!("echo '150000 100000' > {file}")];
    let commands = [&commands[0][..], &commands[1]];
    let little = "1.50 of 4 CPUs";
    check(&version_2("150000 100000"), Knob::CpuQuota, Standing::Noisy, little, commands);
    let version_1 = [
        ("proc/self/cgroup", "2:cpu:/a\n"),
        ("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu\n"),
        ("sys/fs/cgroup/cpu/a/cpu.stat", "throttled_time 9\n"),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
    ];
    let file = "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us";
    let commands = [format!("echo -1 > {file}"), format!("echo 50000 > {file}")];
    let commands = [&commands[0][..], &commands[1]];
    check(&version_1, Knob::CpuQuota, Standing::Noisy, "0.50 of 4 CPUs", commands);
}

#[test]
fn what_goes_on_now() {
    let show = "ps -eo pid,user,pcpu,comm --sort=-pcpu | head";
    let pressure = |text| [("proc/pressure/cpu", text)];
    let calm = pressure("some avg10=1.20 avg60=9.00 avg300=9.00 total=1");
    check(&calm, Knob::CpuPressure, Standing::Fine, "1% of the last 10 s", NONE);
    let busy = pressure("some avg10=61.20 avg60=9.00 avg300=9.00 total=1");
    let now = "61% of the last 10 s";
    check(&busy, Knob::CpuPressure, Standing::Noisy, now, [show, ""]);
    let load = |text| [("proc/loadavg", text)];
    let calm = load("0.53 0.12 0.04 4/88 5785");
    check(&calm, Knob::RunnableTasks, Standing::Fine, "3 beside tiebreak, for 4 CPUs", NONE);
    let busy = load("0.53 0.12 0.04 6/88 5785");
    check(&busy, Knob::RunnableTasks, Standing::Noisy, "5 beside tiebreak, for 4 CPUs", [show, ""]);
    let stat = |text| [("proc/stat", text)];
    let calm = stat("cpu  10 0 10 979 0 0 0 1 5 0\n");
    check(&calm, Knob::Steal, Standing::Fine, "0.10% since the start", NONE);
    let stolen = stat("cpu  10 0 10 970 0 0 0 10 5 0\n");
    check(&stolen, Knob::Steal, Standing::Noisy, "1.00% since the start", NONE);
    let metal = Place { is_virtual: false, ..HERE };
    assert_eq!(look(&stolen, &metal, Knob::Steal).standing, Standing::Absent);
}

#[test]
fn who_may_write() {
    assert_eq!(reach::needs_by(Some(libc::EROFS)), Needs::Host);
    assert_eq!(reach::needs_by(Some(libc::EACCES)), Needs::Root);
    let (_folder, tree) = made_up::tree(&[("sys/a", "1")]);
    assert_eq!(reach::needs(&tree, "/sys/a"), Needs::Nothing);
    assert_eq!(reach::needs(&tree, "/sys/b"), Needs::Root);
}

#[test]
fn this_machine_is_looked_at_and_left_as_it_is() {
    let tuning = read();
    assert_eq!((tuning.schema.as_str(), tuning.settings.len()), (Tuning::SCHEMA, 16));
    for setting in tuning.settings {
        let helps = matches!(setting.standing, Standing::Noisy | Standing::Could);
        assert!(helps || setting.change.is_none(), "{setting:?}");
    }
}
