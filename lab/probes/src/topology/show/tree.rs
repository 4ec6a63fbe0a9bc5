//! Arranges CPUs as a tree (socket, memory node, die, cache, cluster, core), and draws it in
//! letters.

use super::*;
use crate::Cpu;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// CPUs that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Branch {
    /// What they are together: `socket 0`, `L3: 32 MiB`; empty of a core.
    pub label: String,
    /// Their numbers.
    pub cpus: Vec<usize>,
    /// Whether it is a core.
    pub is_core: bool,
    /// Of a core its kind, where there are several.
    pub kind: Option<CoreKind>,
    /// What it consists of; CPUs of their own, where no core is known, are branches too.
    pub parts: Vec<Branch>,
}

impl Branch {
    fn new(label: String, cpus: Vec<usize>) -> Branch {
        Branch { label, cpus, is_core: false, kind: None, parts: Vec::new() }
    }

    /// Puts a branch where it belongs: into the deepest one that holds all its CPUs. One that lies
    /// across others has no place and is dropped.
    fn insert(&mut self, branch: Branch) {
        let mut parts = self.parts.iter_mut();
        let holder = parts.find(|part| branch.cpus.iter().all(|cpu| part.cpus.contains(cpu)));
        if let Some(part) = holder {
            part.insert(branch);
            return;
        }
        let mut taken = self.parts.iter().flat_map(|part| &part.cpus);
        if !taken.any(|cpu| branch.cpus.contains(cpu)) {
            self.parts.push(branch);
        }
    }

    fn sort(&mut self) {
        self.parts.sort_by_key(|part| part.cpus.first().copied());
        self.parts.iter_mut().for_each(Branch::sort);
    }
}

/// Returns the tree of the CPUs that are on; its root stands for the machine.
pub(crate) fn tree(found: &Topology) -> Branch {
    let cpus = found.online().map(|cpu| cpu.cpu).collect();
    let mut root = Branch::new(String::new(), cpus);
    let mut all = named(found, "socket", |cpu| cpu.package);
    all.extend(grouped(found, |cpu| cpu.node).into_iter().map(|(number, cpus)| {
        let node = found.nodes.iter().find(|node| node.node == number);
        let label = format!("memory node {number}");
        Branch::new(with_size(label, node.and_then(|node| node.memory_bytes)), cpus)
    }));
    let dies = named(found, "die", |cpu| cpu.die);
    if Some(dies.len()) != found.sockets() {
        all.extend(dies);
    }
    all.extend(caches(found));
    // The CPUs of a cluster may be those of a cache, which is a branch already.
    all.extend(named(found, "cluster", |cpu| cpu.cluster).into_iter().filter(|branch| {
        has_several_cores(found, &branch.cpus)
            && !found.caches.iter().any(|cache| cache.cpus == branch.cpus)
    }));
    let cores = grouped(found, |cpu| cpu.core).into_values().map(|cpus| (true, cpus));
    let unknown = found.online().filter(|cpu| cpu.core.is_none()).map(|cpu| (false, vec![cpu.cpu]));
    all.extend(cores.chain(unknown).map(|(is_core, cpus)| {
        let kind = found.cpus.iter().find(|cpu| cpu.cpu == cpus[0]).and_then(|cpu| cpu.kind);
        Branch { kind, is_core, ..Branch::new(String::new(), cpus) }
    }));
    // The larger one holds the smaller one; of equal ones the one that was named first.
    all.sort_by_key(|branch| std::cmp::Reverse(branch.cpus.len()));
    all.into_iter().for_each(|branch| root.insert(branch));
    root.sort();
    root
}

/// Returns the CPUs that are on of each value of a property, in the order of the values.
fn grouped(found: &Topology, of: fn(&Cpu) -> Option<usize>) -> BTreeMap<usize, Vec<usize>> {
    let mut groups = BTreeMap::<usize, Vec<usize>>::new();
    for (cpu, value) in found.online().filter_map(|cpu| Some((cpu.cpu, of(cpu)?))) {
        groups.entry(value).or_default().push(cpu);
    }
    groups
}

/// Returns a branch for each value of a property.
fn named(found: &Topology, name: &str, of: fn(&Cpu) -> Option<usize>) -> Vec<Branch> {
    let groups = grouped(found, of).into_iter();
    groups.map(|(number, cpus)| Branch::new(format!("{name} {number}"), cpus)).collect()
}

fn with_size(label: String, size_bytes: Option<u64>) -> String {
    label + &size_bytes.map_or(String::new(), |size| format!(": {}", bytes(size)))
}

