//! What a load has seen.

use crate::latency::Latencies;
use crate::pacer::Punctuality;
use tiebreak_core::load::{LoadEnding, MessageCounts, Refusal, TlsResult};

/// What was seen of a load, by all connections. Times are nanoseconds since the load's start.
#[derive(Clone, Debug)]
pub struct Account {
    /// What became of the messages.
    pub counts: MessageCounts,
    /// How often messages were refused, by what the server said, in ascending order.
    pub refusals: Vec<Refusal>,
    /// How well the schedule was kept; in a closed loop nothing is late.
    pub punctuality: Punctuality,
    /// The latency of each arrival.
    pub latencies: Latencies,
    /// The time of the first send, the last send, the first arrival and the last arrival.
    pub times: Times,
    /// The messages under way at the schedule's end: those that came later, and those that never
    /// came.
    pub backlog: u64,
    /// The CPU time of the generator's threads while they loaded, in nanoseconds.
    pub generator_cpu_ns: u64,
    /// The bytes that were written and read while the load ran.
    pub written_bytes: u64,
    /// See above.
    pub read_bytes: u64,
    /// What was agreed on in handshakes of TLS, from the first connection on.
    pub tls: Option<TlsResult>,
    /// How the load ended.
    pub ending: LoadEnding,
}

/// When messages went and came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The first send, and the last; `None` if there was none.
    pub sends_ns: Option<(u64, u64)>,
    /// The first arrival, and the last; `None` if there was none.
    pub arrivals_ns: Option<(u64, u64)>,
    /// The last arrival before the schedule's end, and the arrivals until then.
    pub before_end: Option<(u64, u64)>,
}
