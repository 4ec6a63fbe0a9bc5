use super::*;
use std::sync::atomic::{AtomicBool, Ordering};
use tiebreak_machine::cpus::format_cpus;
use tiebreak_machine::tree::made_up::tree;

#[test]
fn one_cpu_is_not_a_pair() {
    for cpus in [vec![], vec![3], vec![3, 3]] {
        let reason = several(&cpus).unwrap_err();
        assert_eq!((reason.what, reason.tried.len()), ("core to core latency", 1));
    }
    let reason = several(&[3]).unwrap_err().to_string();
    let text =
        "no core to core latency: the CPUs that may be used: only CPU 3, and a pair needs two";
    assert_eq!(reason, text);
}

/// Measures on two CPUs, if there are two.
fn measured(length: Duration, interrupted: bool) -> Option<(Probed<Reading>, Duration)> {
    let cpus: Vec<usize> = tiebreak_machine::cpus::allowed().into_iter().take(2).collect();
    let cpus = several(&cpus).ok()?;
    let flag = AtomicBool::new(interrupted);
    let mut progress = |share: f64| assert!((0.0..=1.0).contains(&share));
    let begin = Instant::now();
    let mut budget = Budget::new(length, &flag, &mut progress);
    let probed = measure(cpus, &mut budget);
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
        assert!(seen.sum(|side| side.invalid) < seen.sum(|side| side.batches));
        assert!(seen.visits.len() as u64 <= found.rounds);
        let mut times = seen.visits.iter().flatten().filter_map(|side| side.latency_ns);
        assert!(times.all(|ns| ns > LEAST_PLAUSIBLE_NS));
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
    let Ok(cpus) = several(&tiebreak_machine::cpus::allowed()) else { return };
    let flag = AtomicBool::new(false);
    let mut calls = 0;
    let mut progress = |_| {
        calls += 1;
        flag.store(calls > 3, Ordering::Relaxed);
    };
    let mut budget = Budget::new(Duration::from_secs(3600), &flag, &mut progress);
    let probed = measure(cpus, &mut budget);
    assert!(!probed.is_measured(), "{probed:?}");
}

fn timed(latency_ns: f64, batches: u64, invalid: u64) -> Observation {
    Observation { latency_ns: Some(latency_ns), batches, invalid, preemptions: 1 }
}

#[test]
fn what_is_not_enough_is_left_out_and_said() {
    let plan = Plan::of(&[0, 1, 2], &[], Duration::from_secs(4));
    let check = |visited: &[(usize, [Observation; 2])],
                 interrupted: bool,
                 seen: usize,
                 expected: &[&str]| {
        let mut visits = [(); 3].map(|()| Visits::default());
        for (place, by) in visited {
            visits[*place].seen.push([*by; 3]);
        }
        let (found, reasons) = judged(&plan, &visits, 2, interrupted);
        assert_eq!(found.len(), 3 * seen, "{reasons:?}");
        assert_eq!(reasons, expected);
    };
    let good = [timed(60.0, 50, 10), timed(61.0, 50, 10)];
    let (all, none) = ([(0, good), (1, good), (2, good)], [Observation::default(); 2]);
    check(&all, false, 3, &[]);
    check(&all[1..], false, 2, &["there was no time for 1 of 3 pairs"]);
    let stopped = "stopped in round 2 of 12, when 1 of 3 pairs had been visited";
    check(&all[..1], true, 1, &[stopped]);
    fn few(gaps: &str) -> String {
        format!("the threads of 1 of 3 pairs hardly ran together; CPUs {gaps} a gap")
    }
    let text = few("0 and 1, two lines: 0 of 0 batches without");
    check(&[(0, none), (1, good), (2, good)], false, 2, &[&text]);
    let gaps = [timed(60.0, 2000, 1960), timed(61.0, 2000, 1960)];
    let text = few("1 and 2, two lines: 80 of 4000 batches without");
    check(&[(0, good), (1, good), (2, gaps)], false, 2, &[&text]);
}

fn failed() -> Visits {
    Visits { error: Some("no such CPU".to_owned()), ..Visits::default() }
}

#[test]
fn a_pair_that_cannot_be_visited_is_named() {
    let plan = Plan::of(&[4, 7], &[], Duration::from_secs(4));
    let (seen, reasons) = judged(&plan, &[failed()], 3, false);
    assert!(seen.is_empty());
    assert_eq!(reasons, ["1 of 1 pairs failed; CPUs 4 and 7: no such CPU"]);
}

