//! Energy of the whole package, other tenants included.

use super::Unavailable;
use super::perf::{self, Counter, Event};
use crate::cpus;
use crate::tree::Tree;
use std::path::{Path, PathBuf};

const PERF: &str = "/sys/bus/event_source/devices/power";
const POWERCAP: &str = "/sys/class/powercap";

/// An open energy meter: the sum over all packages of the machine.
#[derive(Debug)]
pub struct Energy {
    source: Source,
}

#[derive(Debug)]
enum Source {
    Perf { counters: Vec<Counter>, joules_per_count: f64 },
    Powercap(Vec<Zone>),
}

/// One package of the powercap tree.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Zone {
    energy: PathBuf,
    range_uj: u64,
}

/// An energy meter's value at one moment, a number a package.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading(Vec<u64>);

impl Energy {
    /// Opens the meter: the perf `power` events, else the powercap tree.
    ///
    /// # Errors
    /// Neither is there, or permitted; the error names what each said.
    pub fn open() -> Result<Energy, Unavailable> {
        Energy::open_below(&Tree::at(Path::new("/")))
    }

    fn open_below(tree: &Tree) -> Result<Energy, Unavailable> {
        let mut tried = Vec::new();
        match open_perf(tree) {
            Ok(source) => return Ok(Energy { source }),
            Err(error) => tried.push((format!("perf events in {PERF}"), error)),
        }
        match zones(tree) {
            Ok(zones) => {
                return Ok(Energy { source: Source::Powercap(zones) });
            }
            Err(error) => tried.push((POWERCAP.to_owned(), error)),
        }
        Err(Unavailable { what: "energy meter", tried })
    }

    /// The meter now; `None` if it can no longer be read.
    pub fn read(&self) -> Option<Reading> {
        let values: Option<Vec<u64>> = match &self.source {
            Source::Perf { counters, .. } => {
                counters.iter().map(|counter| Some(counter.read().ok()?.count)).collect()
            }
            Source::Powercap(zones) => zones.iter().map(Zone::read_uj).collect(),
        };
        values.map(Reading)
    }

    /// Nanojoules between two readings. The meters move about every millisecond, so a shorter
    /// interval may well read 0.
    pub fn since_nj(&self, now: &Reading, then: &Reading) -> u64 {
        let pairs = now.0.iter().zip(&then.0);
        match &self.source {
            Source::Perf { joules_per_count, .. } => {
                let counts: u64 = pairs.map(|(now, then)| now.saturating_sub(*then)).sum();
                (counts as f64 * joules_per_count * 1e9) as u64
            }
            Source::Powercap(zones) => {
                let used = pairs.zip(zones).map(|((now, then), zone)| zone.used_uj(*now, *then));
                used.sum::<u64>() * 1000
            }
        }
    }
}

fn open_perf(tree: &Tree) -> Result<Source, String> {
    let (kind, config, joules_per_count, cpus) = perf_event(tree)?;
    let event = Event { kind, config, flags: 0 };
    let open = |cpu: &usize| Counter::open(event, -1, *cpu as i32, None);
    let counters: Result<Vec<_>, _> = cpus.iter().map(open).collect();
    let counters = counters.map_err(|error| perf::explain(&error))?;
    Ok(Source::Perf { counters, joules_per_count })
}

