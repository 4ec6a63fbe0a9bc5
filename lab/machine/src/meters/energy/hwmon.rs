//! Sensors that count energy: `energyN_input`, in microjoules, with a label.

use super::gauge::{Gauge, Input};
use super::part::{Domain, Part};
use super::refusal::{explain, names, number};
use crate::tree::Tree;
use std::fs::File;

/// Where sensors lie.
pub(super) const FOLDER: &str = "/sys/class/hwmon";

const RIGHT: &str =
    "the driver lets only root read it: run as root, or grant the file to this user";

/// Drivers of graphics cards: what they count is not the processor's.
const GRAPHICS_CARDS: [&str; 4] = ["amdgpu", "i915", "nouveau", "xe"];

/// Opens all sensors. `amd_energy` has sockets (`Esocket0`) and cores (`Ecore000`); of another
/// driver a sensor alone is taken for the board, and of several it cannot be known which lie in
/// which others.
pub(super) fn open(tree: &Tree) -> Result<Vec<Gauge>, String> {
    let mut gauges = Vec::new();
    let mut left_out = Vec::new();
    for device in names(tree, FOLDER)? {
        let folder = format!("{FOLDER}/{device}");
        let Some(driver) = tree.text(&format!("{folder}/name")) else { continue };
        let inputs = inputs(tree, &folder);
        match GRAPHICS_CARDS.contains(&driver.as_str()) {
            true if !inputs.is_empty() => left_out.push(format!("{driver} is a graphics card's")),
            true => {}
            false => {
                for input in inputs {
                    gauges.push(gauge(tree, &folder, &driver, input)?);
                }
            }
        }
    }
    let count = |domain: Domain| gauges.iter().filter(|gauge| gauge.part.domain == domain).count();
    if count(Domain::Package) > 0 || count(Domain::Board) == 1 {
        return Ok(gauges);
    }
    if count(Domain::Board) > 1 {
        let names = gauges.iter().map(|gauge| gauge.part.name.as_str());
        let names = names.collect::<Vec<_>>().join(", ");
        left_out.push(format!("which of {names} covers the whole is not known"));
    }
    Err(match left_out.as_slice() {
        [] => "no sensor counts energy".to_owned(),
        reasons => reasons.join("; "),
    })
}

/// The numbers N of a device's `energyN_input`, sorted.
fn inputs(tree: &Tree, folder: &str) -> Vec<u32> {
    let number =
        |name: String| name.strip_prefix("energy")?.strip_suffix("_input")?.parse::<u32>().ok();
    let mut numbers: Vec<_> = tree.names(folder).into_iter().filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

fn gauge(tree: &Tree, folder: &str, driver: &str, input: u32) -> Result<Gauge, String> {
    let path = format!("{folder}/energy{input}_input");
    number(tree, &path, RIGHT)?;
    let file = File::open(tree.path(&path)).map_err(|error| explain(&error, RIGHT))?;
    let label = tree.text(&format!("{folder}/energy{input}_label"));
    let name = label.unwrap_or_else(|| format!("energy{input}"));
    let part = match name.as_str() {
        socket if socket.starts_with("Esocket") => Part { domain: Domain::Package, name },
        core if core.starts_with("Ecore") => Part { domain: Domain::Cores, name },
        _ => Part { domain: Domain::Board, name: format!("{driver} {name}") },
    };
    // The drivers add up in 64 bits what their registers count in fewer.
    Ok(Gauge { part, input: Input::Text(file), count_nj: 1000.0, range: None })
}
