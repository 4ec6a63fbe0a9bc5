//! Made-up machines.

use super::*;
use crate::{CacheKind, CoreKind};
use tiebreak_machine::tree::made_up;

const CPU: &str = "sys/devices/system/cpu";
const NODE: &str = "sys/devices/system/node";

/// The files of a made-up machine.
#[derive(Default)]
struct Machine(Vec<(String, String)>);

impl Machine {
    fn add(&mut self, path: String, text: impl ToString) {
        self.0.push((path, text.to_string()));
    }

    fn online(&mut self, list: &str) {
        self.add(format!("{CPU}/online"), list);
    }

    /// What the kernel says of the place of a CPU.
    fn cpu(&mut self, cpu: usize, files: &[(&str, &str)]) {
        for (file, text) in files {
            self.add(format!("{CPU}/cpu{cpu}/topology/{file}"), text);
        }
    }

    fn cache(&mut self, cpu: usize, index: usize, [level, kind, size, shared]: [&str; 4]) {
        let folder = format!("{CPU}/cpu{cpu}/cache/index{index}");
        let files = [("level", level), ("type", kind), ("size", size), ("shared_cpu_list", shared)];
        for (file, text) in files {
            self.add(format!("{folder}/{file}"), text);
        }
        self.add(format!("{folder}/coherency_line_size"), 64);
    }

    fn read(&self, allowed: &[usize]) -> (Topology, Vec<String>) {
        let files: Vec<_> = self.0.iter().map(|(path, text)| (&path[..], &text[..])).collect();
        let (_folder, tree) = made_up::tree(&files);
        read(&tree, allowed).unwrap()
    }
}

/// Two sockets of two cores with two threads each; siblings are four apart; core numbers repeat.
fn two_sockets() -> Machine {
    let mut machine = Machine::default();
    machine.online("0-7");
    for cpu in 0..8 {
        let core = cpu % 4;
        let package = core / 2;
        let threads = format!("{core},{}", core + 4);
        let socket = if package == 0 { "0-1,4-5" } else { "2-3,6-7" };
        machine.cpu(
            cpu,
            &[
                ("core_id", &(core % 2).to_string()),
                ("physical_package_id", &package.to_string()),
                ("core_cpus_list", &threads),
                ("package_cpus_list", socket),
                ("die_cpus_list", socket),
                ("cluster_id", "65535"),
                ("cluster_cpus_list", &threads),
            ],
        );
        machine.cache(cpu, 0, ["1", "Data", "48K", &threads]);
        machine.cache(cpu, 1, ["1", "Instruction", "32K", &threads]);
        machine.cache(cpu, 2, ["2", "Unified", "2048K", &threads]);
        machine.cache(cpu, 3, ["3", "Unified", "61440K", socket]);
        machine.add(format!("{CPU}/cpu{cpu}/node{package}/cpulist"), socket);
        machine.add(format!("{CPU}/cpu{cpu}/cpufreq/cpuinfo_max_freq"), 3_500_000);
    }
    for (node, cpus, distance) in [(0, "0-1,4-5", "10 21"), (1, "2-3,6-7", "21 10")] {
        machine.add(format!("{NODE}/node{node}/cpulist"), cpus);
        machine.add(format!("{NODE}/node{node}/distance"), distance);
        let memory = format!("Node {node} MemTotal:       1024 kB\nNode {node} MemFree: 1 kB\n");
        machine.add(format!("{NODE}/node{node}/meminfo"), memory);
    }
    machine
}

