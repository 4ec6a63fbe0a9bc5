//! What a load has seen.

use crate::latency::Latencies;
use crate::pacer::Punctuality;

/// What was seen of a load, by all connections. Times are nanoseconds since the load's start.
#[derive(Clone, Debug)]
pub struct Observation {
    /// What became of the messages.
    pub counts: Counts,
    /// How well the schedule was kept; in a closed loop nothing is late.
    pub punctuality: Punctuality,
    /// The latency of each arrival.
    pub latencies: Latencies,
    /// The same by the second of the schedule in which a message was intended, in order; a second
    /// without sends has an empty block.
    pub blocks: Vec<Block>,
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
    /// How the load ended.
    pub ending: Ending,
}

/// What became of the messages of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// The messages that the schedule has up to its end, or to the load's if that came first; in a
    /// closed loop, those that were sent.
    pub intended: u64,
    /// The messages that the generator turned to.
    pub sent: u64,
    /// The arrivals, each counted once.
    pub arrived: u64,
    /// The arrivals that never came: `(sent - refused) * arrivals a message - arrived`; 0 if the
    /// load was interrupted or broken.
    pub lost: u64,
    /// The arrivals of what had already arrived there, or came after 64 or more later ones of the
    /// same sender, so that this is not known.
    pub duplicated: u64,
    /// The arrivals after one that the same sender had sent later.
    pub reordered: u64,
    /// The messages that the server said it would not do.
    pub refused: u64,
    /// The connections that were made again, because the server had closed them when it may.
    pub reconnected: u64,
}

/// A second of the schedule.
///
/// Representation: the latencies are kept in their byte form, as four hours of blocks would take a
/// gigabyte otherwise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// The messages that were intended for it and sent.
    pub sent: u64,
    /// Empty if there is no latency.
    bytes: Vec<u8>,
}

impl Block {
    /// Makes the block of a second.
    pub fn new(sent: u64, latencies: &Latencies) -> Block {
        let bytes = if latencies.count() == 0 { Vec::new() } else { latencies.to_bytes() };
        Block { sent, bytes }
    }

    /// Returns the latency of each arrival of its messages. Cost: some 10 us, for 70 kB.
    pub fn latencies(&self) -> Latencies {
        Latencies::from_bytes(&self.bytes).unwrap_or_default()
    }
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

/// How a load ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// All messages have arrived or been refused.
    Complete,
    /// Some had not arrived when the wait for them ended: they are lost.
    Waited,
    /// The user asked to stop. What was under way is neither arrived nor lost.
    Interrupted,
    /// A connection ended when it must not, or said what the protocol does not have: which one, and
    /// the end of the sentence "the server ...". All that was seen until then is here.
    Broken(u32, String),
}
