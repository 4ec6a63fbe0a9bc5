use super::*;

const MS: u64 = 1_000_000;
/// Chains of which each step takes three cycles.
fn chain() -> Frequency {
    Frequency { cycles_a_step: 3.0, is_known: true, ..Frequency::default() }
}

/// A watch of CPU `cpu` from `begin_ms` to `begin_ms + 100`, with gaps of (ms, length in us,
/// whether switched).
fn cpu(cpu: usize, begin_ms: u64, gaps: &[(u64, u64, bool)]) -> CpuWatch {
    let gap = |(at_ms, length_us, was_switched): &(u64, u64, bool)| Gap {
        begin_ns: at_ms * MS,
        length_ns: length_us * 1000,
        was_switched: *was_switched,
    };
    CpuWatch {
        cpu,
        begin_ns: begin_ms * MS,
        end_ns: (begin_ms + 100) * MS,
        seen_ns: 100 * MS,
        gaps: gaps.iter().map(gap).collect(),
        unkept: 0,
        unkept_ns: 0,
        chains_ns: vec![6144, 8192, 12_288],
        waited_ns: Some(5 * MS),
        steal_ns: Some(0),
        interrupts: Vec::new(),
    }
}

fn watch(cpus: Vec<CpuWatch>) -> Watch {
    let (begin_ns, end_ns) = (cpus[0].begin_ns, cpus[0].end_ns);
    Watch { begin_ns, end_ns, cpus, softirqs: vec![came("TIMER", "", 20)], throttled: None }
}

fn came(name: &str, words: &str, count: u64) -> Interrupts {
    Interrupts { name: name.to_owned(), words: words.to_owned(), count }
}

fn share_of(causes: &[CauseShare], cause: Cause) -> f64 {
    causes.iter().find(|share| share.cause == cause).unwrap().share
}

#[test]
fn who_saw_nothing_has_no_rates() {
    let mut none = cpu(0, 0, &[]);
    none.seen_ns = 0;
    none.interrupts = vec![came("LOC", "Local timer interrupts", 1)];
    let found = summarise(&[watch(vec![none])], &chain(), None);
    assert!(found.interrupts.is_empty() && found.softirqs.is_empty(), "{found:?}");
}

#[test]
fn shares_add_up_to_what_was_lost() {
    let mut first = cpu(0, 0, &[(10, 4000, true), (30, 50, false), (50, 30, false)]);
    first.interrupts =
        vec![came("LOC", "Local timer interrupts", 1), came("disk", "5 edge disk", 0)];
    let second = cpu(1, 0, &[(12, 4000, true)]);
    let found = summarise(&[watch(vec![first, second])], &chain(), None);
    assert_eq!(found.watched_ns, 100 * MS);
    assert!((found.lost_share - 0.0404).abs() < 1e-12, "{found:?}");
    assert!((share_of(&found.causes, Cause::Task) - 0.04).abs() < 1e-12);
    assert!((share_of(&found.causes, Cause::Interrupt) - 0.00015).abs() < 1e-12);
    assert!((share_of(&found.causes, Cause::Unexplained) - 0.00025).abs() < 1e-12);
    assert!((found.all_at_once_share.unwrap() - 0.02).abs() < 1e-12);
    let local = &found.interrupts[0];
    assert_eq!((local.name.as_str(), local.per_second), ("LOC", 5.0));
    assert!((local.share - 0.00015).abs() < 1e-12);
    assert_eq!(found.softirqs[0].per_second, 100.0);
    assert_eq!(found.throttled, None);
    let zero = &found.cpus[0];
    assert_eq!((zero.gaps, zero.longest_ns, zero.median_ns), (3, Some(4 * MS), Some(50_000.0)));
    assert_eq!(zero.waited_share, Some(0.05));
    assert_eq!(found.longest[0].length_ns, 4 * MS);
}

#[test]
fn gaps_that_were_not_kept_are_unexplained() {
    let full = CpuWatch { unkept: 3, unkept_ns: MS, ..cpu(0, 0, &[(10, 1000, false)]) };
    let found = summarise(&[watch(vec![full])], &chain(), None);
    assert!((share_of(&found.causes, Cause::Unexplained) - 0.02).abs() < 1e-12, "{found:?}");
    assert_eq!((found.causes, found.cpus[0].gaps), (found.cpus[0].causes.clone(), 4));
}

#[test]
fn the_time_line_knows_when_nobody_watched() {
    let early = watch(vec![cpu(0, 0, &[(10, 5000, true)])]);
    let late = watch(vec![cpu(1, 100, &[])]);
    let found = summarise(&[early, late], &chain(), Some(50 * MS));
    let shares = |index: usize| -> Vec<Option<f64>> {
        found.cpus[index].strip.iter().map(|piece| piece.lost_share).collect()
    };
    assert_eq!(shares(0), [Some(0.1), Some(0.0), None, None]);
    assert_eq!(shares(1), [None, None, Some(0.0), Some(0.0)]);
    assert_eq!(found.cpus[0].strip[0].cause, Some(Cause::Task));
    assert_eq!(found.all_at_once_share, None);
}

#[test]
fn frequency_is_cycles_over_time() {
    let found = summarise(&[watch(vec![cpu(0, 0, &[])])], &chain(), None);
    let frequency = found.frequency.unwrap();
    let all = [frequency.low_hertz, frequency.median_hertz, frequency.most_hertz];
    assert_eq!(all, [2e9, 3e9, 4e9]);
    let mut without = cpu(0, 0, &[]);
    without.chains_ns.clear();
    assert_eq!(summarise(&[watch(vec![without])], &chain(), None).frequency, None);
}

