use super::*;
use std::sync::atomic::AtomicBool;
use tiebreak_machine::tree::made_up;

fn measured(length: Duration, is_stopped: bool) -> (Probed<Reading>, Duration) {
    let flag = AtomicBool::new(is_stopped);
    let mut progress = |_| ();
    let mut budget = Budget::new(length, &flag, &mut progress);
    let begin = Instant::now();
    let found = Timers::new(&tiebreak_machine::cpus::allowed()).unwrap().measure(&mut budget);
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
