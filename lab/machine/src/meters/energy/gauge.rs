//! A counter of energy, from any source.

use crate::meters::perf::Counter;
use crate::tree::{Tree, explain};
use std::fmt;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Duration;

/// A bound that no package's power reaches. A counter that could have wrapped more than once at
/// this power has no known difference.
const WATTS_MAX: f64 = 1000.0;

/// A counter of energy that only grows, except that it wraps at its range.
#[derive(Debug)]
pub(super) struct Gauge {
    /// The part that it covers.
    pub part: Part,
    /// The place where it is read.
    pub input: Input,
    /// The nanojoules per count.
    pub count_nj: f64,
    /// The count at which it wraps to 0; `None` if it never does.
    pub range: Option<u64>,
}

impl Gauge {
    /// Opens a file that counts in microjoules, which must be readable now.
    pub(super) fn of_microjoules(
        tree: &Tree,
        path: &str,
        right: &str,
        part: Part,
    ) -> Result<Gauge, String> {
        tree.read_number(path, right)?;
        let file = File::open(tree.path(path)).map_err(|error| explain(&error, right))?;
        Ok(Gauge { part, input: Input::Text(file), count_nj: 1000.0, range: None })
    }

    /// Returns the nanojoules between two values of the counter that were read `apart` from each
    /// other. Returns `None` if it went back without a reason, or may have wrapped more than once.
    pub(super) fn used_nj(&self, now: u64, then: u64, apart: Duration) -> Option<u64> {
        let counts = match self.range {
            Some(range) => {
                let round_s = range as f64 * self.count_nj / 1e9 / WATTS_MAX;
                if apart.as_secs_f64() >= round_s {
                    return None;
                }
                if now >= then { now - then } else { range.checked_sub(then)?.checked_add(now)? }
            }
            None => now.checked_sub(then)?,
        };
        Some((counts as f64 * self.count_nj) as u64)
    }
}

/// The place where a counter is read.
#[derive(Debug)]
pub(in crate::meters) enum Input {
    /// An event of perf.
    Event(Counter),
    /// A file with a decimal number.
    Text(File),
    /// The low 32 bits of a register: the file of a CPU's registers, and the register's number.
    Register(File, u64),
}

impl Input {
    /// Reads the count; `None` if it can no longer be read. One system call.
    pub(in crate::meters) fn read(&self) -> Option<u64> {
        match self {
            Input::Event(counter) => Some(counter.read().ok()?.count),
            Input::Text(file) => {
                let mut text = [0; 32];
                let length = file.read_at(&mut text, 0).ok()?;
                std::str::from_utf8(&text[..length]).ok()?.trim().parse().ok()
            }
            Input::Register(file, register) => {
                Some(read_register(file, *register).ok()? & u64::from(u32::MAX))
            }
        }
    }
}

/// Reads a model-specific register: eight bytes at its number.
pub(in crate::meters) fn read_register(file: &File, register: u64) -> std::io::Result<u64> {
    let mut bytes = [0; 8];
    file.read_exact_at(&mut bytes, register)?;
    Ok(u64::from_le_bytes(bytes))
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_known_is_absent() {
        let check = |range, count_nj, [then, now]: [u64; 2], apart_ms, expected| {
            let part = Part { domain: Domain::Package, name: "package-0".to_owned() };
            let input = Input::Text(File::open("/dev/null").unwrap());
            let gauge = Gauge { part, input, count_nj, range };
            assert_eq!(gauge.used_nj(now, then, Duration::from_millis(apart_ms)), expected);
        };
        check(None, 1000.0, [5, 7], 1, Some(2000));
        check(None, 1000.0, [7, 5], 1, None);
        check(Some(1 << 32), 15_258.789_062_5, [u64::from(u32::MAX), 1], 1, Some(30_517));
        // 65.5 J are used up within 66 ms at 1 kW, and not within 65 ms.
        check(Some(65_532_610), 1000.0, [65_532_600, 10], 65, Some(20_000));
        check(Some(65_532_610), 1000.0, [65_532_600, 10], 66, None);
        check(Some(100), 1e9, [120, 5], 1, None);
    }
}