#[test]
fn nothing_was_seen_of_nothing() {
    let found = summarise(&[], &chain(), None);
    assert!(found.cpus.is_empty() && found.causes.is_empty() && found.frequency.is_none());
}

use Cause::{Interrupt, Limit, Steal, Task, Unexplained};

fn gap(begin_ns: u64, length_ns: u64, was_switched: bool) -> Gap {
    Gap { begin_ns, length_ns, was_switched }
}

#[test]
fn gaps_find_their_causes() {
    const MS: u64 = 1_000_000;
    let check = |gaps: &[(u64, bool)], interrupts, steal_ns, held_back_ns, expected: &[Cause]| {
        let gaps: Vec<Gap> =
            gaps.iter().map(|(length, switched)| gap(0, *length, *switched)).collect();
        let found = causes(&[&gaps], vec![interrupts], steal_ns, held_back_ns);
        assert_eq!(found, expected, "{gaps:?}");
    };
    check(&[], 5, 5, 5, &[]);
    // The shortest are interrupts, one for each; a long one never is.
    check(&[(5000, false), (3000, false)], 1, 0, 0, &[Unexplained, Interrupt]);
    check(&[(5000, false), (3000, false)], 9, 0, 0, &[Interrupt, Interrupt]);
    check(&[(5 * MS, false)], 9, 0, 0, &[Unexplained]);
    // A switch is a task's, whatever else was counted.
    check(&[(5000, true), (5 * MS, true)], 9, 9 * MS, 0, &[Task, Task]);
    // The limit takes the longest switches of 1 ms at least, while its time lasts.
    check(&[(MS / 2, true), (3 * MS, true), (9 * MS, true)], 0, 0, 9 * MS, &[Task, Task, Limit]);
    check(&[(MS / 2, true), (3 * MS, true), (9 * MS, true)], 0, 0, 99 * MS, &[Task, Limit, Limit]);
    // Stolen time takes the longest of the others, while it lasts.
    let three = [(4 * MS, false), (9 * MS, false), (3000, false)];
    check(&three, 1, 10 * MS, 0, &[Unexplained, Steal, Interrupt]);
    check(&three, 0, 13 * MS, 0, &[Steal, Steal, Unexplained]);
}

#[test]
fn interrupts_explain_gaps_of_their_own_watch() {
    let two = [gap(0, 5000, false), gap(9000, 3000, false)];
    let check = |interrupts: [u64; 2], expected: [Cause; 4]| {
        assert_eq!(causes(&[&two, &two], interrupts.to_vec(), 0, 0), expected);
    };
    check([9, 0], [Interrupt, Interrupt, Unexplained, Unexplained]);
    check([0, 1], [Unexplained, Unexplained, Unexplained, Interrupt]);
    // So it is when all of a CPU are summarised.
    let mut quiet = cpu(0, 0, &[]);
    quiet.interrupts = vec![came("LOC", "", 9)];
    let gaps = explained(&[&quiet, &cpu(0, 100, &[(100, 50, false)])], 0, 0);
    assert_eq!(gaps[0].cause, Unexplained);
}

#[test]
fn stolen_time_is_shared_by_all_watches() {
    let check = |steal_ns, expected: [Cause; 2]| {
        let mut of_two = [cpu(0, 0, &[(0, 30_000, false)]), cpu(0, 100, &[(100, 9_000, false)])];
        of_two[0].steal_ns = Some(steal_ns);
        let gaps = explained(&of_two.each_ref(), 0, 0);
        assert_eq!(gaps.iter().map(|gap| gap.cause).collect::<Vec<_>>(), expected);
    };
    check(30 * MS, [Steal, Unexplained]);
    check(40 * MS, [Steal, Steal]);
}

#[test]
fn only_what_all_lost_at_once_counts() {
    let watch = |spans: &&[(u64, u64)]| CpuWatch {
        gaps: spans.iter().map(|(begin, end)| gap(*begin, end - begin, false)).collect(),
        ..CpuWatch::default()
    };
    let check = |cpus: &[&[(u64, u64)]], expected: u64| {
        let mut cpus: Vec<CpuWatch> = cpus.iter().map(watch).collect();
        assert_eq!(all_at_once_ns(&cpus), expected, "{cpus:?}");
        cpus.reverse();
        assert_eq!(all_at_once_ns(&cpus), expected, "{cpus:?} turned");
    };
    check(&[], 0);
    check(&[&[(0, 10), (20, 30)]], 20);
    check(&[&[(0, 10), (20, 30)], &[(5, 25)]], 10);
    check(&[&[(0, 100)], &[(10, 20), (30, 40)]], 20);
    check(&[&[(0, 10)], &[(10, 20)]], 0);
    check(&[&[(0, 50)], &[(10, 60)], &[(0, 20), (40, 70)]], 20);
    check(&[&[(0, 50)], &[]], 0);
}

#[test]
fn pieces_share_a_gap_that_reaches_over() {
    let gap = |begin_ns, length_ns, cause| LongGap { cpu: 0, begin_ns, length_ns, cause };
    let gaps = [gap(35, 10, Task), gap(50, 3, Interrupt), gap(220, 100, Steal)];
    let whole = CpuWatch { begin_ns: 60, end_ns: 310, ..CpuWatch::default() };
    let found = strip(&[&whole], &gaps, 60, 50, 5);
    let found: Vec<_> = found.iter().map(|one| (one.lost_share, one.cause)).collect();
    let expected =
        [(10, Some(Task)), (3, Some(Interrupt)), (0, None), (0, None), (30, Some(Steal))];
    assert_eq!(found, expected.map(|(ns, cause)| (Some(f64::from(ns) / 50.0), cause)));
    assert!(strip(&[], &[], 0, 1, 2).iter().all(|one| (one.lost_share, one.cause) == (None, None)));
}
