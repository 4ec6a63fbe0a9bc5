//! The probe on a made-up meter, which a thread moves.

use super::*;
use crate::finding::tests::options;
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
fn measure_moving(length: Duration, flag: &AtomicBool) -> Probed<Energy> {
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
    let found = found.value().unwrap_or_else(|| panic!("{found:?}"));
    assert_eq!(found.source, "powercap");
    let parts: Vec<_> = found.parts.iter().map(|one| (&one.name[..], one.is_counted)).collect();
    assert_eq!(parts, [("package (package-0)", true), ("memory (package-0 dram)", false)]);
    assert!(found.period_ns > 0 && found.idle_before_watts > 0.0);
    assert!(!found.loads.is_empty() && found.loads.len() <= 4);
    assert_eq!(found.loads[0].cpus, 1);
    assert!(found.loads.iter().all(|load| load.ran_share > 0.0 && load.elapsed_ns > 0));
    let last = found.loads.last().map(|load| load.watts);
    let watts: Vec<_> = found.parts.iter().map(|one| (one.idle_watts, one.busy_watts)).collect();
    assert_eq!(watts, [(Some(found.idle_before_watts), last), (Some(0.0), Some(0.0))]);
    assert!(found.idle_after_watts.is_some());
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
fn a_machine_without_a_meter_says_what_was_tried_and_a_meter_is_read() {
    let flag = AtomicBool::new(false);
    let mut progress = drop::<f64>;
    let budget = &mut Budget::new(Duration::from_millis(300), &flag, &mut progress);
    match probe(&options(cpus::allowed()), budget) {
        Probed::Unavailable { what, tried } => {
            assert_eq!((&what[..], tried.len()), ("energy", 4));
        }
        Probed::Inconclusive { why } => assert!(why.starts_with("the meter ("), "{why}"),
        Probed::Measured { value } | Probed::Degraded { value, .. } => {
            assert!(value.parts.iter().any(|part| part.is_counted), "{value:?}");
            assert!(value.period_ns > 0 && !value.source.is_empty(), "{value:?}");
            assert!(value.loads.iter().all(|load| load.elapsed_ns > 0), "{value:?}");
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

fn loads() -> Vec<Load> {
    fn load(cpus: usize, watts: f64, run_ms: u64) -> Load {
        let span = Span { elapsed_ns: 1_000_000_000, watts, part_watts: Vec::new() };
        Load { name: "integer", cpus, span, values: 2_000_000_000, run_ns: run_ms * 1_000_000 }
    }
    vec![load(1, 20.0, 995), load(4, 51.0, 3990)]
}

#[test]
fn idle_is_subtracted_from_each_load() {
    let mut reasons = Vec::new();
    let found = finding(10.0, Some(11.0), &loads(), &mut reasons);
    assert_eq!(reasons, Vec::<String>::new());
    let idle = [found.idle_before_watts, found.idle_watts, found.idle_after_watts.unwrap()];
    assert_eq!(idle, [10.0, 10.5, 11.0]);
    let [one, all] = found.loads.as_slice() else { panic!("{found:?}") };
    assert_eq!((one.watts, one.above_idle_watts, one.joules), (20.0, 9.5, 20.0));
    assert_eq!((all.watts, all.above_idle_watts), (51.0, 40.5));
    assert_eq!((one.value_nj, one.ran_share), (Some(4.75), 0.995));
}

#[test]
fn what_speaks_against_a_reading_is_said() {
    fn check(after: Option<f64>, change: fn(&mut Vec<Load>), expected: &str) -> Energy {
        let (mut loads, mut reasons) = (loads(), Vec::new());
        change(&mut loads);
        let found = finding(10.0, after, &loads, &mut reasons);
        assert_eq!(reasons.join("; "), expected);
        found
    }
    let others = "idle, the machine took 10.0 W before the loads and 16.0 W after them: others \
                  were at work";
    check(Some(16.0), |_| {}, others);
    let slow = "the integer load on 4 of the CPUs ran for 50% of the time";
    check(Some(11.0), |loads| loads[1].run_ns /= 2, slow);
    let lost = "the integer load on 1 of the CPUs is lost in what others take";
    let found = check(Some(11.0), |loads| loads[0].span.watts = 9.0, lost);
    assert_eq!((found.loads[0].above_idle_watts, found.loads[0].value_nj), (-1.5, None));
    let found = check(None, |_| {}, "");
    assert_eq!((found.idle_watts, found.idle_after_watts), (10.0, None));
}
