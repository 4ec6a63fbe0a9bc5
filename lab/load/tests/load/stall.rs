//! A server that stops for 100 ms at each full second and otherwise answers in 0.1 ms.
//!
//! A message that arrives at a random moment waits more than `x` with probability
//! `(100 ms - x) / 1000 ms`. So 5% of them wait more than 50 ms, 1% more than 90 ms and 0.1% more
//! than 99 ms. A generator that measures this server says so, or it is wrong.

use std::num::NonZeroU32;
use tiebreak_core::load::Spacing;
use tiebreak_load::latency::Latencies;
use tiebreak_load::pacer::{Pacer, TOLERANCE_NS};
use tiebreak_load::schedule::{End, Rate, SECOND_NS, Schedule};

const MS: u64 = 1_000_000;
const SECONDS: u64 = 20;

/// Returns when the server answers a message that arrived at this time. Messages do not wait for
/// each other.
fn answered_ns(arrived_ns: u64) -> u64 {
    let second_ns = arrived_ns - arrived_ns % SECOND_NS;
    arrived_ns.max(second_ns + 100 * MS) + MS / 10
}

/// Returns when a generator that stops in the same way can send.
fn awake_ns(at_ns: u64) -> u64 {
    at_ns.max(at_ns - at_ns % SECOND_NS + 100 * MS)
}

/// Sends by a schedule. The generator is awake from `awake_ns` on, and the server answers at
/// `answered_ns`. Returns the latencies, and whether the load was behind schedule.
fn open_loop(
    (spacing, rate): (Spacing, u64),
    awake_ns: fn(u64) -> u64,
    answered_ns: fn(u64) -> u64,
) -> (Latencies, bool) {
    let schedule = Schedule {
        seed: 5,
        spacing,
        rate: Rate::per_second(rate).unwrap(),
        connections: NonZeroU32::new(10).unwrap(),
        end: End::Ns(SECONDS * SECOND_NS),
    };
    let mut pacer = Pacer::new(schedule.sends(), TOLERANCE_NS);
    let mut latencies = Latencies::new();
    while let Some(at_ns) = pacer.next_at() {
        let now_ns = awake_ns(at_ns);
        while let Some(sent) = pacer.take(now_ns) {
            latencies.add(sent.stamp().latency(answered_ns(now_ns)));
        }
    }
    let is_behind = pacer.punctuality(SECONDS * SECOND_NS).is_behind_schedule();
    (latencies, is_behind)
}

/// Sends on each connection when the answer to its last message is there.
fn closed_loop(connections: u64) -> Latencies {
    let mut latencies = Latencies::new();
    for connection in 0..connections {
        let mut now_ns = connection;
        while now_ns < SECONDS * SECOND_NS {
            let received_ns = answered_ns(now_ns);
            let latency_ns = received_ns - now_ns;
            latencies.add(tiebreak_load::Latency::between(latency_ns, latency_ns));
            now_ns = received_ns;
        }
    }
    latencies
}

/// The quantiles that the stall makes, in milliseconds.
const EXPECTED: [(f64, u64); 3] = [(0.95, 50), (0.99, 90), (0.999, 99)];

#[test]
fn the_open_loop_sees_the_stall() {
    for rate in [1000, 7919, 50_000] {
        let (latencies, is_behind) =
            open_loop((Spacing::Constant, rate), |at_ns| at_ns, answered_ns);
        assert!(!is_behind);
        assert_eq!(latencies.count(), rate * SECONDS);
        for (share, expected_ms) in EXPECTED {
            let found = latencies.value_at(share).unwrap();
            let within = (expected_ms - 1) * MS..=(expected_ms + 1) * MS;
            let is_within = within.contains(&found.low_ns) && within.contains(&found.high_ns);
            assert!(is_within, "{rate} a second, {share}: {found:?}");
        }
    }
}

/// Random arrivals see the same, up to their own noise: the share above each quantile, within 5
/// standard errors of a count of stalled messages.
#[test]
fn random_arrivals_see_it_too() {
    let (latencies, is_behind) = open_loop((Spacing::Poisson, 10_000), |at_ns| at_ns, answered_ns);
    assert!(!is_behind);
    for (share, expected_ms) in EXPECTED {
        let error = 5.0 * ((1.0 - share) / latencies.count() as f64).sqrt();
        let [low, high] =
            [share - error, share + error].map(|share| latencies.value_at(share).unwrap());
        let expected_ns = expected_ms * MS + MS / 10;
        assert!((low.low_ns..=high.high_ns).contains(&expected_ns), "{share}: {low:?} {high:?}");
    }
}

/// The reason why the open loop is the default: each connection of a closed loop meets a stall
/// once, with one message of 9000.
#[test]
fn the_closed_loop_does_not_see_it() {
    for connections in [1, 10] {
        let latencies = closed_loop(connections);
        assert_eq!(latencies.highs().max_ns(), Some(100 * MS + MS / 10));
        for (share, expected_ms) in EXPECTED {
            let found = latencies.value_at(share).unwrap();
            assert!(found.high_ns < MS, "{share}: {found:?}, not {expected_ms} ms");
        }
    }
}

/// A generator that stops itself does not blame the server: the lower bounds are the server's, the
/// upper ones have the generator's stop, and it says that it was behind schedule.
#[test]
fn a_generator_that_stalls_says_so() {
    let (latencies, is_behind) =
        open_loop((Spacing::Constant, 1000), awake_ns, |arrived_ns| arrived_ns + MS / 10);
    assert!(is_behind);
    for (share, expected_ms) in EXPECTED {
        let found = latencies.value_at(share).unwrap();
        assert!(found.low_ns <= MS / 10 && found.high_ns >= expected_ms * MS, "{share} {found:?}");
    }
    let median = latencies.value_at(0.5).unwrap();
    assert!(median.high_ns < MS, "{median:?}");
}
