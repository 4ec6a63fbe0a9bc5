//! The probe on this machine, whatever it is, and what is made of what it saw.

use super::*;
use std::sync::atomic::AtomicBool;
use tiebreak_machine::cpus;

fn measured(length: Duration, interrupted: bool) -> Probed<Reading> {
    let flag = AtomicBool::new(interrupted);
    let mut progress = |_| ();
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
        // A guest that is said to have 260 MiB, of which it gets 16.
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
        let said = match &probed {
            Probed::Degraded { reasons, .. } => reasons.join("; "),
            Probed::Inconclusive { why } => why.clone(),
            _ => String::new(),
        };
        assert_eq!(probed.state(), state, "{said}");
        assert!(said.contains(why), "{said}");
    };
    let good = || cell(vec![None, Some(30e9)]);
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
    let said = "260 MiB that caches are said to hold: these rates come from caches";
    check(true, vec![good()], 256, "degraded", said);
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
    let windows = |kept: &[f64]| Windows {
        kept: kept.iter().map(|bytes| vec![*bytes, 2.0 * bytes]).collect(),
        seen: 9,
    };
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
