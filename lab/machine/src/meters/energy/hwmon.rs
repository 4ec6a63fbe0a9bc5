//! Sensors that count energy: `energyN_input`, in microjoules, with a label.

use super::gauge::{Gauge, Input};
use super::part::{Domain, Part};
use crate::refusal::{explain, names, number};
use crate::tree::Tree;
use std::fs::File;

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
    for device in names(tree, FOLDER)? {
        let folder = format!("{FOLDER}/{device}");
        let Some(driver) = tree.text(&format!("{folder}/name")) else { continue };
        let inputs = inputs(tree, &folder);
        match GRAPHICS_CARDS.contains(&driver.as_str()) {
            true if !inputs.is_empty() => left_out.push(format!("{driver} is a graphics card's")),
            true => {}
            false => {
                for input in inputs {
                    let part = part(tree, &folder, &driver, input);
                    let is_headline = part.domain == Domain::Package;
                    match gauge(tree, &folder, input, part) {
                        Ok(gauge) => gauges.push(gauge),
                        // The sum of the other sockets would be too small.
                        Err(error) if is_headline => return Err(error),
                        Err(error) => unread.push(error),
                    }
                }
            }
        }
    }
    let count = |domain: Domain| gauges.iter().filter(|gauge| gauge.part.domain == domain).count();
    // A sensor that cannot be read may be the one that covers the whole board.
    let is_alone = count(Domain::Board) == 1 && unread.is_empty();
    if count(Domain::Package) > 0 || is_alone {
        return Ok(gauges);
    }
    if count(Domain::Board) > 0 {
        let names = gauges.iter().map(|gauge| gauge.part.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        left_out.push(format!("which of {names} covers the whole is not known"));
    }
    left_out.extend(unread);
    Err(match left_out.as_slice() {
        [] => "no sensor counts energy".to_owned(),
        reasons => reasons.join("; "),
    })
}

/// Returns the numbers N of a device's `energyN_input`, sorted.
fn inputs(tree: &Tree, folder: &str) -> Vec<u32> {
    let number =
        |name: String| name.strip_prefix("energy")?.strip_suffix("_input")?.parse::<u32>().ok();
    let mut numbers: Vec<_> = tree.names(folder).into_iter().filter_map(number).collect();
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

fn gauge(tree: &Tree, folder: &str, input: u32, part: Part) -> Result<Gauge, String> {
    let path = format!("{folder}/energy{input}_input");
    number(tree, &path, RIGHT)?;
    let file = File::open(tree.path(&path)).map_err(|error| explain(&error, RIGHT))?;
    // The drivers add up in 64 bits what their registers count in fewer.
    Ok(Gauge { part, input: Input::Text(file), count_nj: 1000.0, range: None })
}
