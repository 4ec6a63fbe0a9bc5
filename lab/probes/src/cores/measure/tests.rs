use super::*;
use std::sync::atomic::{AtomicBool, Ordering};

#[test]
fn one_cpu_is_not_a_pair() {
    for cpus in [vec![], vec![3], vec![3, 3]] {
        let reason = Cores::new(&cpus).unwrap_err();
        assert_eq!((reason.what, reason.tried.len()), ("core to core latency", 1));
    }
    let reason = Cores::new(&[3]).unwrap_err().to_string();
    let text =
        "no core to core latency: the CPUs that may be used: only CPU 3, and a pair needs two";
    assert_eq!(reason, text);
}

/// Measures on two CPUs, if there are two.
fn measured(length: Duration, interrupted: bool) -> Option<(Probed<Reading>, Duration)> {
    let cpus: Vec<usize> = tiebreak_machine::cpus::allowed().into_iter().take(2).collect();
    let probe = Cores::new(&cpus).ok()?;
    let flag = AtomicBool::new(interrupted);
    let mut progress = |share: f64| assert!((0.0..=1.0).contains(&share));
    let begin = Instant::now();
    let mut budget = Budget::new(length, &flag, &mut progress);
    let probed = probe.measure(&mut budget);
    Some((probed, begin.elapsed()))
}

#[test]
fn two_cpus_pass_lines() {
    let Some((probed, _)) = measured(Duration::from_millis(1500), false) else { return };
    let Some(reading) = probed.value() else {
        assert!(matches!(probed, Probed::Inconclusive { .. }), "{probed:?}");
        return;
    };
    let found = &reading.found;
    assert_eq!((found.pairs, found.pairs_chosen), (1, 1));
    assert!(found.rounds > 0 && found.span_ns > 0);
    for seen in &reading.seen {
        assert_eq!(seen.cpus.as_slice(), found.cpus);
        assert!(seen.invalid < seen.batches);
        assert!(seen.visits.len() as u64 <= found.rounds);
        assert!(seen.visits.iter().flatten().flatten().all(|ns| *ns > LEAST_PLAUSIBLE_NS));
    }
}

#[test]
fn a_probe_that_is_stopped_ends() {
    // An hour, of which nothing is left.
    let Some((probed, took)) = measured(Duration::from_secs(3600), true) else { return };
    assert!(took < Duration::from_secs(600));
    let Probed::Inconclusive { why } = probed else { panic!("{probed:?}") };
    assert_eq!(why, "stopped in round 0 of 60, when 0 of 1 pairs had been visited");
}

#[test]
fn a_budget_of_nothing_says_so() {
    let Some((probed, _)) = measured(Duration::ZERO, false) else { return };
    let Probed::Inconclusive { why } = probed else { panic!("{probed:?}") };
    assert_eq!(why, "there was no time for 1 of 1 pairs");
}

#[test]
fn an_interrupt_is_seen_while_waiting() {
    let Ok(probe) = Cores::new(&tiebreak_machine::cpus::allowed()) else { return };
    let flag = AtomicBool::new(false);
    let mut told = 0;
    let mut progress = |_| {
        told += 1;
        flag.store(told > 3, Ordering::Relaxed);
    };
    let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
    let probed = probe.measure(&mut budget);
    assert!(!probed.is_measured(), "{probed:?}");
}

fn timed(latency_ns: f64, batches: u64, invalid: u64) -> Observation {
    Observation { latency_ns: Some(latency_ns), batches, invalid }
}

#[test]
fn what_is_not_enough_is_left_out_and_said() {
    let plan = Plan::of(&[0, 1, 2], &[], Duration::from_secs(4));
    let check =
        |visits: &[(usize, [Observation; 2])], interrupted: bool, seen: usize, said: &[&str]| {
            let mut tally = Tally::of(&plan);
            for (place, by) in visits {
                tally.add(*place, vec![KernelObservation { by: *by, preemptions: 1 }; 3]);
            }
            let (found, reasons) = tally.finish(&plan, 2, interrupted);
            assert_eq!(found.len(), 3 * seen, "{reasons:?}");
            assert_eq!(reasons, said);
        };
    let good = [timed(60.0, 50, 10), timed(61.0, 50, 10)];
    let (all, none) = ([(0, good), (1, good), (2, good)], [Observation::default(); 2]);
    check(&all, false, 3, &[]);
    check(&all[1..], false, 2, &["there was no time for 1 of 3 pairs"]);
    let stopped = "stopped in round 2 of 12, when 1 of 3 pairs had been visited";
    check(&all[..1], true, 1, &[stopped]);
    let few = |gaps| format!("the threads of 1 of 3 pairs hardly ran together; CPUs {gaps} a gap");
    let text = few("0 and 1, two lines: 0 of 0 batches without");
    check(&[(0, none), (1, good), (2, good)], false, 2, &[&text]);
    let gaps = [timed(60.0, 2000, 1960), timed(61.0, 2000, 1960)];
    let text = few("1 and 2, two lines: 80 of 4000 batches without");
    check(&[(0, good), (1, good), (2, gaps)], false, 2, &[&text]);
}

#[test]
fn a_pair_that_cannot_be_visited_is_named() {
    let plan = Plan::of(&[4, 7], &[], Duration::from_secs(4));
    let mut tally = Tally::of(&plan);
    for _ in 0..3 {
        tally.fail(0, &std::io::Error::other("no such CPU"));
    }
    let (seen, reasons) = tally.finish(&plan, 3, false);
    assert!(seen.is_empty());
    assert_eq!(reasons, ["1 of 1 pairs failed; CPUs 4 and 7: no such CPU"]);
}

#[test]
fn a_failed_pair_is_not_one_without_time() {
    let plan = Plan::of(&[0, 1, 2], &[], Duration::from_secs(4));
    let good = [timed(60.0, 50, 10), timed(61.0, 50, 10)];
    let check = |visited: &[usize], failed: usize, expected: &[&str]| {
        let mut tally = Tally::of(&plan);
        for place in visited {
            tally.add(*place, vec![KernelObservation { by: good, preemptions: 1 }; 3]);
        }
        tally.fail(failed, &std::io::Error::other("no such CPU"));
        let [a, b] = plan.pairs[failed];
        let failed = format!("1 of 3 pairs failed; CPUs {a} and {b}: no such CPU");
        let mut expected = expected.to_vec();
        expected.push(&failed);
        assert_eq!(tally.finish(&plan, 3, false).1, expected);
    };
    let none = "there was no time for 1 of 3 pairs";
    check(&[0], 1, &[none]);
    check(&[0, 1], 1, &[none]);
    check(&[0, 1], 2, &[]);
}
