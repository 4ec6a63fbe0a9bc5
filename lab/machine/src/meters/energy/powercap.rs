//! The powercap tree. AMD processors appear in it as `intel-rapl:*` too.

use super::gauge::{Domain, Gauge, Part};
use crate::tree::Tree;

/// The folder of the zones.
pub(super) const FOLDER: &str = "/sys/class/powercap";

const RIGHT: &str = "since Linux 5.10 only root may read it: run as root, or grant the file to \
                     this user";

/// Opens the gauges of all zones: packages (`intel-rapl:0`), their parts (`intel-rapl:0:1`), and
/// the platform.
pub(super) fn open(tree: &Tree) -> Result<Vec<Gauge>, String> {
    let zones = tree.read_names(FOLDER)?;
    let mut gauges: Vec<Gauge> = Vec::new();
    // The memory-mapped twin (intel-rapl-mmio) shows the same packages a second time.
    let (twins, first): (Vec<_>, Vec<_>) = zones.iter().partition(|zone| zone.contains("mmio"));
    for zone in first.into_iter().chain(twins) {
        let folder = format!("{FOLDER}/{zone}");
        // The folder of a control type has no name, so it is not a zone.
        let Ok(name) = tree.read(&format!("{folder}/name"), RIGHT) else { continue };
        let Some(domain) = Domain::of_powercap(&name) else { continue };
        let part = Part { domain, name: full_name(tree, zone, name) };
        if gauges.iter().any(|gauge| gauge.part == part) {
            continue;
        }
        match zone_gauge(tree, &folder, part) {
            Ok(gauge) => gauges.push(gauge),
            Err(error) if domain == Domain::Package => return Err(error),
            // A missing part is no reason to give up the package.
            Err(_) => {}
        }
    }
    if gauges.iter().any(|gauge| gauge.part.domain == Domain::Package) {
        Ok(gauges)
    } else {
        Err("no zone of a package".to_owned())
    }
}

/// Returns `package-1 dram` for a zone in another zone, whose own name is not unique.
fn full_name(tree: &Tree, zone: &str, name: String) -> String {
    let inside = zone.rsplit_once(':').filter(|(outer, _)| outer.contains(':'));
    let outer = inside.and_then(|(outer, _)| tree.text(&format!("{FOLDER}/{outer}/name")));
    outer.map_or(name.clone(), |outer| format!("{outer} {name}"))
}

fn zone_gauge(tree: &Tree, folder: &str, part: Part) -> Result<Gauge, String> {
    let path = format!("{folder}/energy_uj");
    let gauge = Gauge::of_microjoules(tree, &path, RIGHT, part)?;
    let range = tree.read_number(&format!("{folder}/max_energy_range_uj"), RIGHT)?;
    Ok(Gauge { range: Some(range), ..gauge })
}
