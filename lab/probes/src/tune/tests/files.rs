//! Rows that put several files together.

use super::*;

#[test]
fn frequencies() {
    let limits = |most| {
        [
            ("CPU/cpu0/cpufreq/scaling_max_freq", "2000000\n"),
            ("CPU/cpu0/cpufreq/cpuinfo_max_freq", most),
        ]
    };
    let row = "frequency-limit";
    check(&limits("2000000"), row, Standing::Fine, "none", NONE);
    let (_folder, tree) = place_files(&limits("3500000"));
    let found = look_at(&tree, HERE, calm(), row);
    assert_eq!((found.standing, &found.now[..]), (Standing::Could, "2000 of 3500 MHz"));
    is_mended_and_put_back(&limits("3500000"), row);
    let odd = "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq holds 'fast', which is not \
               known here";
    check(&limits("fast"), row, Standing::Unknown, odd, NONE);
    // The second of two files tells of turbo too.
    is_mended_and_put_back(&[("CPU/cpufreq/boost", "1\n")], "turbo");
    let both = "no /sys/devices/system/cpu/intel_pstate/no_turbo, no \
                /sys/devices/system/cpu/cpufreq/boost";
    check(&[], "turbo", Standing::Absent, both, NONE);
}

#[test]
fn threads() {
    let threads = |active, control| [("CPU/smt/active", active), ("CPU/smt/control", control)];
    check(&threads("0", "notsupported"), "smt", Standing::Fine, "one each", NONE);
    let file = "/sys/devices/system/cpu/smt/control";
    let commands = [format!("echo off | tee {file}"), format!("echo on | tee {file}")];
    let commands = [&commands[0][..], &commands[1]];
    check(&threads("1", "on\n"), "smt", Standing::Could, "several share one", commands);
    check(&threads("1", "forceoff"), "smt", Standing::Could, "several share one", NONE);
    let odd = "/sys/devices/system/cpu/smt/active holds '7', which is not known here";
    check(&threads("7", "on"), "smt", Standing::Unknown, odd, NONE);
}

/// Cores of two threads, of which the second is so many CPUs on.
fn siblings(cores: usize) -> Vec<(String, String)> {
    let file = |cpu: usize| format!("CPU/cpu{cpu}/topology/thread_siblings_list");
    let list = |cpu: usize| format!("{},{}", cpu % cores, cpu % cores + cores);
    (0..2 * cores).map(|cpu| (file(cpu), list(cpu))).collect()
}

#[test]
fn whole_cores_are_isolated() {
    let row = "isolated-cpus";
    let online = |list| [("CPU/online", list), ("CPU/nohz_full", "(null)")];
    check(&online("0-1"), row, Standing::Fine, "none to spare", NONE);
    let undo = "remove it from the kernel's command line";
    let command = "add to the kernel's command line: isolcpus=6-7 nohz_full=6-7 rcu_nocbs=6-7";
    check(&online("0-7"), row, Standing::Could, "none", [command, undo]);
    // Without the file of the tick the kernel cannot stop it.
    let command = "add to the kernel's command line: isolcpus=6-7 rcu_nocbs=6-7";
    check(&online("0-7")[..1], row, Standing::Could, "none", [command, undo]);
    // Two sockets of 32 cores, whose second threads are 64 CPUs on: cores 62 and 63 whole.
    let siblings = siblings(64);
    let mut large: Vec<(&str, &str)> = siblings.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    large.push(("CPU/online", "0-127"));
    let command =
        "add to the kernel's command line: isolcpus=62-63,126-127 rcu_nocbs=62-63,126-127";
    check(&large, row, Standing::Could, "none", [command, undo]);
    let few = [
        ("CPU/online", "0-3"),
        ("CPU/cpu0/topology/thread_siblings_list", "0-1"),
        ("CPU/cpu1/topology/thread_siblings_list", "0-1"),
    ];
    check(&few, row, Standing::Fine, "none to spare", NONE);
    let isolated = [("CPU/online", "0-7"), ("CPU/isolated", "2-3"), ("CPU/nohz_full", "2")];
    check(&isolated, row, Standing::Fine, "2-3", NONE);
    let odd = "/sys/devices/system/cpu/isolated holds 'banana', which is not known here";
    check(&[online("0-7")[0], ("CPU/isolated", "banana")], row, Standing::Unknown, odd, NONE);
}