#[test]
fn a_failed_pair_is_not_one_without_time() {
    fn check(visited: &[usize], failing: usize, expected: &[&str]) {
        let plan = Plan::of(&[0, 1, 2], &[], Duration::from_secs(4));
        let good = [timed(60.0, 50, 10), timed(61.0, 50, 10)];
        let mut visits = [(); 3].map(|()| Visits::default());
        visits[failing] = failed();
        for place in visited {
            visits[*place].seen.push([good; 3]);
        }
        let [a, b] = plan.pairs[failing];
        let failed = format!("1 of 3 pairs failed; CPUs {a} and {b}: no such CPU");
        let mut expected = expected.to_vec();
        expected.push(&failed);
        assert_eq!(judged(&plan, &visits, 3, false).1, expected);
    }
    let none = "there was no time for 1 of 3 pairs";
    check(&[0], 1, &[none]);
    check(&[0, 1], 1, &[none]);
    check(&[0, 1], 2, &[]);
}

fn server(cpus: usize, a_cache: usize) -> Vec<Advertised> {
    let half = cpus / 2;
    let core = |cpu| Advertised { shares: Shared::Core, cpus: vec![cpu, cpu + half] };
    let cache = |first: usize| {
        let threads = (first..first + a_cache).chain(first + half..first + half + a_cache);
        Advertised { shares: Shared::L3, cpus: threads.collect() }
    };
    let caches = (0..half).step_by(a_cache).map(cache);
    (0..half).map(core).chain(caches).collect()
}

/// What a plan takes on a machine that is not busy.
fn takes_ns(plan: &Plan) -> u64 {
    plan.rounds * plan.pairs.len() as u64 * VISIT_NS
}

#[test]
fn plans_fit_into_their_time() {
    for (count, a_cache, seconds, all_pairs) in [
        (2, 1, 4.0, true),
        (2, 1, 35.0, true),
        (2, 1, 0.1, true),
        (16, 8, 4.0, true),
        (29, 8, 4.0, true),
        (32, 8, 4.0, false),
        (64, 8, 4.0, false),
        (64, 8, 605.0, true),
        (128, 8, 605.0, false),
        (512, 8, 605.0, false),
        (512, 8, 4.0, false),
        (512, 256, 4.0, false),
    ] {
        let cpus: Vec<usize> = (0..count).collect();
        let length = Duration::from_secs_f64(seconds);
        let plan = Plan::of(&cpus, &server(count, a_cache.min(count / 2)), length);
        let name = format!("{count} CPUs, {seconds} s");
        assert_eq!(plan.pairs.len() == count * (count - 1) / 2, all_pairs, "{name}");
        assert!(plan.pairs.iter().all(|pair| pair[0] < pair[1] && pair[1] < count));
        assert!(plan.pairs.windows(2).all(|pairs| pairs[0] < pairs[1]), "{name}");
        let most = length.as_nanos() as u64;
        assert!(takes_ns(&plan) <= most, "{name}: {plan:?}");
        let visits = if seconds >= 30.0 { 20..=60 } else { 3..=12 };
        assert!(visits.contains(&plan.rounds), "{name}: {}", plan.rounds);
    }
}

#[test]
fn chosen_pairs_cover_cores_and_groups() {
    let cpus: Vec<usize> = (0..128).collect();
    let advertised = server(128, 8);
    // 64 cores, 8 groups of 16: all pairs within, and four for each two groups.
    let pairs = chosen_pairs(&cpus, &advertised, 8 * 120 + 28 * REPRESENTATIVES);
    assert!((0..64).all(|cpu| pairs.contains(&[cpu, cpu + 64])));
    let mut counts = BTreeMap::new();
    for pair in &pairs {
        let [a, b] = pair.map(|cpu| cpu % 64 / 8);
        *counts.entry([a.min(b), a.max(b)]).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 8 + 28);
    for ([a, b], count) in counts {
        assert_eq!(count, if a == b { 120 } else { REPRESENTATIVES }, "groups {a} and {b}");
    }
    let few = chosen_pairs(&cpus, &advertised, 200);
    assert_eq!(few.len(), 200);
    assert!((0..64).all(|cpu| few.contains(&[cpu, cpu + 64])));
    assert_eq!(chosen_pairs(&cpus, &advertised, 10_000), all_pairs(&cpus));
    // A machine that says nothing has one group, which the first CPU holds together.
    let blind = chosen_pairs(&cpus, &[], 2000);
    for cpu in 1..128 {
        let own = blind.iter().filter(|pair| pair.contains(&cpu)).count();
        assert!((16..48).contains(&own), "{own} pairs of CPU {cpu}");
    }
}