#[test]
fn two_sockets_with_threads_and_nodes() {
    let (found, reasons) = two_sockets().read(&[0, 1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(reasons, Vec::<String>::new());
    let cores: Vec<_> = found.cpus.iter().map(|cpu| cpu.core.unwrap()).collect();
    assert_eq!(cores, [0, 1, 2, 3, 0, 1, 2, 3]);
    let last = &found.cpus[7];
    assert_eq!((last.package, last.node, last.cluster), (Some(1), Some(1), None));
    assert_eq!((&last.smt_siblings[..], last.max_hz), (&[3][..], Some(3_500_000_000)));
    let caches: Vec<_> = found.caches.iter().map(|c| (c.level, c.kind, c.cpus.len())).collect();
    assert_eq!(caches.len(), 4 * 3 + 2);
    assert_eq!(caches[0], (1, CacheKind::Data, 2));
    assert_eq!(found.caches[13].cpus, [2, 3, 6, 7]);
    assert_eq!(found.caches[13].size_bytes, Some(60 << 20));
    let nodes: Vec<_> = found.nodes.iter().map(|n| (n.memory_bytes, &n.distances[..])).collect();
    assert_eq!(nodes, [(Some(1 << 20), &[10, 21][..]), (Some(1 << 20), &[21, 10][..])]);
}

#[test]
fn memory_has_one_size() {
    let check = |whole_kib: u64, nodes: [Option<u64>; 2]| {
        let mut machine = two_sockets();
        machine.add("proc/meminfo".to_owned(), format!("MemTotal: {whole_kib} kB\n"));
        let found = machine.read(&[0]).0;
        assert_eq!(found.whole_memory_bytes, Some(whole_kib << 10));
        let sizes: Vec<_> = found.nodes.iter().map(|node| node.memory_bytes).collect();
        assert_eq!(sizes, nodes);
    };
    check(2048, [Some(1 << 20), Some(1 << 20)]);
    check(2060, [Some(1 << 20), Some(1 << 20)]);
    // A hypervisor gives half of it later: nobody knows to which node.
    check(4096, [None, None]);
    let (_folder, tree) = made_up::tree(&[(&format!("{NODE}/node0/meminfo"), "MemTotal: 9 kB")]);
    let only = advertised::nodes(&tree, Some(24 << 30));
    assert_eq!(only[0].memory_bytes, Some(24 << 30), "the only node has all of it");
    assert_eq!(advertised::nodes(&tree, None)[0].memory_bytes, Some(9 << 10));
}

#[test]
fn a_subset_of_the_cpus_may_be_used_and_others_are_off() {
    let mut machine = two_sockets();
    machine.online("0-6");
    machine.add(format!("{CPU}/present"), "0-7");
    let (found, reasons) = machine.read(&[1, 5]);
    let marks: Vec<_> = found.cpus.iter().map(|cpu| (cpu.is_online, cpu.is_allowed)).collect();
    assert_eq!(marks[..2], [(true, false), (true, true)]);
    assert_eq!(marks[7], (false, false));
    assert_eq!((found.cpus[7].core, reasons.len()), (None, 0));
}

#[test]
fn several_last_level_caches_in_a_socket() {
    let mut machine = Machine::default();
    machine.online("0-7");
    for cpu in 0..8 {
        let own = cpu.to_string();
        machine.cpu(
            cpu,
            &[
                ("thread_siblings_list", &own),
                ("core_siblings_list", "0-7"),
                ("physical_package_id", "0"),
            ],
        );
        let complex = ["0-3", "4-7"][cpu / 4];
        machine.cache(cpu, 0, ["1", "Data", "32K", &own]);
        machine.cache(cpu, 3, ["3", "Unified", "32M", complex]);
    }
    let (found, reasons) = machine.read(&[0, 1, 2, 3, 4, 5, 6, 7]);
    let last: Vec<_> = found.caches.iter().filter(|cache| cache.level == 3).collect();
    assert_eq!(last.iter().map(|cache| cache.cpus[0]).collect::<Vec<_>>(), [0, 4]);
    assert!(found.cpus.iter().all(|cpu| cpu.package == Some(0) && cpu.smt_siblings.is_empty()));
    assert!(found.nodes.is_empty() && reasons.is_empty());
}

#[test]
fn fast_and_slow_cores_are_told_apart() {
    let mut intel = Machine::default();
    intel.online("0-3");
    for (cpu, threads) in [(0, "0-1"), (1, "0-1"), (2, "2"), (3, "3")] {
        intel.cpu(cpu, &[("core_cpus_list", threads)]);
        if cpu > 1 {
            intel.cpu(cpu, &[("cluster_id", "8"), ("cluster_cpus_list", "2-3")]);
        }
    }
    intel.add("sys/devices/cpu_core/cpus".to_owned(), "0-1");
    intel.add("sys/devices/cpu_atom/cpus".to_owned(), "2-3");
    let mut arm = Machine::default();
    arm.online("0-3");
    for cpu in 0..4 {
        arm.cpu(cpu, &[("core_cpus_list", &cpu.to_string())]);
        arm.add(format!("{CPU}/cpu{cpu}/cpu_capacity"), if cpu < 2 { 1024 } else { 446 });
    }
    use CoreKind::{Efficiency, Performance};
    for (machine, cores) in [(intel, [0, 0, 1, 2]), (arm, [0, 1, 2, 3])] {
        let found = machine.read(&[0]).0;
        let kinds: Vec<_> = found.cpus.iter().map(|cpu| cpu.kind.unwrap()).collect();
        assert_eq!(kinds, [Performance, Performance, Efficiency, Efficiency]);
        assert_eq!(found.cpus.iter().map(|cpu| cpu.core.unwrap()).collect::<Vec<_>>(), cores);
    }
}

#[test]
fn arm_without_package_ids_has_no_sockets() {
    let mut machine = Machine::default();
    machine.online("0-1");
    for cpu in 0..2 {
        machine.cpu(
            cpu,
            &[
                ("physical_package_id", "-1"),
                ("core_siblings_list", "0-1"),
                ("thread_siblings_list", &cpu.to_string()),
                ("cluster_id", "-1"),
                ("cluster_cpus_list", &cpu.to_string()),
            ],
        );
        machine.add(format!("{CPU}/cpu{cpu}/cpu_capacity"), 1024);
    }
    let found = machine.read(&[0, 1]).0;
    let seen: Vec<_> = found.cpus.iter().map(|cpu| (cpu.core, cpu.package, cpu.cluster)).collect();
    assert_eq!(seen, [(Some(0), None, None), (Some(1), None, None)]);
    assert!(found.cpus.iter().all(|cpu| cpu.kind.is_none()));
}

#[test]
fn next_to_nothing_is_told() {
    let mut bare = Machine::default();
    bare.online("0");
    bare.add(format!("{CPU}/cpu0/topology/core_cpus_list"), "not a list");
    for (machine, allowed, cpus, lacking) in
        [(bare, vec![0], 1, 2), (Machine::default(), vec![2, 5], 2, 3)]
    {
        let (found, reasons) = machine.read(&allowed);
        assert_eq!((found.cpus.len(), reasons.len()), (cpus, lacking), "{reasons:?}");
        assert!(found.cpus.iter().all(|cpu| cpu.is_online && cpu.is_allowed && cpu.core.is_none()));
        assert_eq!((found.caches.len(), found.nodes.len()), (0, 0));
        assert_eq!(found.limits, Limits::default());
    }
    let (_folder, tree) = made_up::tree(&[]);
    let error = read(&tree, &[]).unwrap_err();
    assert_eq!(error.tried.len(), 2);
}

#[test]
fn limits_are_those_of_the_groups() {
    let mount = "30 1 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw\n";
    let mut machine = two_sockets();
    machine.add("proc/self/cgroup".to_owned(), "0::/job\n");
    machine.add("proc/self/mountinfo".to_owned(), mount);
    machine.add("sys/fs/cgroup/job/cpu.max".to_owned(), "150000 100000\n");
    machine.add("sys/fs/cgroup/job/cpu.stat".to_owned(), "throttled_usec 0\n");
    machine.add("sys/fs/cgroup/job/memory.max".to_owned(), "4096\n");
    machine.add("proc/self/status".to_owned(), "Name:\tx\nMems_allowed_list:\t0-1\n");
    let limits = Limits {
        cpu_quota_us: Some(150_000),
        cpu_period_us: Some(100_000),
        memory_bytes: Some(4096),
        nodes: Some(vec![0, 1]),
        is_cpu_quota_known: true,
    };
    assert_eq!(machine.read(&[0]).0.limits, limits);
}

fn cpu(cpu: usize, core: Option<usize>) -> Cpu {
    Cpu { cpu, is_online: true, is_allowed: true, core, ..Cpu::default() }
}

fn pairs(advertised: &[Cpu]) -> Vec<([usize; 2], Option<bool>)> {
    let cpus: Vec<usize> = advertised.iter().map(|cpu| cpu.cpu).collect();
    let pairs = wanted(advertised, &cpus).into_iter();
    pairs.map(|PairReading { pair, .. }| (pair.cpus, pair.is_advertised)).collect()
}

#[test]
fn advertised_pairs_come_first_and_the_sample_is_bounded() {
    let small = [cpu(0, Some(0)), cpu(1, Some(1)), cpu(2, Some(0))];
    let expected = [([0, 2], Some(true)), ([0, 1], Some(false)), ([1, 2], Some(false))].to_vec();
    assert_eq!(pairs(&small), expected);
    assert_eq!(pairs(&[cpu(3, None), cpu(5, None)]), [([3, 5], None)]);
    assert_eq!(pairs(&[cpu(3, None)]), []);
    let large: Vec<Cpu> = (0..256).map(|n| cpu(n, Some(n % 128))).collect();
    let chosen = pairs(&large);
    let advertised = chosen.iter().filter(|(_, advertised)| *advertised == Some(true)).count();
    let near = chosen.iter().filter(|([a, b], _)| a + 1 == *b).count();
    assert_eq!((advertised, near, chosen.len()), (MOST[0], MOST[1], MOST.iter().sum()));
    let mut distinct = chosen.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), chosen.len());
}

