//! The probe on this machine, whatever it is, and what is made of what it saw.

use super::*;
use std::sync::atomic::AtomicBool;
use tiebreak_machine::cpus;
use tiebreak_machine::tree::made_up;

fn measured(length: Duration, interrupted: bool) -> Probed<Reading> {
    let flag = AtomicBool::new(interrupted);
    let mut progress = drop::<f64>;
    let probe = Bandwidth::new(&cpus::allowed()).unwrap();
    probe.measure(&mut Budget::new(length, &flag, &mut progress))
}

#[test]
fn a_short_look_gives_a_reading_or_says_why_not() {
    let probed = measured(Duration::from_millis(700), false);
    match probed {
        Probed::Measured { value } | Probed::Degraded { value, .. } => {
            assert!(!value.cells.is_empty() && value.found.buffer_bytes > 0);
            for cell in value.cells {
                assert!(cell.windows_kept <= cell.windows, "{cell:?}");
                assert!((1..=value.found.cpus.len()).contains(&cell.threads));
                assert!(cell.rounds.iter().flatten().all(|rate| *rate > 0.0));
            }
        }
        Probed::Inconclusive { why } => assert!(!why.is_empty()),
        Probed::Unavailable { tried, .. } => panic!("{tried:?}"),
    }
}

#[test]
fn an_interrupt_ends_it_at_once_and_no_cpu_is_not_available() {
    assert_eq!(measured(Duration::from_secs(600), true).state(), "inconclusive");
    let error = Bandwidth::new(&[]).unwrap_err();
    assert_eq!(error.to_string(), "no bandwidth: sched_getaffinity: no CPU");
}

fn cell(rounds: Vec<Option<f64>>) -> CellReading {
    let (windows, windows_kept) = (10, 5);
    let (traffic, is_pinned, threads) = (Traffic::Read, true, 1);
    let bytes_per_s = rounds.iter().copied().flatten().reduce(f64::max);
    let parts = Vec::new();
    CellReading { traffic, is_pinned, threads, bytes_per_s, rounds, parts, windows, windows_kept }
}

const LATENCY_OF_ONE: LoadedLatency = LoadedLatency {
    threads: 0,
    asked_share: 0.0,
    bytes_per_s: 0.0,
    latency_ns: 100.0,
    spread_ns: None,
    parts_ns: Vec::new(),
    windows_kept: 9,
};

#[test]
fn what_speaks_against_a_reading_is_said() {
    let latency = std::cell::Cell::new(false);
    let is_held_known = std::cell::Cell::new(true);
    let check = |can_pin, cells: Vec<CellReading>, buffer_mib: u64, state: &str, why: &str| {
        // A guest with advertised caches of 260 MiB, of which it gets 16.
        let (cpus, vectors, last_level_bytes) = (vec![0], Vectors::widest(), Some(260 << 20));
        let held_bytes = is_held_known.get().then_some(16 << 20);
        let probe = Bandwidth { cpus, vectors, last_level_bytes, held_bytes, can_pin };
        let buffer_bytes = buffer_mib << 20;
        let found = Found { buffer_bytes, last_level_bytes, ..Found::default() };
        let mut reading = Reading { found, cells, chased_bytes: 0 };
        if latency.get() {
            reading.found.loaded_latency.push(LATENCY_OF_ONE);
            reading.chased_bytes = 16 << 20;
        }
        let probed = probe.judged(reading, Vec::new());
        if let Some(reading) = probed.value() {
            assert_eq!(reading.found.is_from_caches, why.contains("come from caches"));
            assert!(reading.found.loaded_latency.is_empty(), "its pointers lie in caches");
        }
        let reasons = match &probed {
            Probed::Degraded { reasons, .. } => reasons.join("; "),
            Probed::Inconclusive { why } => why.clone(),
            _ => String::new(),
        };
        assert_eq!(probed.state(), state, "{reasons}");
        assert!(reasons.contains(why), "{reasons}");
    };
    fn good() -> CellReading {
        cell(vec![None, Some(30e9)])
    }
    check(true, vec![good()], 256, "measured", "");
    check(true, vec![good(), cell(vec![None])], 256, "degraded", "of 1 of 2 curve points");
    check(false, vec![good()], 256, "degraded", "pinned");
    check(true, vec![good()], 32, "measured", "");
    check(
        true,
        vec![good()],
        8,
        "degraded",
        "16 MiB that caches hold: these rates come from caches",
    );
    is_held_known.set(false);
    let expected = "260 MiB that caches are said to hold: these rates come from caches";
    check(true, vec![good()], 256, "degraded", expected);
    is_held_known.set(true);
    // The pointers of a latency lie in as much as the caches hold.
    latency.set(true);
    check(true, vec![good()], 256, "degraded", "pointers over 16 MiB");
    latency.set(false);
    check(true, vec![cell(vec![])], 256, "inconclusive", "no window");
    check(true, vec![cell(vec![Some(1e12)])], 256, "inconclusive", "1000 GB/s is more");
}

