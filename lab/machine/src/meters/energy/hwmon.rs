//! Sensors that count energy: `energyN_input`, in microjoules, with a label.

use super::gauge::{Domain, Gauge, Part};
use crate::tree::Tree;

/// The folder of the sensors.
pub(super) const FOLDER: &str = "/sys/class/hwmon";

const RIGHT: &str =
    "the driver lets only root read it: run as root, or grant the file to this user";

/// The drivers of graphics cards, whose counts are not the processor's.
const GRAPHICS_CARDS: [&str; 4] = ["amdgpu", "i915", "nouveau", "xe"];

/// Opens all sensors. `amd_energy` has sockets (`Esocket0`) and cores (`Ecore000`). For another
/// driver, a single sensor counts as the board; of several, it is unknown which contain which.
/// Sensors that cannot be read are left out, except sockets.
pub(super) fn open(tree: &Tree) -> Result<Vec<Gauge>, String> {
    let mut gauges = Vec::new();
    let (mut left_out, mut unread) = (Vec::new(), Vec::new());
    for device in tree.read_names(FOLDER)? {
        let folder = format!("{FOLDER}/{device}");
        let Some(driver) = tree.text(&format!("{folder}/name")) else { continue };
        let inputs = inputs(tree, &folder);
        if GRAPHICS_CARDS.contains(&driver.as_str()) {
            if !inputs.is_empty() {
                left_out.push(format!("{driver} is a graphics card's"));
            }
            continue;
        }
        for input in inputs {
            let part = part(tree, &folder, &driver, input);
            let is_headline = part.domain == Domain::Package;
            // The drivers add up in 64 bits what their registers count in fewer.
            let path = format!("{folder}/energy{input}_input");
            match Gauge::of_microjoules(tree, &path, RIGHT, part) {
                Ok(gauge) => gauges.push(gauge),
                // The sum of the other sockets would be too small.
                Err(error) if is_headline => return Err(error),
                Err(error) => unread.push(error),
            }
        }
    }
    let [packages, boards] = [Domain::Package, Domain::Board]
        .map(|domain| gauges.iter().filter(|gauge| gauge.part.domain == domain).count());
    // A sensor that cannot be read may be the one that covers the whole board.
    let is_alone = boards == 1 && unread.is_empty();
    if packages > 0 || is_alone {
        return Ok(gauges);
    }
    if boards > 0 {
        let names: Vec<_> = gauges.iter().map(|gauge| gauge.part.name.as_str()).collect();
        left_out.push(format!("which of {} covers the whole is not known", names.join(", ")));
    }
    left_out.extend(unread);
    if left_out.is_empty() {
        return Err("no sensor counts energy".to_owned());
    }
    Err(left_out.join("; "))
}

/// Returns the numbers N of a device's `energyN_input`, sorted.
fn inputs(tree: &Tree, folder: &str) -> Vec<u32> {
    let names = tree.names(folder);
    let numbers =
        names.iter().filter_map(|name| name.strip_prefix("energy")?.strip_suffix("_input"));
    let mut numbers: Vec<u32> = numbers.filter_map(|number| number.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn part(tree: &Tree, folder: &str, driver: &str, input: u32) -> Part {
    let label = tree.text(&format!("{folder}/energy{input}_label"));
    let name = label.unwrap_or_else(|| format!("energy{input}"));
    match name.as_str() {
        socket if socket.starts_with("Esocket") => Part { domain: Domain::Package, name },
        core if core.starts_with("Ecore") => Part { domain: Domain::Cores, name },
        _ => Part { domain: Domain::Board, name: format!("{driver} {name}") },
    }
}