use crate::Cpu;

fn without_cores() -> Vec<Cpu> {
    tiebreak_machine::cpus::allowed()
        .iter()
        .map(|cpu| Cpu { cpu: *cpu, ..Cpu::default() })
        .collect()
}

#[test]
fn one_cpu_is_not_enough_and_two_give_rounds_or_a_reason() {
    let flag = AtomicBool::new(false);
    let mut progress = |_: f64| {};
    let mut budget = Budget::new(Duration::from_millis(330), &flag, &mut progress);
    assert_eq!(measure_pairs(Vec::new(), &mut budget).state(), "inconclusive");
    let cpus = tiebreak_machine::cpus::allowed();
    let advertised = without_cores();
    let pairs = wanted(&advertised, &cpus[..cpus.len().min(2)]);
    let probed = measure_pairs(pairs, &mut budget);
    for pair in probed.value().into_iter().flatten() {
        assert!((1..=ROUNDS).contains(&pair.rounds.len()));
        assert!(pair.rounds.iter().flatten().all(|ns| *ns > 0.0));
        assert!(pair.pair.batches >= 4 * (FEWEST_BATCHES * pair.rounds.len()) as u64);
    }
}

#[test]
fn threads_that_take_turns_on_one_cpu_were_never_together() {
    let cpu = tiebreak_machine::cpus::allowed()[0];
    let pair = Pair { cpus: [cpu, cpu], ..Pair::default() };
    let mut pair = PairReading { pair, rounds: Vec::new() };
    pair.round(&AtomicBool::new(false)).unwrap();
    assert!(pair.rounds.is_empty());
}

