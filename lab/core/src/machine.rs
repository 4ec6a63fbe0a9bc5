//! A machine as it was measured: what each probe found, and the print that holds them all.

mod bandwidth;
mod cacheline;
mod comparison;
mod cores;
mod energy;
mod figure;
mod latency;
mod noise;
mod print;
mod probed;
mod timers;
mod topology;
mod tune;

pub use bandwidth::{
    Bandwidth, BandwidthCurve, BandwidthKnee, BandwidthPoint, LoadedLatency, NodeBandwidth, Traffic,
};
pub use cacheline::{
    Cacheline, FlushPoint, LineAdvertised, LineMethod, LineMissing, LineSaid, SharingPoint,
    StridedGain, StridedPoint,
};
pub use comparison::{Beside, Compared, Comparison, Difference, Side, Winner, WinnerRule};
pub use cores::{Cores, Group, Kernel, KernelLatency, LatencyMode, Level, PairLatency, Shared};
pub use energy::{Energy, EnergyLoad, EnergyPart};
pub use figure::{Better, Figure, PARTS, Spread, Unit};
pub use latency::{
    CacheSize, Latency, LatencyCurve, LatencyLevel, LatencyPoint, TlbLevel, TlbPoint,
};
pub use noise::{
    Cause, CauseShare, CpuNoise, Floor, Frequency, InterruptShare, LongGap, Noise, Piece, Rate,
    SmallestSlowdown, Throttled,
};
pub use print::{MachinePrint, Probe};
pub use probed::{Probed, Tried};
pub use timers::{Clock, ClockOrder, Drift, HandOff, Steps, TickCounter, Timers, Vdso};
pub use topology::{Cache, CacheKind, CoreKind, Cpu, Limits, Node, Pair, Sharing, Tool, Topology};
pub use tune::{Change, Needs, Setting, Standing, Tuning};
