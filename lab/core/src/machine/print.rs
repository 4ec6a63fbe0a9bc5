//! The print of a machine: everything that was found in one go.

use super::figure::Figure;
use super::probed::Probed;
use super::{Bandwidth, Cacheline, Cores, Energy, Latency, Noise, Timers, Topology};
use crate::fingerprint::Fingerprint;
use serde::{Deserialize, Serialize};

/// One thing that can be found out about a machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Probe {
    /// What the machine says it is, and whether its CPUs share cores.
    Topology,
    /// How clocks behave.
    Timers,
    /// Latency from core to core.
    Cores,
    /// The size of a cache line.
    Cacheline,
    /// Latency of a load, by the size of the data.
    Latency,
    /// Memory bandwidth, by the number of threads.
    Bandwidth,
    /// What disturbs a measurement, and what can be found in spite of it.
    Noise,
    /// Energy.
    Energy,
}

impl Probe {
    /// All of them, in the order in which they run and are shown.
    pub const ALL: [Probe; 8] = [
        Probe::Topology,
        Probe::Timers,
        Probe::Cores,
        Probe::Cacheline,
        Probe::Latency,
        Probe::Bandwidth,
        Probe::Noise,
        Probe::Energy,
    ];

    /// What it is called on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Probe::Topology => "topology",
            Probe::Timers => "timers",
            Probe::Cores => "cores",
            Probe::Cacheline => "cacheline",
            Probe::Latency => "latency",
            Probe::Bandwidth => "bandwidth",
            Probe::Noise => "noise",
            Probe::Energy => "energy",
        }
    }

    /// What it is called on a screen.
    pub fn words(self) -> &'static str {
        match self {
            Probe::Cores => "core to core",
            Probe::Cacheline => "cache line",
            Probe::Latency => "load latency",
            other => other.name(),
        }
    }
}

/// Everything that was found about a machine in one go; a probe that was not asked for is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MachinePrint {
    /// `tiebreak/machine/1`.
    pub schema: String,
    /// When the first probe began, in milliseconds since 1970 (UTC).
    pub taken_unix_ms: u64,
    /// How long all probes took, in nanoseconds.
    pub took_ns: u64,
    /// Whether each probe had only a short look.
    pub is_quick: bool,
    /// Whether it was stopped before the last probe had ended.
    pub interrupted: bool,
    /// What the machine says of itself.
    pub machine: Fingerprint,
    /// CPUs, caches, nodes, and whether CPUs share a core.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub topology: Option<Probed<Topology>>,
    /// Clocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timers: Option<Probed<Timers>>,
    /// Core to core latency.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cores: Option<Probed<Cores>>,
    /// The cache line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cacheline: Option<Probed<Cacheline>>,
    /// Latency of loads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency: Option<Probed<Latency>>,
    /// Memory bandwidth.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bandwidth: Option<Probed<Bandwidth>>,
    /// Noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise: Option<Probed<Noise>>,
    /// Energy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub energy: Option<Probed<Energy>>,
}

impl MachinePrint {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine/1";

    /// What became of a probe: its state in a word; `None` if it was not asked for.
    pub fn state(&self, probe: Probe) -> Option<&'static str> {
        match probe {
            Probe::Topology => self.topology.as_ref().map(Probed::state),
            Probe::Timers => self.timers.as_ref().map(Probed::state),
            Probe::Cores => self.cores.as_ref().map(Probed::state),
            Probe::Cacheline => self.cacheline.as_ref().map(Probed::state),
            Probe::Latency => self.latency.as_ref().map(Probed::state),
            Probe::Bandwidth => self.bandwidth.as_ref().map(Probed::state),
            Probe::Noise => self.noise.as_ref().map(Probed::state),
            Probe::Energy => self.energy.as_ref().map(Probed::state),
        }
    }

    /// How many probes found what they should.
    pub fn measured(&self) -> usize {
        Probe::ALL.iter().filter(|probe| self.state(**probe) == Some("measured")).count()
    }

    /// The numbers by which two machines can be compared, probe by probe.
    pub fn figures(&self) -> Vec<Figure> {
        let of = [
            found(&self.topology, Topology::figures),
            found(&self.timers, Timers::figures),
            found(&self.cores, Cores::figures),
            found(&self.cacheline, Cacheline::figures),
            found(&self.latency, Latency::figures),
            found(&self.bandwidth, Bandwidth::figures),
            found(&self.noise, Noise::figures),
            found(&self.energy, Energy::figures),
        ];
        of.concat()
    }
}

fn found<T>(probed: &Option<Probed<T>>, figures: fn(&T) -> Vec<Figure>) -> Vec<Figure> {
    probed.as_ref().and_then(Probed::value).map(figures).unwrap_or_default()
}
