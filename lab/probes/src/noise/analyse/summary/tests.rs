use super::*;
use crate::noise::measure::Gap as SeenGap;

const MS: u64 = 1_000_000;
const CHAIN: Chain = Chain { steps: 8000, cycles_a_step: 3.0, is_counted: false, is_known: true };

/// A watch of CPU `cpu` from `begin_ms` to `begin_ms + 100`, with gaps of (ms, length in us,
/// whether switched).
fn cpu(cpu: usize, begin_ms: u64, gaps: &[(u64, u64, bool)]) -> CpuWatch {
    let gap = |(at_ms, length_us, was_switched): &(u64, u64, bool)| SeenGap {
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
        unlisted: 0,
        unlisted_ns: 0,
        chains_ns: vec![6000, 8000, 12_000],
        waited_ns: Some(5 * MS),
        steal_ns: Some(0),
        interrupts: Vec::new(),
    }
}

fn watch(cpus: Vec<CpuWatch>) -> Watch {
    let (begin_ns, end_ns) = (cpus[0].begin_ns, cpus[0].end_ns);
    Watch { begin_ns, end_ns, cpus, softirqs: vec![("TIMER".to_owned(), 20)], throttled: None }
}

fn share_of(causes: &[CauseShare], cause: Cause) -> f64 {
    causes.iter().find(|share| share.cause == cause).unwrap().share
}

#[test]
fn who_saw_nothing_has_no_rates() {
    let mut none = cpu(0, 0, &[]);
    none.seen_ns = 0;
    none.interrupts =
        vec![Interrupts { name: "LOC".into(), words: "Local timer interrupts".into(), count: 1 }];
    let found = summarise(&[watch(vec![none])], 1, CHAIN, None);
    assert!(found.interrupts.is_empty() && found.softirqs.is_empty(), "{found:?}");
}

#[test]
fn shares_add_up_to_what_was_lost() {
    let mut first = cpu(0, 0, &[(10, 4000, true), (30, 50, false), (50, 30, false)]);
    first.interrupts = vec![
        Interrupts { name: "LOC".into(), words: "Local timer interrupts".into(), count: 1 },
        Interrupts { name: "disk".into(), words: "5 edge disk".into(), count: 0 },
    ];
    let second = cpu(1, 0, &[(12, 4000, true)]);
    let found = summarise(&[watch(vec![first, second])], 2, CHAIN, None);
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
fn the_time_line_knows_when_nobody_watched() {
    let early = watch(vec![cpu(0, 0, &[(10, 5000, true)])]);
    let late = watch(vec![cpu(1, 100, &[])]);
    let found = summarise(&[early, late], 1, CHAIN, Some(50 * MS));
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
    let found = summarise(&[watch(vec![cpu(0, 0, &[])])], 1, CHAIN, None);
    let frequency = found.frequency.unwrap();
    let all = [frequency.low_hertz, frequency.median_hertz, frequency.most_hertz];
    assert_eq!(all, [2e9, 3e9, 4e9]);
    let mut without = cpu(0, 0, &[]);
    without.chains_ns.clear();
    assert_eq!(summarise(&[watch(vec![without])], 1, CHAIN, None).frequency, None);
}

#[test]
fn nothing_was_seen_of_nothing() {
    let found = summarise(&[], 0, CHAIN, None);
    assert!(found.cpus.is_empty() && found.causes.is_empty() && found.frequency.is_none());
}
