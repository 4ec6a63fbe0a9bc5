//! Contestants that are servers: how each is loaded, by whom, and what a load has seen.
//!
//! A server is a program that is loaded instead of waited for. A run starts it, waits until it is
//! ready, loads it, and stops it; the sample is of the load.

use crate::load::{LoadEnd, LoadEnding, Pace, Traffic, Trust};
use crate::metric::Metric;
use crate::sample::Served;
use serde::{Deserialize, Serialize};

/// What stands for the port of a run, in commands, hooks and the URL.
pub const PORT: &str = "{port}";
/// What stands for the empty folder of a run, in commands and hooks.
pub const FOLDER: &str = "{dir}";
/// How long the next connection is waited for, and after the last send the next arrival, unless the
/// user says otherwise.
const PATIENCE_NS: u64 = 5_000_000_000;
/// The part of a load that comes before it, untimed.
const WARM_UP_SHARE: u64 = 10;

/// How the contestants of a plan are loaded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerPlan {
    /// The load, as it was typed.
    pub load: String,
    /// Where the server is, with [`PORT`].
    pub url: String,
    /// Who says what to whom.
    pub traffic: Traffic,
    /// What decides when a message is sent.
    pub pace: Pace,
    /// Where the load ends.
    pub end: LoadEnd,
    /// The threads of the generator; `None` for all CPUs but one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u32>,
    /// How long the next connection is waited for, and after the last send the next arrival.
    pub patience_ns: u64,
    /// Whom it trusts, over TLS.
    #[serde(default)]
    pub trust: Trust,
    /// How long a server may take until it is ready.
    pub ready_within_ns: u64,
}

impl ServerPlan {
    /// The time that a server has until it is ready, unless the user says otherwise.
    pub const READY_WITHIN_NS: u64 = 30_000_000_000;

    /// Returns a plan with what the user need not say: the load as it was typed, its URL, and what
    /// the words of it mean.
    pub fn new(load: &str, url: &str, traffic: Traffic, pace: Pace, end: LoadEnd) -> ServerPlan {
        ServerPlan {
            load: load.to_owned(),
            url: url.to_owned(),
            traffic,
            pace,
            end,
            threads: None,
            patience_ns: PATIENCE_NS,
            trust: Trust::System,
            ready_within_ns: ServerPlan::READY_WITHIN_NS,
        }
    }

    /// Returns the untimed load before a run's load: a tenth of it. In a closed loop it goes over a
    /// tenth of the connections, as some servers take longer to open one than to pass a hundred
    /// messages; at a rate, those might be too few to keep it.
    pub fn warm_up(&self) -> ServerPlan {
        ServerPlan {
            traffic: match self.pace {
                Pace::Closed { .. } => self.traffic.over_a_tenth(),
                Pace::Open { .. } => self.traffic.clone(),
            },
            end: match self.end {
                LoadEnd::Messages(messages) => LoadEnd::Messages(messages.div_ceil(WARM_UP_SHARE)),
                LoadEnd::DurationNs(ns) => LoadEnd::DurationNs(ns.div_ceil(WARM_UP_SHARE)),
            },
            ..self.clone()
        }
    }

    /// Returns the metric of a question, unless the user says otherwise: a schedule decides how
    /// long a load lasts, so the time of a load is asked for only if answers decide it.
    pub fn usual_metric(&self) -> Metric {
        match self.pace {
            Pace::Open { .. } => Metric::LatencyP99,
            Pace::Closed { .. } => Metric::WallTime,
        }
    }

    /// Returns how many messages a load has; `None` in a closed loop that ends with a time.
    pub fn messages(&self) -> Option<f64> {
        match (self.end, self.pace) {
            (LoadEnd::Messages(messages), _) => Some(messages as f64),
            (LoadEnd::DurationNs(ns), Pace::Open { rate_per_second, .. }) => {
                Some(ns as f64 * 1e-9 * rate_per_second as f64)
            }
            (LoadEnd::DurationNs(_), Pace::Closed { .. }) => None,
        }
    }
}

