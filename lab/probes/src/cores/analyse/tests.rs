use super::*;

/// Four CPUs: 0 and 2 share a core, 1 and 3 do.
fn nanoseconds(cpus: [usize; 2]) -> f64 {
    if cpus[0] % 2 == cpus[1] % 2 { 10.0 } else { 60.0 }
}

fn seen(kernel: Kernel, cpus: [usize; 2], visits: Vec<[Option<f64>; 2]>) -> PairObservation {
    let side = |latency_ns| Observation { latency_ns, batches: 30, invalid: 1, preemptions: 2 };
    PairObservation { kernel, cpus, visits: visits.into_iter().map(|it| it.map(side)).collect() }
}

fn reading(seen: Vec<PairObservation>) -> Reading {
    fn set(shares: Shared, cpus: &[usize]) -> Advertised {
        Advertised { shares, cpus: cpus.to_vec() }
    }
    let mut advertised = vec![
        set(Shared::Core, &[0, 2]),
        set(Shared::Core, &[1, 3]),
        set(Shared::L3, &[0, 1, 2, 3]),
        set(Shared::Socket, &[0, 1, 2, 3]),
    ];
    advertised.sort();
    let span_ns = 31_000_000_000;
    let cpus = vec![0, 1, 2, 3];
    let found = Cores { cpus, rounds: 20, span_ns, pairs: 6, pairs_chosen: 6, ..Cores::default() };
    Reading { found, advertised, seen }
}

fn all_pairs(visits: impl Fn([usize; 2]) -> Vec<[Option<f64>; 2]>) -> Vec<PairObservation> {
    let pairs = (0..4).flat_map(|a| (a + 1..4).map(move |b| [a, b]));
    pairs.map(|cpus| seen(Kernel::TwoLines, cpus, visits(cpus))).collect()
}

#[test]
fn groups_lie_together_and_have_names() {
    fn visits(cpus: [usize; 2]) -> Vec<[Option<f64>; 2]> {
        vec![[Some(nanoseconds(cpus)); 2]; 20]
    }
    let mut reasons = Vec::new();
    let cores = found(reading(all_pairs(visits)), &mut reasons);
    assert!(reasons.is_empty() && !cores.is_short_look);
    assert_eq!(cores.cpus, [0, 2, 1, 3]);
    let headline = cores.headline().unwrap();
    assert_eq!((headline.nearest_ns, headline.farthest_ns), (10.0, 60.0));
    fn group(cpus: &[usize], shares: Shared) -> Group {
        Group { cpus: cpus.to_vec(), shares: Some(shares) }
    }
    let [fine, coarse] = cores.levels.as_slice() else { panic!("{:?}", cores.levels) };
    assert_eq!(fine.groups, [group(&[0, 2], Shared::Core), group(&[1, 3], Shared::Core)]);
    assert_eq!((fine.within_ns, fine.agreement), (10.0, Some(1.0)));
    assert_eq!(coarse.groups, [group(&[0, 1, 2, 3], Shared::L3)]);
    assert_eq!((coarse.within_ns, coarse.agreement), (60.0, None));
}

#[test]
fn groups_that_the_machine_does_not_name_have_no_name() {
    fn near(cpus: [usize; 2]) -> f64 {
        if cpus[0] / 2 == cpus[1] / 2 { 10.0 } else { 60.0 }
    }
    fn visits(cpus: [usize; 2]) -> Vec<[Option<f64>; 2]> {
        vec![[Some(near(cpus)); 2]; 20]
    }
    let cores = found(reading(all_pairs(visits)), &mut Vec::new());
    assert_eq!(cores.cpus, [0, 1, 2, 3]);
    let fine = &cores.levels[0];
    assert_eq!(fine.agreement, Some(-0.5));
    assert!(fine.groups.iter().all(|group| group.shares.is_none()));
}

#[test]
fn a_moved_cpu_makes_a_second_mode() {
    let mut visits = vec![[Some(59.0), Some(61.0)]; 15];
    visits.extend([[Some(270.0), Some(280.0)]; 4]);
    visits.extend([[None, Some(900.0)], [None, None]]);
    let found = pair(&seen(Kernel::TwoLines, [0, 1], visits)).unwrap();
    assert_eq!((found.latency_ns, found.strays), (60.0, 1));
    assert_eq!(found.timed_by_ns, [Some(59.0), Some(61.0)]);
    let modes: Vec<_> = found.modes.iter().map(|mode| (mode.latency_ns, mode.share)).collect();
    assert_eq!(modes, [(60.0, 0.75), (275.0, 0.2)]);
    assert_eq!(pair(&seen(Kernel::TwoLines, [0, 1], vec![[None; 2]; 5])), None);
}

#[test]
fn directions_that_differ_are_a_reason() {
    fn check(second_ns: f64, rounds: usize, expected: &[&str]) {
        let visits = |cpus: [usize; 2]| match cpus {
            [1, 2] => vec![[Some(60.0), Some(second_ns)]; rounds],
            _ => vec![[Some(60.0); 2]; rounds],
        };
        let mut reasons = Vec::new();
        found(reading(all_pairs(visits)), &mut reasons);
        assert_eq!(reasons, expected);
    }
    check(68.0, 20, &[]);
    check(75.0, 2, &[]);
    let text = "1 of 6 pairs differ by more than 15% between their two directions; CPUs 1 and 2: \
                60 ns and 75 ns";
    check(75.0, 20, &[text]);
}

#[test]
fn a_way_of_passing_that_was_not_seen_is_absent() {
    let mut all = all_pairs(|cpus| vec![[Some(nanoseconds(cpus)); 2]; 20]);
    all.retain(|seen| seen.cpus != [1, 3]);
    all.push(seen(Kernel::CompareExchange, [0, 1], vec![[Some(24.0); 2]; 20]));
    let cores = found(reading(all), &mut Vec::new());
    let kernels: Vec<_> = cores.kernels.iter().map(|found| found.kernel).collect();
    assert_eq!(kernels, [Kernel::TwoLines, Kernel::CompareExchange]);
    // What is not known of 1 and 3 is not made up.
    assert_eq!(cores.levels[0].groups.len(), 3);
}
