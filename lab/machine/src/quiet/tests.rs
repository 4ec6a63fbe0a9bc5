use super::*;
use crate::tree::made_up;

fn stat(name: &str, state: char, cpu: usize) -> String {
    let middle = "0 ".repeat(35);
    format!("77 ({name}) {state} {middle}{cpu} 0 0\n")
}

#[test]
fn the_state_and_the_cpu_are_found_behind_any_name() {
    fn check(text: &str, cpu: Option<usize>) {
        assert_eq!(runnable_on(text), cpu, "{text}")
    }
    check(&stat("spin", 'R', 3), Some(3));
    check(&stat("a) R (b", 'S', 3), None);
    check(&stat(") ) R", 'R', 0), Some(0));
    check("77 (cut", None);
    check("", None);
}

fn is_quiet(runnable: u32, cpus: &[usize], tasks: &[(&str, String)]) -> bool {
    let mut files = vec![("proc/loadavg", format!("0 0 0 {runnable}/9 1\n"))];
    files.extend(tasks.iter().map(|(path, text)| (*path, text.clone())));
    let files: Vec<_> = files.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (_folder, tree) = made_up::tree(&files);
    QuietGate::below(tree, cpus, &[50]).is_quiet()
}

#[test]
fn only_a_foreign_task_on_our_cpus_is_a_neighbour() {
    let spin = [("proc/7/task/7/stat", stat("spin", 'R', 1))];
    assert!(is_quiet(1, &[1], &spin), "the count says that only we run");
    assert!(!is_quiet(2, &[1], &spin));
    assert!(is_quiet(2, &[0], &spin), "it runs elsewhere");
    assert!(is_quiet(2, &[0, 1], &spin), "one CPU is free");
    let both = [spin[0].clone(), ("proc/8/task/8/stat", stat("spin", 'R', 0))];
    assert!(!is_quiet(3, &[0, 1], &both));
    let ours = [("proc/50/task/50/stat", stat("ours", 'R', 1))];
    assert!(is_quiet(2, &[1], &ours));
    let thread = [
        ("proc/7/task/7/stat", stat("main", 'S', 0)),
        ("proc/7/task/9/stat", stat("worker", 'R', 1)),
    ];
    assert!(!is_quiet(2, &[1], &thread));
}

#[test]
fn a_known_neighbour_is_looked_at_first() {
    let spin = |cpu| stat("spin", 'R', cpu);
    let (_folder, tree) =
        made_up::tree(&[("proc/loadavg", "0 0 0 2/9 1\n"), ("proc/7/task/7/stat", &spin(1))]);
    let mut gate = QuietGate::below(tree.clone(), &[0], &[]);
    assert!(gate.is_quiet(), "it runs elsewhere");
    assert_eq!(gate.known, ["/proc/7/task/7/stat"]);
    // The known task accounts for the count, so a new task that is not counted is not looked for.
    std::fs::create_dir_all(tree.path("proc/8/task/8")).unwrap();
    std::fs::write(tree.path("proc/8/task/8/stat"), spin(0)).unwrap();
    assert!(gate.is_quiet());
    std::fs::write(tree.path("proc/loadavg"), "0 0 0 3/9 1\n").unwrap();
    assert!(!gate.is_quiet());
    std::fs::remove_dir_all(tree.path("proc/8")).unwrap();
    std::fs::write(tree.path("proc/7/task/7/stat"), spin(0)).unwrap();
    assert!(!gate.is_quiet(), "it has moved to our CPU");
}

#[test]
fn a_crowd_is_judged_by_its_number() {
    let paths: Vec<_> = (1000..1400).map(|pid| format!("proc/{pid}/task/{pid}/stat")).collect();
    let tasks: Vec<_> = paths.iter().map(|path| (path.as_str(), stat("x", 'S', 0))).collect();
    assert!(!is_quiet(2, &[0], &tasks));
    assert!(is_quiet(2, &[0, 1], &tasks));
}

#[test]
fn waits_in_vain_become_rare_and_their_sum_is_bounded() {
    let busy = [
        ("proc/loadavg", "0 0 0 2/9 1\n".to_owned()),
        ("proc/7/task/7/stat", stat("spin", 'R', 0)),
    ];
    let files: Vec<_> = busy.iter().map(|(path, text)| (*path, text.as_str())).collect();
    let (_folder, tree) = made_up::tree(&files);
    let mut gate = QuietGate::below(tree.clone(), &[0], &[]);
    let patient: Vec<bool> = (0..20)
        .map(|_| {
            let before = gate.in_vain;
            assert!(!gate.wait(0, &|| false).quiet);
            gate.in_vain > before
        })
        .collect();
    let waits: Vec<_> = (0..20).filter(|round| patient[*round]).collect();
    assert_eq!(waits, [0, 1, 2, 4, 8, 16], "every second round, every fourth, every eighth");
    gate.waited_ns = START_ALLOWANCE_NS + 1000;
    assert_eq!(gate.allowance_ns(1000), 0);
    assert_eq!(gate.allowance_ns(10_000), 3000);
    std::fs::write(tree.path("proc/loadavg"), "0 0 0 1/9 1\n").unwrap();
    assert!(gate.wait(0, &|| false).quiet);
    assert_eq!((gate.in_vain, gate.skip), (0, 0));
}

#[test]
fn a_stop_ends_the_wait() {
    let spin = stat("spin", 'R', 0);
    let busy = [("proc/loadavg", "0 0 0 2/9 1\n"), ("proc/7/task/7/stat", spin.as_str())];
    let (_folder, tree) = made_up::tree(&busy);
    let asked = std::cell::Cell::new(0);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() == 3
    };
    let mut gate = QuietGate::below(tree, &[0], &[]);
    assert!(!gate.wait(u64::MAX, &stop).quiet);
    assert_eq!(asked.get(), 3);
}

#[test]
fn looks_over_a_while_that_all_find_it_quiet_save_a_wait() {
    let spin = stat("spin", 'R', 0);
    let (_folder, tree) =
        made_up::tree(&[("proc/loadavg", "0 0 0 1/9 1\n"), ("proc/7/task/7/stat", &spin)]);
    let mut gate = QuietGate::below(tree.clone(), &[0], &[]);
    let now_runnable = |count: u32| {
        std::fs::write(tree.path("proc/loadavg"), format!("0 0 0 {count}/9 1\n")).unwrap();
    };
    assert!(!gate.was_quiet(), "it was not looked at");
    assert!(gate.look());
    assert!(!gate.was_quiet(), "one look may fall into a pause");
    std::thread::sleep(CONFIRMATION);
    assert!(gate.look());
    let now_ns = clock::monotonic_ns();
    let (first_ns, last_ns) = gate.quiet_ns.unwrap();
    assert!(last_ns - first_ns >= 200_000);
    let second_ns = 1_000_000_000;
    gate.quiet_ns = Some((now_ns - second_ns, now_ns + second_ns));
    assert!(gate.was_quiet(), "however slow this test is");
    gate.quiet_ns = Some((now_ns - second_ns, now_ns - LOOK_NS_MAX));
    assert!(!gate.was_quiet(), "too long ago");
    now_runnable(2);
    assert!(!gate.look());
    assert_eq!(gate.quiet_ns, None);
    now_runnable(1);
    assert!(gate.look());
    assert!(!gate.was_quiet(), "it has been quiet for one look");
}