#[test]
fn the_faster_one_goes_on_until_the_slower_one_has_enough() {
    let [own, other] = [Beside::default(), Beside::default()];
    let (flag, begin_ns) = (AtomicBool::new(false), clock::monotonic_ns());
    let (times, _) = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !flag.load(Ordering::Relaxed) {
                other.steps.fetch_add(1, Ordering::Relaxed);
                let is_late = own.steps.load(Ordering::Relaxed) >= 2 * BATCHES as u64 * STEPS;
                other.has_enough.store(is_late, Ordering::Relaxed);
            }
        });
        let seen = batches(&own, &other, &AtomicBool::new(false));
        flag.store(true, Ordering::Relaxed);
        seen
    });
    assert!(times.len() <= BATCHES);
    // On a busy machine the window ends it.
    let is_late = own.steps.load(Ordering::Relaxed) >= 2 * BATCHES as u64 * STEPS;
    assert!(is_late || clock::monotonic_ns() - begin_ns >= WINDOW_NS);
}

#[test]
fn an_interrupt_ends_it_at_once() {
    let flag = AtomicBool::new(true);
    let mut progress = |_: f64| {};
    let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
    let cpus = tiebreak_machine::cpus::allowed();
    let advertised = without_cores();
    let probed = measure_pairs(wanted(&advertised, &cpus), &mut budget);
    assert_eq!(probed.value(), None);
}

#[test]
fn every_addition_is_made() {
    for rounds in [1, 2, 1000] {
        assert_eq!(add(rounds), rounds * WIDTH);
    }
    assert_eq!(add(0), WIDTH);
}
