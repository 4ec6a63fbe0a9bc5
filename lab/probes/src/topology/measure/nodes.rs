//! Memory nodes.

use crate::Node;
use tiebreak_machine::cpus::parse_list;
use tiebreak_machine::tree::Tree;

const FOLDER: &str = "/sys/devices/system/node";

/// Nodes that add up to another amount than the whole, by more than one part of so many, do not
/// tell what they have.
const PART: u64 = 100;

/// The memory nodes, in the order of their numbers; none if the kernel tells none.
///
/// A hypervisor may give memory later than it is told: the kernel then counts it in the whole from
/// the beginning, and in its node when it comes. So the only node has the whole, and of several
/// that do not add up to it nothing is known.
pub(super) fn read(tree: &Tree, memory_bytes: Option<u64>) -> Vec<Node> {
    let mut numbers: Vec<usize> = tree
        .names(FOLDER)
        .iter()
        .filter_map(|name| name.strip_prefix("node")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    let mut nodes: Vec<Node> = numbers.into_iter().map(|node| one(tree, node)).collect();
    let Some(whole) = memory_bytes else { return nodes };
    let sum: u64 = nodes.iter().filter_map(|node| node.memory_bytes).sum();
    let is_only = nodes.len() == 1;
    if sum.abs_diff(whole) > whole / PART {
        nodes.iter_mut().for_each(|node| node.memory_bytes = None);
    }
    if is_only {
        nodes[0].memory_bytes = Some(whole);
    }
    nodes
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