#[test]
fn what_is_not_known_of_nodes_is_said() {
    let (cpus, vectors) = (vec![0], Vectors::widest());
    let held_bytes = Some(16 << 20);
    let probe = Bandwidth { cpus, vectors, last_level_bytes: None, held_bytes, can_pin: true };
    let (cells, buffer_bytes) = (vec![cell(vec![Some(30e9)])], 64 << 20);
    let found = Found { buffer_bytes, ..Found::default() };
    let reading = Reading { found, cells, chased_bytes: 0 };
    match probe.judged(reading, vec!["mbind".to_owned()]) {
        Probed::Degraded { reasons, .. } => assert_eq!(reasons, ["mbind"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_round_is_the_median_of_enough_windows() {
    fn windows(kept: &[f64]) -> Windows {
        Windows { kept: kept.iter().map(|bytes| vec![*bytes, 2.0 * bytes]).collect(), seen: 9 }
    }
    let cell = Cell { traffic: Traffic::Read, is_pinned: true, threads: 2 };
    let mut open = Open::of(cell);
    open.add(&windows(&[1e6, 2e6, 3e6]));
    // Three windows are lent to the second round.
    open.add(&windows(&[9e6, 4e6]));
    open.add(&windows(&[7e6]));
    assert_eq!(open.reading.rounds, [None, Some(18e9), None]);
    assert_eq!((open.reading.windows, open.reading.windows_kept), (27, 6));
    assert_eq!(open.done().bytes_per_s, None, "of six windows");
    let mut open = Open::of(cell);
    open.add(&windows(&[[2e6; 15].as_slice(), &[9e6]].concat()));
    assert_eq!(open.done().bytes_per_s, Some(54e9));
    assert_eq!(Open::of(cell).done().bytes_per_s, None);
}

#[test]
fn a_plan_has_as_many_counts_as_there_is_time_for() {
    fn check(cpus: usize, ms: u64, expected: &[usize]) {
        let (cells, length) = plan(cpus, Duration::from_millis(ms));
        let of_touch = cells.iter().take_while(|cell| cell.traffic == Traffic::Touch);
        let counts: Vec<usize> = of_touch.map(|cell| cell.threads).collect();
        assert_eq!(counts, expected, "{cpus} {ms}");
        assert_eq!(cells.len(), CURVES * expected.len());
        assert!((LENGTH.0..=LENGTH.1).contains(&length));
    }
    check(1, 3000, &[1]);
    check(2, 3000, &[1, 2]);
    check(5, 30_000, &[1, 2, 3, 4, 5]);
    check(20, 30_000, &[1, 2, 3, 4, 6, 8, 12, 16, 20]);
    check(96, 1500, &[1, 2, 4, 8, 16, 32, 64, 96]);
    check(96, 500, &[1, 48, 96]);
    check(1, 1, &[1]);
    let thorough = plan(2, Duration::from_secs(9)).1;
    assert!(thorough > plan(2, Duration::from_secs(3)).1);
}

const MIB: usize = 1 << 20;
const MEMORY: (&str, &str) = ("proc/meminfo", "MemTotal: 1 kB\nMemAvailable:   16777216 kB\n");

#[test]
fn buffers_are_large_and_leave_most_of_the_memory() {
    fn check(files: &[(&str, &str)], cache_mib: u64, threads: usize, mib: usize) {
        let (_folder, tree) = made_up::tree(files);
        let bytes = buffer_bytes(&tree, cache_mib << 20, threads);
        assert_eq!(bytes, mib * MIB, "{files:?} {threads}");
    }
    check(&[], 0, 2, 256);
    check(&[MEMORY], 32, 2, 256);
    check(&[MEMORY], 96, 2, 384);
    check(&[MEMORY], 96, 64, 64);
    check(&[MEMORY], 96, 100_000, 4);
    let version_2 = [
        MEMORY,
        ("proc/self/cgroup", "0::/box/job\n"),
        ("proc/self/mountinfo", "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"),
        ("sys/fs/cgroup/box/memory.max", "536870912\n"),
        ("sys/fs/cgroup/box/job/memory.max", "max\n"),
        ("sys/fs/cgroup/box/memory.current", "402653184\n"),
    ];
    check(&version_2[..5], 0, 2, 64);
    check(&version_2, 0, 2, 16);
    let version_1 = [
        MEMORY,
        ("proc/self/cgroup", "5:cpu:/\n4:memory:/far/away\n0::/\n"),
        ("proc/self/mountinfo", "31 1 0:27 / /sys/fs/cgroup/memory rw - cgroup none rw,memory"),
        ("sys/fs/cgroup/memory/memory.limit_in_bytes", "1073741824\n"),
    ];
    check(&version_1, 0, 1, 256);
    check(&version_1, 0, 4, 64);
}

#[test]
fn nodes_are_read_or_absent() {
    let (_folder, tree) = made_up::tree(&[
        ("sys/devices/system/node/has_memory", "0,2\n"),
        ("sys/devices/system/node/node0/cpulist", "0-3"),
        ("sys/devices/system/node/node2/cpulist", "8-11"),
        ("sys/devices/system/node/node2/meminfo", "Node 2 MemTotal: 9 kB\nNode 2 MemFree: 3 kB"),
        ("proc/self/smaps_rollup", "Rss: 5 kB\nAnonHugePages:    2048 kB\n"),
    ]);
    assert_eq!(nodes(&tree, &[1, 2, 8]), Some(vec![(0, vec![1, 2]), (2, vec![8])]));
    assert_eq!(large_pages_bytes(&tree), Some(2 << 20));
    assert_eq!([2, 0].map(|node| nodes::free_bytes(&tree, node)), [Some(3072), None]);
    let (_folder, empty) = made_up::tree(&[]);
    assert_eq!(nodes(&empty, &[0]), None);
    assert_eq!(large_pages_bytes(&empty), None);
}