#[test]
fn isolation_is_from_everything_or_says_from_what_not() {
    let row = "isolation-parts";
    let kernel = |isolated, nohz_full, line| {
        [
            ("CPU/online", "0-7"),
            ("CPU/isolated", isolated),
            ("CPU/nohz_full", nohz_full),
            ("proc/cmdline", line),
        ]
    };
    check(&kernel("", "(null)", "quiet"), row, Standing::Absent, "no CPU is isolated", NONE);
    let whole = kernel("6-7", "6-7", "quiet isolcpus=6-7 nohz_full=6-7");
    check(&whole, row, Standing::Fine, "6-7 from all", NONE);
    let lacking = kernel("6-7", "6", "isolcpus=managed_irq,domain,6-7 nohz_full=6 quiet");
    let now = "of CPUs 6-7, nohz_full lacks 7, rcu_nocbs lacks 7";
    let command = "write on the kernel's command line: isolcpus=managed_irq,domain,6-7 \
                   nohz_full=6-7 rcu_nocbs=6-7";
    let undo = "write there as before: isolcpus=managed_irq,domain,6-7 nohz_full=6";
    check(&lacking, row, Standing::Could, now, [command, undo]);
    // CPUs may be isolated without the command line, by a group of CPUs.
    let now = "of CPUs 6-7, nohz_full lacks 6-7, rcu_nocbs lacks 6-7";
    let command = "write on the kernel's command line: isolcpus=6-7 nohz_full=6-7 rcu_nocbs=6-7";
    let undo = "remove them from the kernel's command line";
    check(&kernel("6-7", "", "quiet"), row, Standing::Could, now, [command, undo]);
    // A kernel that cannot stop the tick.
    let mut plain: Vec<_> = kernel("6-7", "", "isolcpus=6-7 rcu_nocbs=all").to_vec();
    plain.remove(2);
    check(&plain, row, Standing::Fine, "6-7 from all", NONE);
    let odd = "/proc/cmdline holds 'rcu_nocbs=some', which is not known here";
    check(&kernel("6-7", "", "rcu_nocbs=some"), row, Standing::Unknown, odd, NONE);
    // The other thread of an isolated core stays with the system.
    let siblings = siblings(4);
    let mut half: Vec<(&str, &str)> = siblings.iter().map(|(a, b)| (&a[..], &b[..])).collect();
    half.extend(kernel("3", "3", "isolcpus=3 nohz_full=3"));
    let now = "of CPUs 3,7, isolcpus lacks 7, nohz_full lacks 7, rcu_nocbs lacks 7";
    let command = "write on the kernel's command line: isolcpus=3,7 nohz_full=3,7 rcu_nocbs=3,7";
    let undo = "write there as before: isolcpus=3 nohz_full=3";
    check(&half, row, Standing::Could, now, [command, undo]);
}

#[test]
fn interrupts_stay_away_from_isolated_cpus() {
    let row = "irq-affinity";
    let irqs = |isolated, first, now| {
        [
            ("CPU/online", "0-3"),
            ("CPU/isolated", isolated),
            ("proc/irq/5/smp_affinity_list", first),
            ("proc/irq/5/effective_affinity_list", now),
            ("proc/irq/17/smp_affinity_list", "2-3\n"),
            ("proc/irq/17/effective_affinity_list", "0\n"),
            ("proc/irq/18/smp_affinity_list", "0-1\n"),
            ("proc/irq/default_smp_affinity", "f\n"),
        ]
    };
    check(&irqs("", "0-3\n", "3"), row, Standing::Absent, "no CPU is isolated", NONE);
    let now = "2 of 3 may come to CPUs 2-3, and 1 do now";
    let (_folder, tree) = place_files(&irqs("2-3", "0,2-3\n", "3"));
    let found = look_at(&tree, HERE, calm(), row);
    assert_eq!((found.standing, &found.now[..]), (Standing::Noisy, now));
    let change = found.change.unwrap();
    let [five, seventeen] = [5, 17].map(|irq| format!("/proc/irq/{irq}/smp_affinity_list"));
    assert_eq!(change.command, format!("echo 0 | tee {five}; echo 0-1 | tee {seventeen}"));
    assert_eq!(change.undo, Some(format!("echo 0,2-3 | tee {five}; echo 2-3 | tee {seventeen}")));
    is_mended_and_put_back(&irqs("2-3", "0,2-3\n", "3"), row);
    is_mended_and_put_back(&irqs("2-3", "0-1\n", "3"), row);
    let odd = "/proc/irq/5/smp_affinity_list holds 'x', which is not known here";
    check(&irqs("2", "x", ""), row, Standing::Unknown, odd, NONE);
    let fine = "none of 3 may come to CPUs 9";
    check(&irqs("9", "0-1", "1"), row, Standing::Fine, fine, NONE);
}