/// What was seen of one load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadSeen {
    /// What became of the messages.
    pub served: Served,
    /// From the first send to the last arrival.
    pub wall_ns: u64,
    /// Whether the generator, not the server, may have been the limit.
    pub is_behind_schedule: bool,
    /// How it ended; [`LoadEnding::Interrupted`] at its time limit.
    pub ending: LoadEnding,
    /// The histograms of the latencies, in the byte form of `tiebreak-load`.
    pub histogram: Vec<u8>,
}

/// Why a load did not take place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadFailure {
    /// The server did not open a connection; the text says what happened.
    NotOpen(String),
    /// The server's TLS is none, or not that of a server to be trusted, and will not become so; the
    /// text says why.
    Distrusted(String),
    /// The user asked to stop.
    Interrupted,
    /// The machine or tiebreak is at fault; the text says what to do.
    Broken(String),
}

/// One load that is asked of a [`Driver`].
#[derive(Clone, Copy, Debug)]
pub struct LoadOrder<'a> {
    /// What the load is.
    pub plan: &'a ServerPlan,
    /// The port of the server, on this machine.
    pub port: u16,
    /// Decides everything that is random.
    pub seed: u64,
    /// After this time it is ended.
    pub limit_ns: u64,
}

/// What loads servers: a generator of load, or a test's in virtual time.
pub trait Driver {
    /// Opens every connection, calls `opened`, and loads a server.
    ///
    /// # Errors
    /// Fails with [`LoadFailure::NotOpen`] if a connection cannot be opened, and otherwise if the
    /// load cannot begin, or the user interrupts. What the server does later is a part of what was
    /// seen.
    fn load(
        &mut self,
        order: &LoadOrder<'_>,
        opened: &mut dyn FnMut(),
    ) -> Result<LoadSeen, LoadFailure>;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::Spacing;

    fn plan(pace: Pace, end: LoadEnd) -> ServerPlan {
        let url = "http://127.0.0.1:{port}/";
        ServerPlan::new("as typed", url, Traffic::Http { connections: 1 }, pace, end)
    }

    #[test]
    fn a_tenth_comes_before_the_load() {
        let closed = Pace::Closed { in_flight: None };
        for (end, warm_up) in [
            (LoadEnd::Messages(1000), LoadEnd::Messages(100)),
            (LoadEnd::Messages(1), LoadEnd::Messages(1)),
            (LoadEnd::DurationNs(25), LoadEnd::DurationNs(3)),
        ] {
            assert_eq!(plan(closed, end).warm_up().end, warm_up);
        }
        let connections = |of: u32, pace: Pace| {
            let traffic = Traffic::Http { connections: of };
            let plan = ServerPlan { traffic, ..plan(pace, LoadEnd::Messages(1)) };
            let Traffic::Http { connections } = plan.warm_up().traffic else { panic!() };
            connections
        };
        for (of, expected) in [(1, 1), (2, 2), (3, 2), (50, 6), (1000, 100)] {
            assert_eq!(connections(of, closed), expected);
            assert_eq!(
                connections(of, Pace::Open { rate_per_second: 1, spacing: Spacing::Constant }),
                of
            );
        }
    }

    #[test]
    fn the_messages_of_a_load_are_known_unless_answers_decide_them() {
        let open = Pace::Open { rate_per_second: 500, spacing: Spacing::Constant };
        let closed = Pace::Closed { in_flight: Some(1) };
        let second = LoadEnd::DurationNs(1_000_000_000);
        assert_eq!(plan(open, second).messages(), Some(500.0));
        assert_eq!(plan(open, second).usual_metric(), Metric::LatencyP99);
        assert_eq!(plan(closed, second).usual_metric(), Metric::WallTime);
        assert_eq!(plan(closed, LoadEnd::Messages(7)).messages(), Some(7.0));
        assert_eq!(plan(closed, second).messages(), None);
    }

    #[test]
    fn plans_come_back() {
        let plan = plan(Pace::Closed { in_flight: Some(2) }, LoadEnd::Messages(5));
        let text = serde_json::to_string(&plan).unwrap();
        assert_eq!(serde_json::from_str::<ServerPlan>(&text).unwrap(), plan);
    }
}
