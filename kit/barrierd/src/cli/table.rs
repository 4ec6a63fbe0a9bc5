//! The table of CPUs, as `status` and `watch` print it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use tiebreak_sync::interrupts::{Age, Client};

/// A CPU that is not interrupted for so long is named.
const SILENT_NS: u64 = 100_000_000;

/// One line a CPU that is not offline. `before` are the events at an earlier time, if there is one.
pub(super) fn table(client: &Client, before: Option<(&[u64], Duration)>) -> String {
    let (ages, events, tickless) = (client.ages(), client.events(), client.tickless());
    let mut text = String::from("CPU  state    last fence    events\n");
    for (cpu, (age, events)) in ages.into_iter().zip(&events).enumerate() {
        let (state, last) = match age {
            Age::Busy(ns) if ns > SILENT_NS => ("silent", milliseconds(ns)),
            Age::Busy(ns) => ("busy", milliseconds(ns)),
            Age::Idle => ("idle", String::new()),
            Age::Unknown => ("unknown", String::new()),
            Age::Offline => continue,
        };
        let events = match before {
            Some((before, time)) => {
                let more = events.saturating_sub(before[cpu]);
                format!("{:.0} a second", more as f64 / time.as_secs_f64())
            }
            None => events.to_string(),
        };
        let tickless = if tickless.contains(cpu) { "  tickless" } else { "" };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{cpu:>3}  {state:<7}  {last:<12}  {events}{tickless}");
    }
    text
}

fn milliseconds(ns: u64) -> String {
    format!("{:.2} ms ago", ns as f64 / 1e6)
}

/// One barrier, in words.
pub(super) fn barrier(client: &Client) -> String {
    let start = Instant::now();
    let ticket = client.begin();
    match client.wait(&ticket, Some(start + Duration::from_secs(1))) {
        Ok(true) => format!("a barrier took {:.2} ms", start.elapsed().as_secs_f64() * 1e3),
        Ok(false) => "a barrier was not complete within a second".to_string(),
        Err(stale) => format!("a barrier failed: {stale}"),
    }
}