#[test]
fn idle_cpus() {
    let states = |deep, disabled| {
        [
            ("CPU/cpuidle/current_governor", "menu"),
            ("CPU/cpu0/cpuidle/state0/name", "POLL"),
            ("CPU/cpu0/cpuidle/state0/latency", "0"),
            ("CPU/cpu0/cpuidle/state0/disable", "0\n"),
            ("CPU/cpu0/cpuidle/state1/name", "C6"),
            ("CPU/cpu0/cpuidle/state1/latency", deep),
            ("CPU/cpu0/cpuidle/state1/disable", disabled),
        ]
    };
    let row = "idle-states";
    check(&states("2", "0"), row, Standing::Fine, "POLL 0 us, C6 2 us, menu governor", NONE);
    check(&states("133", "1"), row, Standing::Fine, "POLL 0 us, menu governor", NONE);
    let file = "/sys/devices/system/cpu/cpu0/cpuidle/state1/disable";
    let commands = [format!("echo 1 | tee {file}"), format!("echo 0 | tee {file}")];
    let commands = [&commands[0][..], &commands[1]];
    let now = "POLL 0 us, C6 133 us, menu governor";
    check(&states("133", "0\n"), row, Standing::Could, now, commands);
    is_mended_and_put_back(&states("133", "0\n"), row);
    // Two deep states of two CPUs are two patterns.
    let both = |cpu: usize, state: usize| {
        ["name", "latency", "disable"]
            .map(|name| format!("CPU/cpu{cpu}/cpuidle/state{state}/{name}"))
    };
    let paths = [both(0, 2), both(0, 3), both(1, 2), both(1, 3)].concat();
    let texts = ["C6", "133", "0\n"].into_iter().cycle();
    let many: Vec<(&str, &str)> = paths.iter().map(String::as_str).zip(texts).collect();
    let deep = [2, 3].map(|n| format!("/sys/devices/system/cpu/cpu*/cpuidle/state{n}/disable"));
    let commands = [1, 0].map(|value| format!("echo {value} | tee {}", deep.join(" ")));
    let now = "C6 133 us, no governor";
    check(&many, row, Standing::Could, now, [&commands[0], &commands[1]]);
    is_mended_and_put_back(&many, row);
    let odd = format!("{file} holds '2', which is not known here");
    check(&states("133", "2"), row, Standing::Unknown, &odd, NONE);
    let odd = "/sys/devices/system/cpu/cpu0/cpuidle/state1/latency holds 'x', which is not known \
               here";
    check(&states("x", "0"), row, Standing::Unknown, odd, NONE);
}

#[test]
fn guests_that_halt() {
    let row = "halt-polling";
    let guest = |governor, ns| {
        [
            ("CPU/cpuidle/current_governor", governor),
            ("sys/module/haltpoll/parameters/guest_halt_poll_ns", ns),
        ]
    };
    let other = "the governor of idle states is menu";
    check(&guest("menu", "0"), row, Standing::Absent, other, NONE);
    check(&guest("haltpoll", "200000"), row, Standing::Fine, "200000", NONE);
    is_mended_and_put_back(&guest("haltpoll", "0\n"), row);
    let file = "/sys/module/haltpoll/parameters/guest_halt_poll_ns";
    let odd = format!("{file} holds 'banana', which is not known here");
    check(&guest("haltpoll", "banana"), row, Standing::Unknown, &odd, NONE);
    let none = format!("no {file}");
    check(&guest("haltpoll", "")[..1], row, Standing::Absent, &none, NONE);
}

#[test]
fn shares_of_the_cache() {
    let row = "cache-shares";
    let flags = |flags| [("proc/cpuinfo", flags), ("proc/filesystems", "nodev\tresctrl\n")];
    let why = "the processor does not say cat_l3 in /proc/cpuinfo";
    check(&flags("flags\t: fpu avx2"), row, Standing::Absent, why, NONE);
    let why = "the kernel was built without resctrl";
    let without = [flags("flags\t: cat_l3 mba")[0], ("proc/filesystems", "nodev\tsysfs\n")];
    check(&without, row, Standing::Absent, why, NONE);
    let commands = ["sudo mount -t resctrl resctrl /sys/fs/resctrl", "sudo umount /sys/fs/resctrl"];
    let now = "possible, not mounted";
    check(&flags("flags\t: cat_l3 mba"), row, Standing::Could, now, commands);
    let mounted = |mask, schemata| {
        [
            ("sys/fs/resctrl/info/L3/num_closids", "16\n"),
            ("sys/fs/resctrl/info/L3/cbm_mask", mask),
            ("sys/fs/resctrl/schemata", schemata),
            ("sys/fs/resctrl/busy/schemata", "L3:0=3;1=3"),
        ]
    };
    let now = "14 of 16 groups free, 15 ways of L3";
    let lines = "    MB:0=100;1=100\n    L3:0=7fff;1=7fff\n";
    check(&mounted("7fff\n", lines), row, Standing::Could, now, NONE);
    let odd = "/sys/fs/resctrl/info/L3/cbm_mask holds 'xyz', which is not known here";
    check(&mounted("xyz", lines), row, Standing::Unknown, odd, NONE);
    let mut taken = mounted("7fff", lines).to_vec();
    taken.push(("sys/fs/resctrl/tiebreak/schemata", "L3:0=7f00;1=7f00"));
    check(&taken, row, Standing::Fine, "a group of its own", NONE);
    let mut full = mounted("7fff", lines).to_vec();
    full[0].1 = "2";
    check(&full, row, Standing::Could, "0 of 2 groups free, 15 ways of L3", NONE);
}

