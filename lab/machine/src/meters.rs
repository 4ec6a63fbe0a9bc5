//! Hardware counters and energy meters, where the machine has them.
//!
//! [`Counters`] are attached to a process that starts contestants. The processes that it starts
//! inherit them. An inherited counter is off until its process calls `exec`; it then counts that
//! process, its threads and its descendants until they end, in user mode and kernel. So the count
//! excludes the work of the starting process itself, and of the child before `exec`. It includes
//! the work of descendants that no process waited for, as soon as they have ended.
//! [`ThreadCounters`] count the calling thread between two moments that it chooses.

mod counters;
mod energy;
mod perf;
pub mod smi;
mod thread;

pub use counters::{Counted, Counters, Reading as CountersReading};
pub use energy::{Domain as EnergyDomain, Energy, Part as EnergyPart, Reading as EnergyReading};
pub use thread::ThreadCounters;

/// A meter that this machine, or this user, does not have.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {what}: {}", listed(tried))]
pub struct Unavailable {
    /// The missing meter.
    pub what: &'static str,
    /// Each way that was tried, and its result.
    pub tried: Vec<(String, String)>,
}

fn listed(tried: &[(String, String)]) -> String {
    let ways: Vec<String> = tried.iter().map(|(way, error)| format!("{way}: {error}")).collect();
    ways.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reason_names_each_way() {
        let tried = vec![
            ("perf".to_owned(), "no such file".to_owned()),
            ("powercap".to_owned(), "not permitted".to_owned()),
        ];
        let error = Unavailable { what: "energy meter", tried };
        let text = "no energy meter: perf: no such file; powercap: not permitted";
        assert_eq!(error.to_string(), text);
    }
}
