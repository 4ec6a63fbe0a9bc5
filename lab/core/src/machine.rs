//! A machine as it was measured: what each probe found, and the print that holds them all.

mod bandwidth;
mod cacheline;
mod cores;
mod energy;
mod figure;
mod latency;
mod noise;
mod print;
mod probed;
mod timers;
mod topology;

pub use bandwidth::{
    Bandwidth, BandwidthCurve, BandwidthKnee, BandwidthPoint, LoadedLatency, NodeBandwidth, Traffic,
};
pub use cacheline::Cacheline;
pub use cores::Cores;
pub use energy::Energy;
pub use figure::{Better, Figure, Unit};
pub use latency::Latency;
pub use noise::Noise;
pub use print::{MachinePrint, Probe};
pub use probed::{Probed, Tried};
pub use timers::Timers;
pub use topology::Topology;
