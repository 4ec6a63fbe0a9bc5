//! Every intended send of a schedule, taken by generators of different speeds.

use std::num::NonZeroU32;
use tiebreak_core::load::Spacing;
use tiebreak_load::Latency;
use tiebreak_load::latency::Latencies;
use tiebreak_load::pacer::{Pacer, Sent, TOLERANCE_NS};
use tiebreak_load::schedule::{End, Rate, SECOND_NS, Schedule};

fn schedule(spacing: Spacing, rate: u64, end: End) -> Schedule {
    Schedule {
        seed: 3,
        spacing,
        rate: Rate::per_second(rate).unwrap(),
        connections: NonZeroU32::new(4).unwrap(),
        end,
    }
}

fn pacer(schedule: Schedule) -> Pacer {
    Pacer::new(schedule.sends(), TOLERANCE_NS)
}

/// Takes all sends with a generator that turns to them when they are due, but each time not before
/// `step_ns` after the last.
fn taken(pacer: &mut Pacer, step_ns: u64) -> Vec<Sent> {
    let mut taken = Vec::new();
    let mut now_ns = 0;
    while let Some(at_ns) = pacer.next_at() {
        now_ns = at_ns.max(now_ns + step_ns);
        let due = pacer.due(now_ns);
        assert!(due > 0);
        for left in (0..due).rev() {
            taken.push(pacer.take(now_ns).unwrap());
            assert_eq!(pacer.due(now_ns), left);
        }
        assert_eq!(pacer.take(now_ns), None);
    }
    taken
}

#[test]
fn every_send_is_taken_once_and_never_early() {
    for spacing in [Spacing::Constant, Spacing::Poisson] {
        for step_ns in [0, 1, 700_000, 50_000_000] {
            let schedule = schedule(spacing, 1000, End::Sends(500));
            let mut pacer = pacer(schedule);
            let sent = taken(&mut pacer, step_ns);
            assert!(sent.iter().map(|sent| sent.intended).eq(schedule.sends()));
            assert!(sent.iter().all(|sent| sent.actual_ns >= sent.intended.at_ns));
            let lags = sent.iter().map(Sent::lag_ns);
            let late = lags.filter(|lag_ns| *lag_ns > TOLERANCE_NS).count() as u64;
            let punctuality = pacer.punctuality(u64::MAX);
            assert_eq!((punctuality.sent, punctuality.unsent), (500, 0));
            assert_eq!(punctuality.late, late);
            assert_eq!(punctuality.is_behind_schedule(), step_ns == 50_000_000);
        }
    }
}

#[test]
fn sends_are_due_at_their_time_and_not_before() {
    let mut pacer = pacer(schedule(Spacing::Constant, 1000, End::Sends(3)));
    for (now_ns, due) in [(0, 1), (999_999, 1), (1_000_000, 2), (9_000_000, 3), (u64::MAX, 3)] {
        assert_eq!(pacer.due(now_ns), due, "{now_ns}");
        assert_eq!(pacer.next_at(), Some(0));
    }
    let mut early = self::pacer(schedule(Spacing::Constant, 1000, End::Sends(2)));
    assert!(early.take(0).is_some());
    assert_eq!(early.next_at(), Some(1_000_000));
    assert_eq!(early.take(999_999), None);
    assert_eq!(early.take(1_000_000).map(|sent| sent.intended.connection), Some(1));
    assert_eq!((early.next_at(), early.take(u64::MAX)), (None, None));
}

#[test]
fn what_was_never_sent_is_late_too() {
    let mut pacer = pacer(schedule(Spacing::Constant, 1000, End::Ns(SECOND_NS)));
    for _ in 0..10 {
        pacer.take(9_500_000);
    }
    // Sent at 9.5 ms were those of 0 to 9 ms, of which the last was late by no more than 1 ms.
    let punctuality = pacer.punctuality(9_500_000);
    assert_eq!((punctuality.sent, punctuality.unsent, punctuality.late), (10, 0, 9));
    // Those of 10 to 20 ms are due; those of 10 to 18 ms are late.
    let punctuality = pacer.punctuality(20_000_000);
    assert_eq!((punctuality.sent, punctuality.unsent, punctuality.late), (10, 11, 18));
    assert!(punctuality.is_behind_schedule());
    assert_eq!(pacer.punctuality(SECOND_NS).unsent, 990);
}

#[test]
fn one_send_in_a_thousand_may_be_late() {
    for (late, expected) in [(1, false), (2, true)] {
        let mut pacer = pacer(schedule(Spacing::Constant, 100, End::Sends(1000)));
        for index in 0..1000 {
            let at_ns = pacer.next_at().unwrap();
            let lag_ns = if index < late { TOLERANCE_NS + 1 } else { TOLERANCE_NS };
            pacer.take(at_ns + lag_ns).unwrap();
        }
        assert_eq!(pacer.punctuality(u64::MAX).is_behind_schedule(), expected, "{late}");
    }
}

/// If the load was not behind schedule, a quantile of the upper bounds is bounded by the lower
/// bounds' quantile at 0.001 more, plus the tolerance. Checked up to the width of a bin.
#[test]
fn a_kept_schedule_bounds_what_the_generator_adds() {
    let mut pacer = pacer(schedule(Spacing::Poisson, 2000, End::Sends(20_000)));
    let mut latencies = Latencies::new();
    let (mut now_ns, mut turn) = (0, 0u64);
    while let Some(at_ns) = pacer.next_at() {
        turn += 1;
        // The generator pauses for 3 ms in one of 6000 turns, the server is slow in one of 50.
        let pause_ns = if turn % 6000 == 0 { 3_000_000 } else { 20_000 };
        now_ns = at_ns.max(now_ns) + pause_ns;
        while let Some(sent) = pacer.take(now_ns) {
            let answer_ns = if turn % 50 == 0 { 5_000_000 } else { 100_000 };
            latencies.add(sent.stamp().latency(now_ns + answer_ns));
        }
    }
    let punctuality = pacer.punctuality(now_ns);
    assert!(punctuality.late > 0 && !punctuality.is_behind_schedule(), "{punctuality:?}");
    for share in [0.5, 0.9, 0.975, 0.98, 0.99, 0.998] {
        let high_ns = latencies.highs().value_at(share).unwrap().low_ns;
        let bound = latencies.lows().value_at(share + 0.001).unwrap().high_ns + TOLERANCE_NS;
        assert!(high_ns <= bound, "{share}: {high_ns} above {bound}");
    }
}

#[test]
fn latencies_lie_between_both_sends() {
    let mut pacer = pacer(schedule(Spacing::Constant, 1000, End::Sends(2)));
    let first = pacer.take(300).unwrap();
    assert_eq!(first.stamp().latency(1000), Latency { low_ns: 700, high_ns: 1000 });
    // A clock of another CPU that is a little behind gives no latency below 0.
    assert_eq!(first.stamp().latency(200), Latency { low_ns: 0, high_ns: 200 });
}
