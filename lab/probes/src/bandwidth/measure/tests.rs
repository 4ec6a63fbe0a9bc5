//! The probe on this machine, whatever it is, and what is made of what it saw.

use super::*;
use crate::Tried;
use crate::finding::tests::options;
use std::sync::atomic::AtomicBool;
use tiebreak_machine::cpus;
use tiebreak_machine::tree::made_up;

fn measured(cpus: Vec<usize>, length: Duration, interrupted: bool) -> Probed<Bandwidth> {
    let flag = AtomicBool::new(interrupted);
    let mut progress = drop::<f64>;
    probe(&options(cpus), &mut Budget::new(length, &flag, &mut progress))
}

#[test]
fn a_short_look_gives_a_reading_or_says_why_not() {
    let probed = measured(cpus::allowed(), Duration::from_millis(700), false);
    match probed {
        Probed::Measured { value } | Probed::Degraded { value, .. } => {
            assert!(!value.curves.is_empty() && value.buffer_bytes > 0);
            for point in value.curves.iter().flat_map(|curve| &curve.points) {
                assert!(point.windows_kept <= point.windows, "{point:?}");
                assert!((1..=value.cpus.len()).contains(&(point.threads as usize)));
                assert!(point.low_bytes_per_s > 0.0);
            }
        }
        Probed::Inconclusive { why } => assert!(!why.is_empty()),
        Probed::Unavailable { tried, .. } => panic!("{tried:?}"),
    }
}

#[test]
fn an_interrupt_ends_it_at_once_and_no_cpu_is_not_available() {
    let stopped = measured(cpus::allowed(), Duration::from_secs(600), true);
    assert_eq!(stopped.state(), "inconclusive");
    let none = measured(Vec::new(), Duration::from_secs(600), true);
    let tried = vec![Tried { way: "sched_getaffinity".into(), error: "no CPU".into() }];
    assert_eq!(none, Probed::Unavailable { what: "bandwidth".into(), tried });
}

/// A cell whose windows have these rates, 16 a round; none in a round of 0.
fn cell(traffic: Traffic, threads: usize, rounds: &[u64]) -> Cell {
    let mut cell = Cell::new(traffic, threads);
    for rate in rounds {
        let kept = vec![vec![*rate as f64 / 2000.0]; if *rate > 0 { 16 } else { 0 }];
        cell.add(&Windows { kept, seen: 30 });
    }
    cell
}

fn reads(rounds: &[u64]) -> Cell {
    cell(Traffic::Read, 1, rounds)
}

#[test]
fn what_speaks_against_a_reading_is_said() {
    // A guest with advertised caches of 260 MiB, of which it gets 16.
    let found = Bandwidth {
        cpus: vec![0],
        last_level_bytes: Some(260 << 20),
        held_bytes: Some(16 << 20),
        buffer_bytes: 256 << 20,
        ..Bandwidth::default()
    };
    let check = |cells: Vec<Cell>, found: &Bandwidth, state: &str, why: &str| {
        let probed = judged(found.clone(), &cells, Vec::new());
        if let Some(found) = probed.value() {
            assert_eq!(found.is_from_caches, why.contains("come from caches"));
        }
        let reasons = match &probed {
            Probed::Degraded { reasons, .. } => reasons.join("; "),
            Probed::Inconclusive { why } => why.clone(),
            _ => String::new(),
        };
        assert_eq!(probed.state(), state, "{reasons}");
        assert!(reasons.contains(why), "{reasons}");
    };
    let good = || vec![reads(&[0, 30_000_000_000])];
    check(good(), &found, "measured", "");
    check(vec![good().remove(0), reads(&[0])], &found, "degraded", "of 1 of 2 curve points");
    let of = |mib: u64| Bandwidth { buffer_bytes: mib << 20, ..found.clone() };
    check(good(), &of(32), "measured", "");
    let expected = "16 MiB that caches hold: these rates come from caches";
    check(good(), &of(8), "degraded", expected);
    let not_held = Bandwidth { held_bytes: None, ..found.clone() };
    let expected = "260 MiB that caches are said to hold: these rates come from caches";
    check(good(), &not_held, "degraded", expected);
    check(vec![reads(&[])], &found, "inconclusive", "no window");
    check(vec![reads(&[1_000_000_000_000])], &found, "inconclusive", "1000 GB/s is more");
}

