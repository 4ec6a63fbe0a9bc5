use super::*;
use crate::finding::tests::options;
use tiebreak_machine::tree::made_up;

fn measured(length: Duration, is_stopped: bool) -> (Probed<Timers>, Duration) {
    let flag = AtomicBool::new(is_stopped);
    let mut progress = |_| ();
    let mut budget = Budget::new(length, &flag, &mut progress);
    let begin = Instant::now();
    let found = probe(&options(tiebreak_machine::cpus::allowed()), &mut budget);
    (found, begin.elapsed())
}

#[test]
fn this_machine_has_clocks() {
    let (probed, _) = measured(Duration::from_millis(600), false);
    let found = probed.value().unwrap();
    let monotonic = found.clock("MONOTONIC").unwrap();
    assert!(monotonic.cost_low_ns > 0.0 && monotonic.cost_low_ns <= monotonic.cost_ns);
    assert!(monotonic.steps.is_some_and(|steps| steps.backwards == 0));
    assert!(found.vdso.as_ref().is_some_and(|vdso| vdso.works == (vdso.ratio >= 2.0)));
    assert!(found.drifts.iter().all(|drift| drift.seconds > 0.0 && drift.uncertainty_ppm > 0.0));
    for order in &found.order {
        assert_eq!(order.hand_offs, order.pairs.iter().map(|pair| pair.count).sum::<u64>());
        assert!(order.pairs.iter().all(|pair| pair.least_ns >= order.least_ns));
    }
    assert!(!found.figures().is_empty());
}

#[test]
fn who_is_stopped_says_so_and_does_not_go_on() {
    let (probed, _) = measured(Duration::from_secs(3600), true);
    assert!(!probed.is_measured());
    let (_, took) = measured(Duration::ZERO, false);
    assert!(took < Duration::from_secs(30));
}

#[test]
fn pairs_are_all_and_near_ones_first() {
    assert_eq!(pairs(&[0, 2, 5]), [[0, 2], [2, 5], [0, 5]]);
    assert!(pairs(&[3]).is_empty() && pairs(&[]).is_empty());
}

#[test]
fn flags_say_whether_the_counter_is_steady() {
    let check = |cpuinfo: &str, flags: &[&str], invariant: Option<bool>| {
        let (_folder, tree) = made_up::tree(&[("proc/cpuinfo", cpuinfo)]);
        let found = tick_flags(&tree);
        assert_eq!(found, flags);
        if cfg!(target_arch = "x86_64") {
            assert_eq!(is_invariant(&found), invariant);
        }
    };
    let both = "model name : x\nflags\t\t: fpu constant_tsc rdtscp nonstop_tsc lm\n";
    check(both, &["constant_tsc", "rdtscp", "nonstop_tsc"], Some(true));
    check("flags : fpu rdtscp\n", &["rdtscp"], Some(false));
    check("nothing\n", &[], None);
}

#[test]
fn steps_are_counted_by_what_they_do() {
    let mut made_up = [0_u64, 0, 10, 20, 20, 15, 45].into_iter().cycle();
    let found = steps(|| made_up.next().unwrap(), 0.5, Duration::from_secs(5)).unwrap();
    assert_eq!((found.least_ns, found.median_ns, found.p99_ns), (5.0, 5.0, 15.0));
    assert!(found.equal_share > 0.2 && found.equal_share < 0.4, "{found:?}");
    assert!(found.backwards > 0);
}

#[test]
fn a_clock_that_stands_has_no_steps_and_takes_no_longer_than_it_may() {
    assert_eq!(steps(|| 7, 1.0, Duration::from_millis(2)), None);
}

#[test]
fn what_costs_more_is_seen_to() {
    let mut x = 1_u64;
    let mut work = |steps: u32| {
        for _ in 0..steps {
            x = std::hint::black_box(x.wrapping_mul(3));
        }
        x
    };
    let at_most = Duration::from_secs(2);
    let few = cost(|| work(10), at_most).unwrap();
    let many = cost(|| work(1000), at_most).unwrap();
    assert!(few.cost_low_ns <= few.cost_ns && many.cost_ns > 10.0 * few.cost_ns);
    let least = |cost: &Clock| cost.parts_ns.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(few.parts_ns.is_empty() || least(&many) > 10.0 * least(&few));
}

#[test]
fn rates_are_differences_over_differences() {
    let at = |base_ns: f64, value: u64| Sandwich { base_ns, width_ns: 100.0, value };
    let check = |later: Sandwich, expected: Option<(f64, f64)>| {
        let drift = later.drift_since(&at(1000.0, 500), "a clock");
        assert_eq!(drift.map(|drift| (drift.ppm, drift.uncertainty_ppm)), expected);
    };
    check(at(2000.0, 3000), Some((1.5e6, 1e5)));
    check(at(2000.0, 400), Some((-1.1e6, 1e5)));
    check(at(1000.0, 600), None);
}

