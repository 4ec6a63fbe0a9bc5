//! Load on servers, without the network: what a generator needs besides sockets and codecs.
//!
//! All times are nanoseconds since the start of a load, and all of them are arguments: nothing here
//! reads a clock, so the tests run in virtual time.
//!
//! # How long it took
//!
//! A user waits from the moment at which the message was to be sent. If the generator was late, a
//! part of that time is its own doing. So a [`Latency`](latency::Latency) is an interval: from the
//! actual send, and from the intended one. The truth lies between, no run is thrown out, and
//! nothing is corrected afterwards. [`Latencies`](latency::Latencies) keeps the two bounds in two
//! [histograms](histogram::Histogram) of fixed size, so that every quantile is an interval, too.
//! Histograms of threads are merged by adding. Their byte form is for the store. (Export as `.hlog`
//! belongs to the drivers, with the crate `hdrhistogram`.)
//!
//! # What is not here
//!
//! No statistic beyond counts and histograms: what follows from them is for `tiebreak-stats`.

mod bytes;
pub mod histogram;
pub mod latency;
pub mod random;

pub use bytes::Damaged;
