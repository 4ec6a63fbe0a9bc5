use super::*;
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
        let watches = [Watched { gaps: &gaps, interrupts }];
        assert_eq!(causes(&watches, steal_ns, held_back_ns), [expected], "{gaps:?}");
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
fn stolen_time_is_shared_by_all_watches() {
    let (first, second) = ([gap(0, 30_000_000, false)], [gap(0, 9_000_000, false)]);
    let watches =
        [Watched { gaps: &first, interrupts: 0 }, Watched { gaps: &second, interrupts: 0 }];
    assert_eq!(causes(&watches, 30_000_000, 0), [[Steal], [Unexplained]]);
    assert_eq!(causes(&watches, 40_000_000, 0), [[Steal], [Steal]]);
}

#[test]
fn only_what_all_lost_at_once_counts() {
    let gaps = |spans: &[(u64, u64)]| -> Vec<Gap> {
        spans.iter().map(|(begin, end)| gap(*begin, end - begin, false)).collect()
    };
    let check = |cpus: &[&[(u64, u64)]], expected: u64| {
        let cpus: Vec<Vec<Gap>> = cpus.iter().map(|spans| gaps(spans)).collect();
        let all: Vec<&[Gap]> = cpus.iter().map(Vec::as_slice).collect();
        assert_eq!(all_at_once_ns(&all), expected, "{cpus:?}");
        let turned: Vec<&[Gap]> = cpus.iter().rev().map(Vec::as_slice).collect();
        assert_eq!(all_at_once_ns(&turned), expected, "{cpus:?} turned");
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
    let gaps = [
        (gap(95, 10, true), Task),
        (gap(110, 3, false), Interrupt),
        (gap(280, 100, false), Steal),
        (gap(50, 10, false), Steal),
    ];
    let found = pieces(&gaps, 60, 50, 5);
    let expected =
        [(10, Some(Task)), (3, Some(Interrupt)), (0, None), (0, None), (30, Some(Steal))];
    assert_eq!(found, expected);
    assert_eq!(pieces(&[], 0, 0, 2), [(0, None), (0, None)]);
}

#[test]
fn quantiles_are_values() {
    let sorted = [1, 2, 3, 4];
    let found = [0.0, 0.25, 0.5, 0.51, 0.99, 1.0].map(|share| quantile(&sorted, share));
    assert_eq!(found, [1, 1, 2, 3, 4, 4].map(Some));
    assert_eq!(quantile(&[], 0.5), None);
}