#[test]
fn the_monotonic_clock_does_not_drift_from_itself() {
    let begin = Sandwich::take(monotonic_ns);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let drift = Sandwich::take(monotonic_ns).drift_since(&begin, "MONOTONIC").unwrap();
    assert!(drift.ppm.abs() <= drift.uncertainty_ppm, "{drift:?}");
}

#[test]
fn both_ways_read_the_same_clock() {
    for clock in KERNEL_CLOCKS {
        let first = clock.now_ns();
        let then = clock.now_by_system_call_ns();
        // An ordinary clock may be set back between two readings, but not by a minute.
        assert!(then + 60_000_000_000 >= first, "{}", clock.name);
        assert!(clock.resolution_ns().is_some_and(|step| step > 0));
    }
    let none = KernelClock { name: "none", id: 9999 };
    assert!(none.resolution_ns().is_none());
}

#[test]
fn stamps_arrive_after_they_were_made() {
    let cpus = tiebreak_machine::cpus::allowed();
    let [first, .., last] = cpus[..] else { return };
    let go_on = AtomicBool::new(false);
    let found = between([first, last], monotonic_ns, 1.0, 500_000_000, &go_on).unwrap();
    for hand_off in &found {
        assert!(hand_off.least_ns <= hand_off.median_ns && hand_off.count > 0);
        assert_ne!(hand_off.from_cpu, hand_off.to_cpu);
    }
}

#[test]
fn a_clock_that_is_apart_is_seen() {
    let cpus = tiebreak_machine::cpus::allowed();
    let [first, .., last] = cpus[..] else { return };
    // Behind by a second on the last CPU.
    let skewed = || {
        let here = tiebreak_machine::cpus::allowed() == [last];
        monotonic_ns() - u64::from(here) * 1_000_000_000
    };
    let go_on = AtomicBool::new(false);
    let found = between([first, last], skewed, 1.0, 300_000_000, &go_on).unwrap();
    let least = |from: usize| {
        found.iter().find(|hand_off| hand_off.from_cpu == from).map(|one| one.least_ns)
    };
    assert!(least(first).is_none_or(|ns| ns < 0.0), "{found:?}");
    assert!(least(last).is_none_or(|ns| ns > 0.0), "{found:?}");
}

#[test]
fn a_unit_of_a_clock_becomes_nanoseconds() {
    let cpus = tiebreak_machine::cpus::allowed();
    let [first, .., last] = cpus[..] else { return };
    // It stands at 10 on the last CPU, at 4 on the other.
    let read = || if tiebreak_machine::cpus::allowed() == [last] { 10 } else { 4 };
    let go_on = AtomicBool::new(false);
    let found = between([first, last], read, 0.5, 300_000_000, &go_on).unwrap();
    for found in &found {
        let expected = if found.from_cpu == first { 3.0 } else { -3.0 };
        assert_eq!([found.least_ns, found.median_ns], [expected; 2], "{found:?}");
    }
}

#[test]
fn the_counter_of_ticks_is_a_clock_and_is_handed_over() {
    if !ticks::is_there() {
        return;
    }
    let flag = AtomicBool::new(false);
    let mut progress = |_| ();
    let mut budget = Budget::new(Duration::from_secs(60), &flag, &mut progress);
    let found = clocks(&[], Some(0.5), &mut budget).into_iter().map(|clock| clock.name);
    let waiting = ticks::waiting().map(|_| "rdtscp");
    assert!(found.eq([ticks::INSTRUCTION].into_iter().chain(waiting)));
    // A slow machine gets more time.
    let handed = |length| {
        let (probed, _) = measured(Duration::from_millis(length), false);
        let found = probed.value().map(|found| found.order.iter().map(|order| &order.clock[..]));
        found.is_some_and(|clocks| clocks.eq(["MONOTONIC", ticks::NAME]))
    };
    let is_alone = tiebreak_machine::cpus::allowed().len() == 1;
    assert!(is_alone || [300, 3000, 30_000].into_iter().any(handed));
}

#[test]
fn nobody_waits_for_longer_than_it_may() {
    let cpu = tiebreak_machine::cpus::allowed()[0];
    let stop = AtomicBool::new(true);
    // Both on one CPU: nearly nothing arrives, and the flag ends it.
    let found = between([cpu, cpu], monotonic_ns, 1.0, u64::MAX / 4, &stop).unwrap();
    assert!(found.len() <= 2);
}