#[test]
fn what_is_not_known_of_nodes_is_said() {
    let (cells, cpus) = (vec![reads(&[30_000_000_000])], vec![0]);
    let (held_bytes, buffer_bytes) = (Some(16 << 20), 64 << 20);
    let found = Bandwidth { cpus, held_bytes, buffer_bytes, ..Bandwidth::default() };
    match judged(found, &cells, vec!["mbind".to_owned()]) {
        Probed::Degraded { reasons, .. } => assert_eq!(reasons, ["mbind"]),
        other => panic!("{other:?}"),
    }
}

#[test]
fn several_threads_of_a_guest_are_in_doubt() {
    fn check(is_guest: bool, cpus: usize, seconds: u64, expected: bool) {
        assert_eq!(placed(is_guest, cpus, Duration::from_secs(seconds)).is_some(), expected);
    }
    check(true, 2, 15, true);
    check(true, 2, 30, false);
    check(true, 1, 15, false);
    check(false, 64, 15, false);
}

#[test]
fn curves_hold_the_best_the_rounds_and_a_knee() {
    let cells = [
        cell(Traffic::Touch, 1, &[0]),
        cell(Traffic::Read, 1, &[10_000, 12_000, 11_000]),
        cell(Traffic::Read, 2, &[20_000, 22_000, 11_000]),
        cell(Traffic::Copy, 1, &[9000, 0, 11_000]),
    ];
    let curves = curves_of(&cells);
    let kinds: Vec<_> = curves.iter().map(|curve| curve.traffic).collect();
    assert_eq!(kinds, [Traffic::Read, Traffic::Copy]);
    let [one, two] = &curves[0].points[..] else { panic!("{curves:?}") };
    assert_eq!((one.threads, one.bytes_per_s, one.rounds), (1, 12_000.0, 3));
    assert_eq!(one.parts_bytes_per_s, [10_000.0, 12_000.0, 11_000.0]);
    assert_eq!((two.low_bytes_per_s, two.high_bytes_per_s), (11_000.0, 22_000.0));
    let knee = curves[0].knee.as_ref().unwrap();
    assert_eq!((knee.threads, knee.low_threads, knee.high_threads), (2, 1, 2));
    assert_eq!(knee.agreeing_share, 2.0 / 3.0);
    assert_eq!((curves[1].points[0].bytes_per_s, curves[1].points[0].rounds), (11_000.0, 2));
}

#[test]
fn a_point_is_of_enough_windows() {
    fn windows(kept: &[f64]) -> Windows {
        Windows { kept: kept.iter().map(|bytes| vec![*bytes, 2.0 * bytes]).collect(), seen: 9 }
    }
    let mut cell = Cell::new(Traffic::Read, 2);
    assert_eq!(cell.point(), None);
    cell.add(&windows(&[1e6, 2e6, 3e6]));
    cell.add(&windows(&[9e6, 4e6, 7e6]));
    assert_eq!((cell.windows, cell.rates.len()), (18, 6));
    assert_eq!(cell.point(), None, "of six windows");
    let mut cell = Cell::new(Traffic::Read, 2);
    cell.add(&windows(&[[2e6; 15].as_slice(), &[9e6]].concat()));
    assert_eq!(cell.point().unwrap().bytes_per_s, 54e9);
    cell.add(&windows(&[2e6; 15]));
    assert_eq!(cell.point().unwrap().parts_bytes_per_s, [54e9], "a rest is no part");
}

#[test]
fn a_plan_has_as_many_counts_as_there_is_time_for() {
    fn check(cpus: usize, ms: u64, expected: &[usize]) {
        let (cells, length) = plan(cpus, Duration::from_millis(ms));
        let of_touch = cells.iter().take_while(|cell| cell.traffic == Traffic::Touch);
        let counts: Vec<usize> = of_touch.map(|cell| cell.threads).collect();
        assert_eq!(counts, expected, "{cpus} {ms}");
        assert_eq!(cells.len(), Traffic::ALL.len() * expected.len());
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
    ]);
    assert_eq!(nodes(&tree, &[1, 2, 8]), Some(vec![(0, vec![1, 2]), (2, vec![8])]));
    assert_eq!([2, 0].map(|node| nodes::free_bytes(&tree, node)), [Some(3072), None]);
    let (_folder, empty) = made_up::tree(&[]);
    assert_eq!(nodes(&empty, &[0]), None);
}