/// Caches that hold data and are shared by several cores, and those of the last level.
fn caches(found: &Topology) -> Vec<Branch> {
    let mut branches = Vec::new();
    let last = found.caches.iter().map(|cache| cache.level).max();
    for cache in (2..=5).rev().flat_map(|level| found.data_caches(level)) {
        let online = found.online().map(|cpu| cpu.cpu);
        let cpus: Vec<usize> = online.filter(|cpu| cache.cpus.contains(cpu)).collect();
        let is_last = Some(cache.level) == last && !cpus.is_empty();
        if is_last || has_several_cores(found, &cpus) {
            branches.push(Branch::new(with_size(name(cache), cache.size_bytes), cpus));
        }
    }
    branches
}

fn has_several_cores(found: &Topology, cpus: &[usize]) -> bool {
    let mut cores = found.online().filter(|cpu| cpus.contains(&cpu.cpu)).filter_map(|cpu| cpu.core);
    let first = cores.next();
    cores.any(|core| Some(core) != first)
}

/// Draws the tree, a line a branch; the cores of one place share lines.
pub(super) fn draw(page: &mut Page, found: &Topology, look: Look) {
    let allowed = allowed(found);
    draw_parts(page, &tree(found).parts, &allowed, None, look);
    let off = found.cpus.iter().filter(|cpu| !cpu.is_online);
    let off = joined(off.map(|cpu| cpu.cpu.to_string()));
    let mut notes = Vec::new();
    if found.online().any(|cpu| !cpu.is_allowed) {
        notes.push("CPUs in brackets may not be used by this process.".to_owned());
    }
    if !off.is_empty() {
        notes.push(format!("Off: CPU {off}."));
    }
    if !notes.is_empty() {
        page.paragraph("", &[span(Tone::Dim, notes.join(" "))]);
    }
}

/// Writes parts below each other, and what they consist of below each, behind `indent`; those of
/// the root hang on nothing.
fn draw_parts(
    page: &mut Page,
    parts: &[Branch],
    allowed: &[usize],
    indent: Option<&str>,
    look: Look,
) {
    let [fork, end, pipe] =
        look.pick(["\u{251c}\u{2500} ", "\u{2514}\u{2500} ", "\u{2502}  "], ["|- ", "`- ", "|  "]);
    let runs = parts.chunk_by(|a, b| {
        let are_leaves = a.parts.is_empty() && b.parts.is_empty();
        are_leaves && (a.is_core, a.kind) == (b.is_core, b.kind)
    });
    let mut runs = runs.peekable();
    while let Some(run) = runs.next() {
        let is_last = runs.peek().is_none();
        let (lead, below) = match (indent, is_last) {
            (None, _) => ("", ""),
            (_, true) => (end, "   "),
            (_, false) => (fork, pipe),
        };
        let is_leaf = run[0].parts.is_empty();
        let text = if is_leaf { leaves(run, allowed) } else { run[0].label.clone() };
        let indent = indent.unwrap_or_default();
        let behind = format!("{indent}{below}");
        let further = format!("{behind}{}", if is_leaf { "   " } else { pipe });
        let room = look.columns().saturating_sub(further.width());
        for (index, line) in wrap_plain(&text, room).iter().enumerate() {
            let lead = if index == 0 { &format!("{indent}{lead}") } else { &further };
            page.line(&[span(Tone::Plain, format!("{lead}{line}"))]);
        }
        draw_parts(page, &run[0].parts, allowed, Some(&behind), look);
    }
}

/// `16 cores, CPUs 0+64 1+65 ...`: the threads of a core are joined by a sign.
fn leaves(run: &[Branch], allowed: &[usize]) -> String {
    let kind = match run[0].kind {
        Some(CoreKind::Performance) => "fast ",
        Some(CoreKind::Efficiency) => "slow ",
        None => "",
    };
    let cpus = run.iter().map(|part| {
        let cpus = part
            .cpus
            .iter()
            .map(|cpu| if allowed.contains(cpu) { cpu.to_string() } else { format!("({cpu})") });
        cpus.collect::<Vec<_>>().join("+")
    });
    let cpus = cpus.collect::<Vec<_>>().join(" ");
    if !run[0].is_core {
        return format!("{}: {cpus}", count(run.len() as u64, "CPU"));
    }
    // The first number stays with the words.
    format!("{}, CPUs{NO_BREAK}{cpus}", count(run.len() as u64, &format!("{kind}core")))
}