/// Type, configuration, joules a count, and the CPUs to open it on: one a package.
fn perf_event(tree: &Tree) -> Result<(u32, u64, f64, Vec<usize>), String> {
    let read = |file: &str| {
        tree.text(&format!("{PERF}/{file}")).ok_or_else(|| format!("no file '{file}'"))
    };
    let wrong = |file: &str, text: &str| format!("'{file}' holds '{text}'");
    let kind = read("type")?;
    let kind = kind.parse().map_err(|_| wrong("type", &kind))?;
    let event = read("events/energy-pkg")?;
    let config = event.strip_prefix("event=0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
    let config = config.ok_or_else(|| wrong("events/energy-pkg", &event))?;
    let scale = read("events/energy-pkg.scale")?;
    let scale = scale.parse().map_err(|_| wrong("events/energy-pkg.scale", &scale))?;
    let mask = read("cpumask")?;
    let cpus = cpus::parse_list(&mask).filter(|cpus| !cpus.is_empty());
    Ok((kind, config, scale, cpus.ok_or_else(|| wrong("cpumask", &mask))?))
}

/// The packages of the powercap tree; parts of a package (cores, memory) are not counted again.
fn zones(tree: &Tree) -> Result<Vec<Zone>, String> {
    let mut zones = Vec::new();
    for name in tree.names(POWERCAP) {
        let folder = format!("{POWERCAP}/{name}");
        let is_package = tree.text(&format!("{folder}/name"));
        if !is_package.is_some_and(|name| name.starts_with("package")) {
            continue;
        }
        let energy = tree.path(&format!("{folder}/energy_uj"));
        std::fs::read(&energy).map_err(|error| format!("{name}/energy_uj: {error}"))?;
        let range_uj = tree.number(&format!("{folder}/max_energy_range_uj"));
        let zone = Zone { energy, range_uj: range_uj.unwrap_or(u64::MAX) };
        // The memory-mapped twin (intel-rapl-mmio) shows the same packages a second time.
        if !name.contains("mmio") {
            zones.push(zone);
        }
    }
    if zones.is_empty() { Err("no package".to_owned()) } else { Ok(zones) }
}

impl Zone {
    fn read_uj(&self) -> Option<u64> {
        std::fs::read_to_string(&self.energy).ok()?.trim().parse().ok()
    }

    /// Microjoules between two values of a counter that starts again at 0 above its range.
    fn used_uj(&self, now: u64, then: u64) -> u64 {
        if now >= then { now - then } else { (self.range_uj - then.min(self.range_uj)) + now }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::made_up;

    #[test]
    fn packages_of_powercap_are_summed_and_wrap() {
        let base = "sys/class/powercap";
        let (_folder, tree) = made_up::tree(&[
            (&format!("{base}/intel-rapl:0/name"), "package-0\n"),
            (&format!("{base}/intel-rapl:0/energy_uj"), "900\n"),
            (&format!("{base}/intel-rapl:0/max_energy_range_uj"), "1000\n"),
            (&format!("{base}/intel-rapl:0:0/name"), "core\n"),
            (&format!("{base}/intel-rapl:0:0/energy_uj"), "5\n"),
            (&format!("{base}/intel-rapl:1/name"), "package-1\n"),
            (&format!("{base}/intel-rapl:1/energy_uj"), "10\n"),
            (&format!("{base}/intel-rapl-mmio:0/name"), "package-0\n"),
            (&format!("{base}/intel-rapl-mmio:0/energy_uj"), "900\n"),
        ]);
        let meter = Energy::open_below(&tree).unwrap();
        let then = meter.read().unwrap();
        assert_eq!(then, Reading(vec![900, 10]));
        std::fs::write(tree.path(&format!("{base}/intel-rapl:0/energy_uj")), "50\n").unwrap();
        std::fs::write(tree.path(&format!("{base}/intel-rapl:1/energy_uj")), "30\n").unwrap();
        let now = meter.read().unwrap();
        assert_eq!(meter.since_nj(&now, &then), (150 + 20) * 1000);
    }

    #[test]
    fn perf_events_are_described_by_their_files() {
        let base = "sys/bus/event_source/devices/power";
        let files = [
            (format!("{base}/type"), "21\n"),
            (format!("{base}/cpumask"), "0,16\n"),
            (format!("{base}/events/energy-pkg"), "event=0x02\n"),
            (format!("{base}/events/energy-pkg.scale"), "2.3283064365386962890625e-10\n"),
        ];
        let mut files: Vec<_> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        let (_folder, tree) = made_up::tree(&files);
        let joules = 2.328_306_436_538_696_3e-10;
        assert_eq!(perf_event(&tree), Ok((21, 2, joules, vec![0, 16])));
        files[2].1 = "event=banana";
        let (_folder, tree) = made_up::tree(&files);
        assert_eq!(perf_event(&tree), Err("'events/energy-pkg' holds 'event=banana'".to_owned()));
    }

    #[test]
    fn a_machine_without_meters_says_what_was_tried() {
        let (_folder, tree) = made_up::tree(&[]);
        let text = Energy::open_below(&tree).unwrap_err().to_string();
        let expected = "no energy meter: perf events in /sys/bus/event_source/devices/power: \
                        no file 'type'; /sys/class/powercap: no package";
        assert_eq!(text, expected);
    }
}
