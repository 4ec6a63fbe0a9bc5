//! What a gauge of energy covers.

use std::fmt;

/// A kind of part of a machine that has a gauge of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A whole processor package (socket), or a die of one that has several gauges.
    Package,
    /// The cores of a package.
    Cores,
    /// The graphics of a package.
    Graphics,
    /// Memory behind a package.
    Memory,
    /// Everything that the processor knows of, memory and devices included.
    Platform,
    /// Whatever a sensor beside the processor covers: its name says it.
    Board,
}

impl Domain {
    /// The domain by the name that powercap gives it; `None` of another name.
    pub(super) fn of_powercap(name: &str) -> Option<Domain> {
        match name {
            "core" => Some(Domain::Cores),
            "uncore" => Some(Domain::Graphics),
            "dram" => Some(Domain::Memory),
            "psys" => Some(Domain::Platform),
            name if name.starts_with("package") => Some(Domain::Package),
            _ => None,
        }
    }

    fn words(self) -> &'static str {
        match self {
            Domain::Package => "package",
            Domain::Cores => "cores",
            Domain::Graphics => "graphics",
            Domain::Memory => "memory",
            Domain::Platform => "platform",
            Domain::Board => "board",
        }
    }
}

/// What one gauge covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub domain: Domain,
    /// Which one, as the source calls it: `package-0`, `Esocket1`, `CPU 16`.
    pub name: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.domain.words(), self.name)
    }
}