#[test]
fn settings_of_the_kernel() {
    let file = [("proc/sys/kernel/perf_event_paranoid", "2\n")];
    is_mended_and_put_back(&file, "perf-events");
    let strict = [("proc/sys/kernel/perf_event_paranoid", "4")];
    let (_folder, tree) = place_files(&strict);
    let root = Place { is_root: true, ..HERE };
    let found = |place| look_at(&tree, place, calm(), "perf-events").standing;
    assert_eq!((found(root), found(HERE)), (Standing::Fine, Standing::Could));
    assert_eq!(found(Place { has_counters: false, ..root }), Standing::Absent);
    // At level 4 nobody but root may try; at level 2 anybody may, in user mode.
    let without = Place { has_counters: false, ..HERE };
    assert_eq!(found(without), Standing::Could);
    let (_folder, tree) = place_files(&file);
    assert_eq!(look_at(&tree, without, calm(), "perf-events").standing, Standing::Absent);
    let swap = |text| [("proc/meminfo", text)];
    check(&swap("SwapTotal: 0 kB\nSwapFree: 0 kB"), "swap", Standing::Fine, "none", NONE);
    check(&swap("SwapTotal: 8 kB\nSwapFree: 8 kB"), "swap", Standing::Fine, "unused", NONE);
    let used = swap("SwapTotal: 4096 kB\nSwapFree: 2048 kB");
    let commands = ["sudo swapoff -a", "sudo swapon -a"];
    check(&used, "swap", Standing::Noisy, "2 MiB used", commands);
    let odd = "/proc/meminfo holds 'banana', which is not known here";
    check(&swap("banana"), "swap", Standing::Unknown, odd, NONE);
    check(&[], "irqbalance", Standing::Absent, "no /proc/*/comm", NONE);
    let others = [("proc/18/comm", "sh\n")];
    check(&others, "irqbalance", Standing::Fine, "not running", NONE);
    let daemon = [("proc/17/comm", "irqbalance\n"), ("proc/18/comm", "sh\n")];
    let commands = ["sudo systemctl stop irqbalance", "sudo systemctl start irqbalance"];
    check(&daemon, "irqbalance", Standing::Could, "running", commands);
}

#[test]
fn quotas_of_both_versions() {
    let row = "cpu-quota";
    let version_2 = |limit| {
        [
            ("proc/self/cgroup", "0::/job\n"),
            ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
            ("sys/fs/cgroup/job/cpu.stat", "throttled_usec 0\n"),
            ("sys/fs/cgroup/job/cpu.max", limit),
        ]
    };
    check(&version_2("max 100000"), row, Standing::Fine, "none", NONE);
    check(&version_2("400000 100000"), row, Standing::Fine, "4.00 of 4 CPUs", NONE);
    let file = "/sys/fs/cgroup/job/cpu.max";
    let commands =
        [format!("echo 'max 100000' | tee {file}"), format!("echo '150000 100000' | tee {file}")];
    let commands = [&commands[0][..], &commands[1]];
    let little = "1.50 of 4 CPUs";
    check(&version_2("150000 100000\n"), row, Standing::Noisy, little, commands);
    is_mended_and_put_back(&version_2("150000 100000\n"), row);
    let version_1 = [
        ("proc/self/cgroup", "2:cpu:/a\n"),
        ("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/cpu rw - cgroup none rw,cpu\n"),
        ("sys/fs/cgroup/cpu/a/cpu.stat", "throttled_time 9\n"),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "50000\n"),
        ("sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n"),
    ];
    let file = "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us";
    let commands = [format!("echo -1 | tee {file}"), format!("echo 50000 | tee {file}")];
    let commands = [&commands[0][..], &commands[1]];
    check(&version_1, row, Standing::Noisy, "0.50 of 4 CPUs", commands);
    is_mended_and_put_back(&version_1, row);
}
