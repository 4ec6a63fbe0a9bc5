//! The probe on a made-up meter, which a thread moves.

use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_machine::cpus;
use tiebreak_machine::tree::{Tree, made_up};

const ZONE: &str = "sys/class/powercap/intel-rapl:0";

fn made_up_probe() -> (tempfile::TempDir, Tree, Probe) {
    let (folder, tree) = made_up::tree(&[
        (&format!("{ZONE}/name"), "package-0\n"),
        (&format!("{ZONE}/energy_uj"), "1000000000\n"),
        (&format!("{ZONE}/max_energy_range_uj"), "262143328850\n"),
        (&format!("{ZONE}:0/name"), "dram\n"),
        (&format!("{ZONE}:0/energy_uj"), "7\n"),
        (&format!("{ZONE}:0/max_energy_range_uj"), "65712999613\n"),
    ]);
    let meter = meters::Energy::find(&tree, |_| Ok(())).unwrap();
    (folder, tree, Probe { meter, cpus: cpus::allowed() })
}

/// Measures while a thread moves the meter about every millisecond, at some 20 W.
fn measure_moving(length: Duration, flag: &AtomicBool) -> Probed<Reading> {
    let (_folder, tree, probe) = made_up_probe();
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            use std::os::unix::fs::FileExt;
            let path = tree.path(&format!("{ZONE}/energy_uj"));
            let file = std::fs::File::options().write(true).open(path).unwrap();
            let begin = Instant::now();
            while !done.load(Ordering::Relaxed) {
                let energy_uj = 1_000_000_000 + begin.elapsed().as_micros() as u64 * 20;
                file.write_all_at(energy_uj.to_string().as_bytes(), 0).unwrap();
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        let mut shares = Vec::new();
        let mut progress = |share| shares.push(share);
        let found = probe.measure(&mut Budget::new(length, flag, &mut progress));
        done.store(true, Ordering::Relaxed);
        found
    })
}

#[test]
fn a_meter_that_moves_is_read_idle_and_under_each_load() {
    let flag = AtomicBool::new(false);
    let begin = Instant::now();
    let found = measure_moving(Duration::from_millis(1500), &flag);
    assert!(begin.elapsed() < Duration::from_secs(20));
    let reading = found.value().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!((reading.source, reading.headline), ("powercap", 1));
    let names: Vec<_> = reading.parts.iter().map(ToString::to_string).collect();
    assert_eq!(names, ["package (package-0)", "memory (package-0 dram)"]);
    assert!(reading.period_ns > 0 && reading.idle_before.whole_nj > 0);
    assert!(!reading.loads.is_empty() && reading.loads.len() <= 4);
    assert_eq!(reading.loads[0].cpus, 1);
    for load in &reading.loads {
        assert!(load.values > 0 && load.run_ns > 0 && load.span.elapsed_ns > 0);
        assert_eq!(load.span.parts_nj, [Some(load.span.whole_nj), Some(0)]);
    }
    assert!(reading.idle_after.is_some());
}

#[test]
fn a_meter_that_stands_still_tells_nothing() {
    let (_folder, _tree, probe) = made_up_probe();
    let flag = AtomicBool::new(false);
    let mut progress = drop::<f64>;
    let budget = &mut Budget::new(Duration::from_millis(50), &flag, &mut progress);
    let Probed::Inconclusive { why } = probe.measure(budget) else { panic!("it never moved") };
    assert!(why.starts_with("the meter (powercap) hardly moved in"), "{why}");
}

#[test]
fn a_user_who_stops_it_gets_what_there_is() {
    let flag = AtomicBool::new(true);
    let found = measure_moving(Duration::from_secs(3600), &flag);
    assert_eq!(found, Probed::inconclusive("stopped before anything was measured"));
    flag.store(false, Ordering::Relaxed);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(300));
            flag.store(true, Ordering::Relaxed);
        });
        let begin = Instant::now();
        let found = measure_moving(Duration::from_secs(3600), &flag);
        assert!(begin.elapsed() < Duration::from_secs(60), "{found:?}");
        assert!(!found.is_measured(), "{found:?}");
    });
}

#[test]
fn a_machine_with_or_without_a_meter_does_not_wait_beyond_the_budget() {
    match Probe::new(&cpus::allowed()) {
        Err(reason) => assert_eq!((reason.what, reason.tried.len()), ("energy", 4)),
        Ok(probe) => {
            let flag = AtomicBool::new(false);
            let mut progress = drop::<f64>;
            let length = Duration::from_millis(300);
            let found = probe.measure(&mut Budget::new(length, &flag, &mut progress));
            assert_ne!(found.state(), "unavailable");
        }
    }
}

#[test]
fn sums_are_right() {
    let values: Vec<u64> = (1..=1000).collect();
    assert_eq!(vector().1(&values), 500_500);
    assert_eq!(plain(&values), 500_500);
    assert_eq!(integer(&[1, 2, 4]), 12);
}

#[test]
fn a_load_runs_on_its_cpus_and_is_read_at_both_ends() {
    let (_folder, _tree, probe) = made_up_probe();
    let (flag, count) = (AtomicBool::new(false), probe.cpus.len());
    let mut progress = drop::<f64>;
    let budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
    for kernel in [("integer", integer as fn(&[u64]) -> u64), vector()] {
        let load = probe.load(kernel, count, Duration::from_millis(2), &budget).unwrap().unwrap();
        assert!(load.span.elapsed_ns >= 2_000_000);
        assert!(load.values >= SUMS * VALUES as u64 && load.run_ns > 0, "{load:?}");
    }
    flag.store(true, Ordering::Relaxed);
    let stopped = probe.load(vector(), count, Duration::from_secs(3600), &budget).unwrap();
    assert_eq!(stopped, None);
}
