//! The part that a gauge of energy covers.

use std::fmt;

/// The kind of a part of a machine that has its own gauge.
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
    /// Everything that the processor meters, including memory and devices.
    Platform,
    /// The part that a sensor outside the processor covers; its name identifies it.
    Board,
}

impl Domain {
    /// Returns the domain with this name in powercap; `None` for another name.
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

/// The part that one gauge covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The kind.
    pub domain: Domain,
    /// The name that the source uses: `package-0`, `Esocket1`, `CPU 16`.
    pub name: String,
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.domain.words(), self.name)
    }
}