/// Few of many pairs show the levels that all of them would.
#[test]
fn levels_of_large_machines_are_whole() {
    // CPUs, cores that share an L3, seconds.
    for (count, a_cache, seconds) in [(256, 4, 35), (256, 8, 4), (256, 64, 35), (512, 8, 605)] {
        let (cpus, half): (Vec<usize>, usize) = ((0..count).collect(), count / 2);
        let plan = Plan::of(&cpus, &server(count, a_cache), Duration::from_secs(seconds));
        let chosen: BTreeSet<[usize; 2]> = plan.pairs.into_iter().collect();
        let sizes = [1, a_cache, half];
        let latency = |a: usize, b: usize| {
            let near = sizes.iter().position(|size| a % half / size == b % half / size);
            chosen.contains(&[a, b]).then_some([10.0, 40.0, 200.0][near.unwrap()])
        };
        let levels = tiebreak_stats::clusters::partitions(count, latency, 1.25);
        let groups = levels.iter().map(|level| BTreeSet::from_iter(&level.group_of).len());
        let name = format!("{count} CPUs, {seconds} s, {} pairs", chosen.len());
        assert_eq!(groups.collect::<Vec<_>>(), sizes.map(|size| half / size), "{name}");
    }
}

fn check_sets(files: &[(&str, &str)], cpus: &[usize], expected: &[&str]) {
    let files: Vec<_> = files
        .iter()
        .map(|(path, text)| (format!("sys/devices/system/cpu/{path}"), *text))
        .collect();
    let files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let (_folder, tree) = tree(&files);
    let found = advertised(&tree, cpus);
    let texts =
        found.iter().map(|set| format!("{}: {}", set.shares.words(), format_cpus(&set.cpus)));
    assert_eq!(texts.collect::<Vec<_>>(), expected);
}

/// Two cores of two threads, an L2 each, no L3, a socket.
const FILES: [(&str, &str); 28] = [
    ("cpu0/topology/thread_siblings_list", "0,2\n"),
    ("cpu1/topology/thread_siblings_list", "1,3\n"),
    ("cpu2/topology/thread_siblings_list", "0,2\n"),
    ("cpu3/topology/thread_siblings_list", "1,3\n"),
    ("cpu0/topology/physical_package_id", "0\n"),
    ("cpu1/topology/physical_package_id", "0\n"),
    ("cpu2/topology/physical_package_id", "0\n"),
    ("cpu3/topology/physical_package_id", "0\n"),
    ("cpu0/topology/core_siblings_list", "0-3\n"),
    ("cpu1/topology/core_siblings_list", "0-3\n"),
    ("cpu2/topology/core_siblings_list", "0-3\n"),
    ("cpu3/topology/core_siblings_list", "0-3\n"),
    ("cpu0/cache/index1/level", "2\n"),
    ("cpu1/cache/index1/level", "2\n"),
    ("cpu2/cache/index1/level", "2\n"),
    ("cpu3/cache/index1/level", "2\n"),
    ("cpu0/cache/index1/type", "Unified\n"),
    ("cpu1/cache/index1/type", "Unified\n"),
    ("cpu2/cache/index1/type", "Unified\n"),
    ("cpu3/cache/index1/type", "Unified\n"),
    ("cpu0/cache/index1/shared_cpu_list", "0,2\n"),
    ("cpu1/cache/index1/shared_cpu_list", "1,3\n"),
    ("cpu2/cache/index1/shared_cpu_list", "0,2\n"),
    ("cpu3/cache/index1/shared_cpu_list", "1,3\n"),
    ("cpu0/cache/index0/level", "2\n"),
    ("cpu0/cache/index0/type", "Instruction\n"),
    ("cpu0/cache/index0/shared_cpu_list", "0\n"),
    ("cpu0/cache/index9/level", "many\n"),
];

#[test]
fn sets_are_named_once_and_cut_down_to_the_cpus_in_use() {
    let expected =
        ["SMT pair: 0,2", "SMT pair: 1,3", "shared L2: 0,2", "shared L2: 1,3", "socket: 0-3"];
    check_sets(&FILES, &[0, 1, 2, 3], &expected);
    let expected = ["SMT pair: 0", "SMT pair: 1", "shared L2: 0", "shared L2: 1", "socket: 0-1"];
    check_sets(&FILES, &[0, 1], &expected);
}

#[test]
fn a_machine_that_says_nothing_has_no_sets() {
    check_sets(&[], &[0, 1], &[]);
    let odd = [
        ("cpu0/topology/thread_siblings_list", "all of them"),
        // A list without the CPU itself is not believed.
        ("cpu1/topology/thread_siblings_list", "0"),
        ("cpu1/topology/physical_package_id", "-1"),
    ];
    check_sets(&odd, &[0, 1], &[]);
}
