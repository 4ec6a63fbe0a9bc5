//! Load on servers.
//!
//! All times are nanoseconds since the start of a load. Only the [generator] reads a
//! clock and owns sockets and threads; everything else gets times as arguments and bytes as slices,
//! so its tests run in virtual time and without a network.
//!
//! | module | what it has |
//! |---|---|
//! | [`generator`] | runs a load on a server, and says what was [`seen`] |
//! | [`conversation`] | what a protocol does on a connection; [`http`] is one |
//! | [`protocol`] | all of them, behind one type |
//! | [`tls`] | what may lie between a socket and a conversation: whom a client trusts |
//! | [`schedule`], [`pacer`] | when to send, and how late it was |
//! | [`stamp`] | what a message carries, so that its arrival tells its latency |
//! | [`latency`], [`histogram`] | latencies as intervals, counted in bins |
//! | [`ledger`], [`blocks`] | what became of each message, counted in blocks for those who judge |
//! | [`saturation`] | the search for how much a server can take |
//!
//! # When to send
//!
//! A [`Schedule`](schedule::Schedule) says when each message is to be sent, and on which
//! connection: at a constant rate or at random (Poisson), a function of the seed alone. No answer
//! moves it. That is an open loop. In a closed loop, a client sends when it has its answer, so a
//! server that stops also stops the questions that would have found it stopped, and the worst
//! latencies are missing from the result. This is called coordinated omission (Tene 2013, "How not
//! to measure latency"). The schedule is therefore the default; closed loops exist for comparisons
//! with published figures, and are called so.
//!
//! The [`Pacer`](pacer::Pacer) follows a schedule: it says how many sends are due, and records of
//! each when it was intended and when it went out. It never skips a send and never moves one. A
//! generator that cannot keep up sends late, and the pacer says by how much, and whether the load
//! was [behind schedule](pacer::Punctuality::is_behind_schedule).
//!
//! # How long it took
//!
//! A user waits from the moment at which the message was to be sent. If the generator was late, a
//! part of that time is its own doing. So a [`Latency`] is an interval: from the
//! actual send, and from the intended one. The truth lies between, no run is thrown out, and
//! nothing is corrected afterwards. [`Latencies`](latency::Latencies) keeps the two bounds in two
//! [histograms](histogram::Histogram) of fixed size, so that every quantile is an interval, too.
//! Histograms of threads are merged by adding. Their byte form is for the store. (Export as `.hlog`
//! belongs to the drivers, with the crate `hdrhistogram`.)
//!
//! # How much a server can take
//!
//! A [`Search`](saturation::Search) finds the highest rate that a server sustains. It says which
//! rate to try next, takes what was seen, and ends with an interval of rates. Its
//! [page](saturation) has the rule for "sustained" and its reasons. It also says what the server
//! does above that rate: some go on at their highest rate, some pass less, and some do not recover.
//!
//! # What is not here
//!
//! No statistic beyond counts and histograms: what follows from them is for `tiebreak-stats`.

pub mod blocks;
mod bytes;
pub mod conversation;
pub mod generator;
pub mod histogram;
pub mod http;
pub mod latency;
pub mod ledger;
mod message;
pub mod mqtt;
pub mod pacer;
#[cfg(test)]
mod played;
pub mod protocol;
pub mod random;
pub mod saturation;
pub mod schedule;
pub mod seen;
pub mod stamp;
pub mod tls;
pub mod websocket;

pub use bytes::Damaged;
pub use message::{BadOptions, PAYLOAD_BYTES_MAX};

/// A time that is known to lie between two bounds, both inclusive, in nanoseconds.
///
/// Of a message these are its latency from the actual send and from the intended one. Where the
/// second is the larger part, it was the generator that was slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latency {
    /// It is at least this.
    pub low_ns: u64,
    /// It is at most this.
    pub high_ns: u64,
}

impl Latency {
    /// Returns a time between these two, in either order.
    pub fn between(one_ns: u64, other_ns: u64) -> Latency {
        Latency { low_ns: one_ns.min(other_ns), high_ns: one_ns.max(other_ns) }
    }
}
