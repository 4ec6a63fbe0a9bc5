//! Runs a load: sockets, threads and time. One thread a CPU that it may use, each with its own
//! connections, its own `epoll` and its own histograms; what they saw is added up at the end.

use crate::conversation::Scenario;
use crate::schedule::{Arrivals, End, Rate};
use crate::seen::Seen;
use std::fmt;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::time::Duration;

/// What is asked of a server.
#[derive(Clone, Debug)]
pub struct Load {
    /// Where the server is.
    pub address: SocketAddr,
    /// Decides everything that is random.
    pub seed: u64,
    /// What decides when a message is sent.
    pub pace: Pace,
    /// Where it ends: after so many messages, or so many nanoseconds.
    pub end: End,
    /// The threads that share the connections.
    pub threads: NonZeroU32,
    /// How long is waited for a connection to be open, and after the schedule's end for what is
    /// still under way.
    pub patience: Duration,
}

/// What decides when a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A schedule, which no answer moves.
    Open {
        /// The messages a second, over all senders.
        rate: Rate,
        /// How they are spread over time.
        arrivals: Arrivals,
    },
    /// The answers: each sender has at most so many messages under way. A server that stops then
    /// also stops the messages that would have found it stopped.
    Closed {
        /// The messages that a sender may have under way; `None` for as many as the socket takes.
        in_flight: Option<NonZeroU32>,
    },
}

/// What another thread may see of a load that runs, and how it ends it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set it to end the load soon. What was seen until then is returned.
    pub stop: AtomicBool,
    /// The connections that are open.
    pub open: AtomicU64,
    /// The messages so far that the generator turned to.
    pub sent: AtomicU64,
    /// The arrivals so far.
    pub arrived: AtomicU64,
}

/// Why there was no load.
#[derive(Debug)]
pub enum LoadError {
    /// A connection could not be made.
    Connect {
        /// Where to.
        address: SocketAddr,
        /// Which one, counted from 0.
        connection: u32,
        /// What the system said.
        source: std::io::Error,
    },
    /// A connection was made, and the server refused or broke the conversation before it was open.
    Refused {
        /// Which one, counted from 0.
        connection: u32,
        /// The end of the sentence "the server ...".
        why: String,
    },
    /// Some connections were not open in time.
    NotOpen {
        /// How many were.
        open: u32,
        /// How many there are to be.
        connections: u32,
        /// How long was waited.
        patience: Duration,
    },
    /// The process may not have as many files as the connections need, and may not raise the limit.
    Files {
        /// The files that are needed.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// The user asked to stop before the first message.
    Interrupted,
    /// The system refused something else: what, and its words.
    System(&'static str, std::io::Error),
}
