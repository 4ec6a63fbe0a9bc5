//! Groups of cores that share the same (socket, memory node, die, caches, cluster), in letters and
//! as a picture.

use super::*;
use crate::Cpu;
use crate::topology::grouped;
use std::collections::BTreeMap;

/// Cores that share the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// What they share, and how many they are: `socket 0, L3 of 32 MiB, 8 cores`.
    pub label: String,
    /// Whether there are faster ones.
    pub is_slow: bool,
    /// The CPUs of each.
    pub cores: Vec<Vec<usize>>,
}

impl Group {
    /// Writes the CPUs of each core: `0+64`.
    fn texts(&self) -> Vec<String> {
        let cores = self.cores.iter().map(|cpus| cpus.iter().map(usize::to_string));
        cores.map(|cpus| cpus.collect::<Vec<_>>().join("+")).collect()
    }
}

/// Returns the groups of the CPUs that are on.
pub(crate) fn groups(found: &Topology) -> Vec<Group> {
    let sets = sets(found);
    let mut groups: BTreeMap<(Vec<usize>, &str), BTreeMap<_, Vec<usize>>> = BTreeMap::new();
    for cpu in found.online() {
        let shared = (0..sets.len()).filter(|set| sets[*set].1.contains(&cpu.cpu)).collect();
        let name = match (cpu.core, cpu.kind) {
            (None, _) => "CPU",
            (_, Some(CoreKind::Performance)) => "fast core",
            (_, Some(CoreKind::Efficiency)) => "slow core",
            (_, None) => "core",
        };
        let core = cpu.core.ok_or(cpu.cpu);
        groups.entry((shared, name)).or_default().entry(core).or_default().push(cpu.cpu);
    }
    let groups = groups.into_iter().map(|((shared, name), cores)| {
        let shared = shared.into_iter().map(|set| sets[set].0.clone());
        let label = joined(shared.chain([count(cores.len() as u64, name)]));
        Group { label, is_slow: name == "slow core", cores: cores.into_values().collect() }
    });
    groups.collect()
}

/// Returns the sets of CPUs in which there are several cores, from the outermost, each with its
/// name. Dies are left out where each is a socket.
fn sets(found: &Topology) -> Vec<(String, Vec<usize>)> {
    let mut sets = Vec::new();
    let numbers: [fn(&Cpu) -> Option<usize>; 4] =
        [|cpu| cpu.package, |cpu| cpu.node, |cpu| cpu.die, |cpu| cpu.cluster];
    for (name, of) in ["socket", "memory node", "die", "cluster"].into_iter().zip(numbers) {
        if name != "die" || found.distinct(of) != found.sockets() {
            let numbered = grouped(&found.cpus, of).into_iter();
            sets.extend(numbered.map(|(number, cpus)| (format!("{name} {number}"), cpus)));
        }
    }
    for cache in (2..=5).rev().flat_map(|level| found.data_caches(level)) {
        let size = cache.size_bytes.map_or(String::new(), |size| format!(" of {}", bytes(size)));
        sets.push((name(cache) + &size, cache.cpus.clone()));
    }
    let cores = grouped(&found.cpus, |cpu| cpu.core);
    sets.retain(|(_, cpus)| {
        let several = cores.values().filter(|core| core.iter().any(|cpu| cpus.contains(cpu)));
        several.count() > 1
    });
    sets
}

/// Writes the groups, each with its cores.
pub(super) fn letters(found: &Topology, look: &Look) -> String {
    let groups = groups(found);
    let texts = groups.iter().map(|group| format!("{}: {}", group.label, group.texts().join(" ")));
    texts.map(|text| paragraph(Tone::Plain, text, look)).collect()
}

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 24.0;
/// The height of a line, and the width of a core.
const LINE: f64 = 24.0;
const CORE: f64 = 89.0;
/// Cores in a row.
const ROW: usize = 8;
const SHEET: Sheet = Sheet::new("tiebreak-topology", include_str!("groups.css"));

/// Draws a box a core, with the numbers of its CPUs, below what the cores of a group share.
///
/// One SVG document without external parts, readable on light and on dark ground; its height grows
/// with the number of cores.
pub(crate) fn svg(found: &Topology) -> String {
    let about = format!("{}. Threads of a core: {}.", counts(found), sharing(found));
    let (lines, groups) = (wrap_plain(&about, 100), groups(found));
    let rows: usize = groups.iter().map(|group| 1 + group.cores.len().div_ceil(ROW)).sum();
    let height = 2.0 * MARGIN + (1 + lines.len() + rows) as f64 * LINE;
    let mut scene = Scene::new(SHEET, WIDTH, height);
    let mut y = 30.0;
    scene.text("ink head", MARGIN, y, Anchor::Start, "Topology");
    for line in &lines {
        y += LINE;
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
    }
    for group in &groups {
        y += LINE;
        scene.text("ink small", MARGIN, y, Anchor::Start, &group.label);
        for row in group.texts().chunks(ROW) {
            y += LINE;
            for (at, text) in row.iter().enumerate() {
                let x = MARGIN + at as f64 * CORE;
                let class = if group.is_slow { "slow" } else { "core" };
                scene.area(class, &corners(x, y - 14.0, CORE - 4.0, LINE - 4.0));
                scene.text("ink small", x + CORE / 2.0 - 2.0, y, Anchor::Middle, text);
            }
        }
    }
    scene.finish("Topology", &about)
}
