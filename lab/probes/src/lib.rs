//! `tiebreak machine`: what this machine is, measured. A folder a probe, and an entry in the
//! registry below.
//!
//! The folder of a probe has what it found (the file of its name), how it measures, what it makes
//! of that, and how it is shown. With its entry it is a module, on the screen, in the print and its
//! schema, in comparisons and on the command line.
//!
//! All of it works as an ordinary user; no thread here ever has a real-time priority, so none can
//! hang a CPU. Statistics are those of `tiebreak-stats`.

pub mod compare;
mod figure;
mod finding;
mod head;
mod html;
mod print;
mod probed;
mod screen;
mod show;
#[cfg(test)]
mod tests;
mod tools;
pub mod tune;

pub use figure::{Better, Figure, PARTS, Spread, Unit};
pub use finding::{Lab, Options, OwnWork};
pub use head::{ListRow, list};
pub use html::machine_page;
pub use print::take;
pub use probed::{Probed, Tried};
pub use screen::{json, measured, page, progress, screen, svg};

mod bandwidth;
mod cacheline;
mod cores;
mod energy;
mod latency;
mod noise;
mod timers;
mod topology;

// An entry: the module, which is also the name of the command and the key in a print; what the
// module finds; how the screen calls it; the milliseconds of a short look, and those that it would
// like on a number of CPUs; its help.
print::probes! {
    topology: Topology, "topology",
        1000 ms, |_| 3000,
        "CPUs, caches, memory nodes, and whether CPUs share a core, as advertised and as measured";
    timers: Timers, "timers",
        1500 ms, |_| 5000,
        "Clocks: what a reading costs, how finely they move, whether they agree";
    // Rounds are spread over half a minute at least, as a hypervisor moves CPUs; from 64 CPUs
    // on not all pairs are visited.
    cores: Cores, "core to core",
        4000 ms, |cpus| 35_000.max(cpus.min(64) * cpus.min(64).saturating_sub(1) * 150),
        "Core to core latency of all pairs: heat map, groups, modes";
    cacheline: Cacheline, "cache line",
        3000 ms, |_| 10_000,
        "The size of a cache line, by two methods";
    latency: Latency, "load latency",
        5000 ms, |_| 20_000,
        "Latency of a load by the size of the data: cache levels and pages";
    bandwidth: Bandwidth, "bandwidth",
        4500 ms, |cpus| 15_000.max(cpus.min(32) * 2000),
        "Memory bandwidth by the number of threads";
    noise: Noise, "noise",
        8000 ms, |_| 30_000,
        "What disturbs a measurement here, and the smallest difference that can still be found";
    energy: Energy, "energy",
        1000 ms, |_| 10_000,
        "Energy, where the machine has a meter";
}
