//! Groups of cores that share the same (socket, memory node, die, caches, cluster), in letters and
//! as a picture.

use super::*;
use crate::Cpu;
use crate::topology::grouped;
use std::collections::BTreeMap;

/// Cores that share the same.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Group {
    /// What they share: `socket 0, L3 of 32 MiB`; empty if nothing is known.
    pub shared: String,
    /// `core`, `fast core`, `slow core`, or `CPU` where no core is known.
    pub name: &'static str,
    /// The CPUs of each.
    pub cores: Vec<Vec<usize>>,
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
        let shared = joined(shared.into_iter().map(|set| sets[set].0.clone()));
        Group { shared, name, cores: cores.into_values().collect() }
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

/// Writes the groups: what the cores share, then the cores, as many as fit on a line.
pub(super) fn letters(found: &Topology, look: &Look) -> String {
    let mut page = Page::new(*look);
    for Group { shared, name, cores } in groups(found) {
        if !shared.is_empty() {
            page.paragraph("", &[span(Tone::Plain, shared)]);
        }
        let count = count(cores.len() as u64, name);
        let cores: Vec<String> = cores.iter().map(|cpus| core(found, cpus)).collect();
        page.paragraph("  ", &[span(Tone::Plain, format!("{count}: {}", cores.join(" ")))]);
    }
    if found.online().any(|cpu| !cpu.is_allowed) {
        let text = "CPUs in brackets may not be used by this process.";
        page.paragraph("", &[span(Tone::Dim, text)]);
    }
    page.finish()
}

/// Writes the CPUs of a core, `0+64`; those that this process may not use are in brackets.
fn core(found: &Topology, cpus: &[usize]) -> String {
    let cpus = found.cpus.iter().filter(|cpu| cpus.contains(&cpu.cpu));
    let cpus = cpus.map(|Cpu { cpu, is_allowed, .. }| match is_allowed {
        true => cpu.to_string(),
        false => format!("({cpu})"),
    });
    cpus.collect::<Vec<_>>().join("+")
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
    let about = format!(
        "{}. Threads of a core: {}. Green: slow cores. CPUs in brackets: not for this process.",
        counts(found),
        sharing(found)
    );
    let lines = wrap_plain(&about, 100);
    let groups = groups(found);
    let rows: usize = groups.iter().map(|group| 1 + group.cores.len().div_ceil(ROW)).sum();
    let height = 2.0 * MARGIN + (1 + lines.len() + rows) as f64 * LINE;
    let mut scene = Scene::new(SHEET, WIDTH, height);
    scene.text("ink head", MARGIN, 30.0, Anchor::Start, "Topology");
    let mut y = 30.0;
    for line in &lines {
        y += LINE;
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
    }
    for Group { shared, name, cores } in &groups {
        y += LINE;
        scene.text("ink small", MARGIN, y, Anchor::Start, shared);
        for row in cores.chunks(ROW) {
            y += LINE;
            for (at, cpus) in row.iter().enumerate() {
                let x = MARGIN + at as f64 * CORE;
                let class = if *name == "slow core" { "slow" } else { "core" };
                scene.area(class, &corners(x, y - 14.0, CORE - 4.0, LINE - 4.0));
                let (middle, text) = (x + CORE / 2.0 - 2.0, core(found, cpus));
                scene.text("ink small", middle, y, Anchor::Middle, &text);
            }
        }
    }
    scene.finish("Topology", &about)
}
