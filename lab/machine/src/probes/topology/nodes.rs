//! Memory nodes.

use crate::cpus::parse_list;
use crate::tree::Tree;
use tiebreak_core::machine::Node;

const FOLDER: &str = "/sys/devices/system/node";

/// The memory nodes, in the order of their numbers; none if the kernel tells none.
pub(super) fn read(tree: &Tree) -> Vec<Node> {
    let mut numbers: Vec<usize> = tree
        .names(FOLDER)
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    numbers.into_iter().map(|node| one(tree, node)).collect()
}

fn one(tree: &Tree, node: usize) -> Node {
    let text = |file: &str| tree.text(&format!("{FOLDER}/node{node}/{file}"));
    let distances = text("distance").unwrap_or_default();
    let distances: Option<Vec<u64>> =
        distances.split_ascii_whitespace().map(|word| word.parse().ok()).collect();
    Node {
        node,
        cpus: text("cpulist").and_then(|text| parse_list(&text)).unwrap_or_default(),
        memory_bytes: tree.kib_bytes(&format!("{FOLDER}/node{node}/meminfo"), "MemTotal"),
        distances: distances.unwrap_or_default(),
    }
}
