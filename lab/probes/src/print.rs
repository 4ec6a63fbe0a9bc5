//! The print of a machine: everything that was found in one go.

use crate::figure::Figure;
use crate::finding::{Finding, Options};
use crate::probed::Probed;
use crate::screen::Row;
use crate::tools::Budget;
use crate::{Bandwidth, Cacheline, Cores, Energy, Latency, Noise, Timers, Topology};
use serde::{Deserialize, Serialize};
use std::time::Duration;
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_report::Look;

/// The registry: from an entry each, all that knows the probes by name. The module of a name has
/// `probe`, which measures, and `show`.
macro_rules! probes {
    ($(
        $field:ident: $finding:ident, $words:literal,
        $quick_ms:literal ms, $thorough_ms:expr,
        $help:literal;
    )*) => {
        /// A probe, by what it finds.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs, reason = "what each finds has its own documentation")]
        pub enum Probe {
            $($finding),*
        }

        impl Probe {
            /// All of them, in the order in which they run.
            pub const ALL: [Probe; [$(stringify!($field)),*].len()] = [$(Probe::$finding),*];

            /// Returns its row of the registry.
            fn row(self) -> (&'static str, &'static str, u64, fn(u64) -> u64, &'static str) {
                match self {
                    $(Probe::$finding => {
                        (stringify!($field), $words, $quick_ms, $thorough_ms, $help)
                    })*
                }
            }
        }

        $(
            impl Finding for $finding {
                fn figures(&self) -> Vec<Figure> {
                    self.figures()
                }

                fn rows(&self) -> Vec<Row> {
                    crate::$field::show::rows(self)
                }

                fn page(&self, look: &Look) -> String {
                    crate::$field::show::page(self, look)
                }

                fn svg(&self) -> String {
                    crate::$field::show::svg(self)
                }
            }
        )*

        /// Everything that was found about a machine in one go; a probe that was not asked for is
        /// absent.
        #[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
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
            $(
                #[doc = concat!("What the probe of ", stringify!($field), " found.")]
                #[serde(default, skip_serializing_if = "Option::is_none")]
                pub $field: Option<Probed<$finding>>,
            )*
        }

        impl MachinePrint {
            /// Returns what a probe found; `None` if it was not asked for.
            pub(crate) fn found(&self, probe: Probe) -> Option<Probed<Box<dyn Finding>>> {
                match probe {
                    $(Probe::$finding => self.$field.as_ref().map(|found| {
                        found.clone().map(|value, _| Box::new(value) as Box<dyn Finding>)
                    })),*
                }
            }

            pub(crate) fn measure(
                &mut self,
                probe: Probe,
                options: &Options<'_>,
                budget: &mut Budget<'_>,
            ) {
                match probe {
                    $(Probe::$finding => {
                        self.$field = Some(crate::$field::probe(options, budget));
                    })*
                }
            }
        }
    };
}

probes! {
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

impl Probe {
    /// Returns what `tiebreak machine` calls it, and its key in a print.
    pub fn name(self) -> &'static str {
        self.row().0
    }

    /// In words.
    pub fn words(self) -> &'static str {
        self.row().1
    }

    /// Returns what it finds, for the list of commands.
    pub fn help(self) -> &'static str {
        self.row().4
    }

    /// Returns how long it would like to take on this number of CPUs, or for a short look: all
    /// short looks together take less than half a minute.
    pub fn budget(self, cpus: usize, is_quick: bool) -> Duration {
        let (_, _, quick_ms, thorough_ms, _) = self.row();
        Duration::from_millis(if is_quick { quick_ms } else { thorough_ms(cpus as u64) })
    }
}

impl MachinePrint {
    /// What the `schema` field of this version says.
    pub const SCHEMA: &'static str = "tiebreak/machine/1";

    /// Returns what became of a probe: its state in a word; `None` if it was not asked for.
    pub fn state(&self, probe: Probe) -> Option<&'static str> {
        self.found(probe).map(|found| found.state())
    }

    /// Returns how many probes found what they should.
    pub fn measured(&self) -> usize {
        Probe::ALL.iter().filter(|probe| self.state(**probe) == Some("measured")).count()
    }

    /// Returns the numbers by which two machines can be compared, probe by probe.
    pub fn figures(&self) -> Vec<Figure> {
        let found = Probe::ALL.into_iter().filter_map(|probe| self.found(probe));
        found.flat_map(|found| found.value().map_or(Vec::new(), |value| value.figures())).collect()
    }
}
