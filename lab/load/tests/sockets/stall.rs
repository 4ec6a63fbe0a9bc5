//! A server that stops for 100 ms at each full second. Whoever arrives while it stops waits for its
//! end, so the share of latencies above `x` is at least `(100 ms - x) / 1000 ms`: p95 is at least
//! 50 ms, p99 90 ms, p99.9 99 ms. A busy machine makes them longer, never shorter. The example
//! `stall` prints all of them, for open and closed loops.

use super::echo::{Echo, serve};
use super::load;
use std::time::{Duration, Instant};
use tiebreak_core::load::LoadEnding;
use tiebreak_load::generator::{self, Watch};
use tiebreak_load::schedule::End;

const STALL: Duration = Duration::from_millis(100);

/// Returns how long a server that began then stops now.
fn rest_of_stall(begun: Instant) -> Duration {
    let into_second = Duration::from_nanos(u64::from(begun.elapsed().subsec_nanos()));
    STALL.saturating_sub(into_second)
}

#[test]
fn the_open_loop_sees_the_stall() {
    let begun = Instant::now();
    let server = serve(move || {
        move |frame| {
            std::thread::sleep(rest_of_stall(begun));
            Some(frame.to_vec())
        }
    });
    // Whole seconds: they have whole stalls, wherever they begin.
    let load = load(&server, 500, End::Sends(1500));
    let seen = generator::load(&load, &Echo::of(10), &Watch::default()).unwrap();
    assert_eq!((seen.counts.arrived, seen.ending), (1500, LoadEnding::Complete));
    for (share, expected_ms) in [(0.95, 50), (0.99, 90), (0.999, 99)] {
        let found = seen.latencies.highs().value_at(share).unwrap();
        // A message is sent each 2 ms, and a bin is 1/128 wide.
        assert!(found.high_ns >= (expected_ms - 3) * 1_000_000, "{share}: {found:?}");
    }
}
