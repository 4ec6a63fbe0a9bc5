//! The processor's energy registers, read on one CPU per package.
//!
//! Intel, Software Developer's Manual volume 4: `MSR_RAPL_POWER_UNIT` 0x606 holds in bits 12:8 the
//! number n of a unit of 2^-n J; `MSR_PKG_ENERGY_STATUS` 0x611 counts in that unit, in 32 bits.
//! AMD, Processor Programming Reference of family 17h: the same at 0xC0010299 and 0xC001029B.
//! Memory is left out: on some servers it counts in another unit, which no register gives.

use super::gauge::{Domain, Gauge, Input, Part, read_register};
use crate::tree::{Tree, explain, field};
use std::fs::File;

/// The file of a CPU's registers, as messages name it.
pub(super) const FILE: &str = "/dev/cpu/N/msr";

const RIGHT: &str = "registers need CAP_SYS_RAWIO and a file that this user may read: run as root";

/// The range of the 32-bit counters.
const RANGE: u64 = 1 << 32;

/// The numbers of a vendor's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Registers {
    unit: u64,
    package: u64,
}

const INTEL: Registers = Registers { unit: 0x606, package: 0x611 };
const AMD: Registers = Registers { unit: 0xC001_0299, package: 0xC001_029B };

/// The models of family 6 (Silvermont and Airmont) that give their unit in another way.
const OTHER_UNITS: [u32; 5] = [0x37, 0x4A, 0x4C, 0x4D, 0x5A];

/// Opens the register of each package.
pub(super) fn open(tree: &Tree) -> Result<Vec<Gauge>, String> {
    let registers = registers(tree)?;
    let mut gauges = Vec::new();
    for (cpu, package) in packages(tree) {
        let in_words = |error| format!("CPU {cpu}: {}", explain_msr(&error));
        let file = File::open(tree.path(&format!("/dev/cpu/{cpu}/msr"))).map_err(in_words)?;
        let unit = read_register(&file, registers.unit).map_err(in_words)?;
        read_register(&file, registers.package).map_err(in_words)?;
        let count_nj = 1e9 / (1_u64 << (unit >> 8 & 0x1F)) as f64;
        gauges.push(Gauge {
            part: Part { domain: Domain::Package, name: format!("package-{package}") },
            input: Input::Register(file, registers.package),
            count_nj,
            range: Some(RANGE),
        });
    }
    Ok(gauges)
}

pub(in crate::meters) fn explain_msr(error: &std::io::Error) -> String {
    match error.raw_os_error() {
        Some(libc::ENOENT) => "no such file (ENOENT): the kernel's module msr is not loaded".into(),
        Some(libc::EIO) => {
            "the processor has no such register, or a hypervisor hides it (EIO)".into()
        }
        _ => explain(error, RIGHT),
    }
}

/// Returns the registers of this vendor's processors.
fn registers(tree: &Tree) -> Result<Registers, String> {
    let text = tree.text("/proc/cpuinfo").unwrap_or_default();
    match field(&text, &["vendor_id"]) {
        Some("GenuineIntel")
            if number(&text, "cpu family") == 6
                && OTHER_UNITS.contains(&number(&text, "model")) =>
        {
            Err("the unit of this model of Intel's is not known here".to_owned())
        }
        Some("GenuineIntel") => Ok(INTEL),
        Some("AuthenticAMD" | "HygonGenuine") if number(&text, "cpu family") >= 0x17 => Ok(AMD),
        Some(vendor) => Err(format!("no registers of energy are known of {vendor} at this family")),
        None => Err("the processor's vendor is not known".to_owned()),
    }
}

fn number(cpuinfo: &str, name: &str) -> u32 {
    field(cpuinfo, &[name]).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// Returns the first CPU of each package, with the package's number; CPU 0 if the packages are
/// unknown.
fn packages(tree: &Tree) -> Vec<(usize, u64)> {
    let mut found: Vec<(usize, u64)> = Vec::new();
    let names = tree.names("/sys/devices/system/cpu");
    let mut cpus: Vec<usize> =
        names.iter().filter_map(|name| name.strip_prefix("cpu")?.parse().ok()).collect();
    cpus.sort_unstable();
    for cpu in cpus {
        let path = format!("/sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
        let Some(package) = tree.number(&path) else { continue };
        if !found.iter().any(|(_, known)| *known == package) {
            found.push((cpu, package));
        }
    }
    if found.is_empty() { vec![(0, 0)] } else { found }
}
