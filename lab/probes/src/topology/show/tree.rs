//! Arranges CPUs as a tree (socket, memory node, die, cache, cluster, core), and draws it in
//! letters.

use super::*;
use crate::Cpu;
use unicode_width::UnicodeWidthStr;

/// CPUs that belong together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Branch {
    /// What they are together: `socket 0`, `L3: 32 MiB`; of a core its number.
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
        if let Some(part) = parts.find(|part| branch.cpus.iter().all(|cpu| part.cpus.contains(cpu)))
        {
            part.insert(branch);
        } else if !self
            .parts
            .iter()
            .flat_map(|part| &part.cpus)
            .any(|cpu| branch.cpus.contains(cpu))
        {
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
    all.extend(nodes(found));
    let dies = named(found, "die", |cpu| cpu.die);
    if Some(dies.len()) != found.sockets() {
        all.extend(dies);
    }
    all.extend(caches(found));
    all.extend(named(found, "cluster", |cpu| cpu.cluster).into_iter().filter(|branch| {
        // The CPUs of a cluster may be those of a cache, which is a branch already.
        has_several_cores(found, &branch.cpus)
            && !found.caches.iter().any(|cache| cache.cpus == branch.cpus)
    }));
    all.extend(cores(found));
    // The larger one holds the smaller one; of equal ones the one that was named first.
    all.sort_by_key(|branch| std::cmp::Reverse(branch.cpus.len()));
    all.into_iter().for_each(|branch| root.insert(branch));
    root.sort();
    root
}

/// Returns a branch for each value of a property.
fn named(found: &Topology, name: &str, of: fn(&Cpu) -> Option<usize>) -> Vec<Branch> {
    let groups = grouped(found, of).into_iter();
    groups.map(|(number, cpus)| Branch::new(format!("{name} {number}"), cpus)).collect()
}

/// Returns the CPUs that are on of each value of a property, in the order of the values.
fn grouped(found: &Topology, of: impl Fn(&Cpu) -> Option<usize>) -> Vec<(usize, Vec<usize>)> {
    let mut groups = std::collections::BTreeMap::<usize, Vec<usize>>::new();
    for cpu in found.online() {
        if let Some(value) = of(cpu) {
            groups.entry(value).or_default().push(cpu.cpu);
        }
    }
    groups.into_iter().collect()
}

fn nodes(found: &Topology) -> Vec<Branch> {
    let groups = grouped(found, |cpu| cpu.node).into_iter();
    groups
        .map(|(number, cpus)| {
            let node = found.nodes.iter().find(|node| node.node == number);
            let memory = node.and_then(|node| node.memory_bytes);
            let memory = memory.map_or(String::new(), |size| format!(": {}", bytes(size)));
            Branch::new(format!("memory node {number}{memory}"), cpus)
        })
        .collect()
}

/// Caches that hold data and are shared by several cores.
fn caches(found: &Topology) -> Vec<Branch> {
    let mut branches = Vec::new();
    let last = found.caches.iter().map(|cache| cache.level).max();
    for level in (2..=5).rev() {
        for cache in found.data_caches(level) {
            let online = found.online().map(|cpu| cpu.cpu);
            let cpus: Vec<usize> = online.filter(|cpu| cache.cpus.contains(cpu)).collect();
            if cpus.is_empty() || (Some(level) != last && !has_several_cores(found, &cpus)) {
                continue;
            }
            let size = cache.size_bytes.map(|size| format!(": {}", bytes(size)));
            branches.push(Branch::new(format!("L{level}{}", size.unwrap_or_default()), cpus));
        }
    }
    branches
}

fn has_several_cores(found: &Topology, cpus: &[usize]) -> bool {
    let mut cores = found.online().filter(|cpu| cpus.contains(&cpu.cpu)).filter_map(|cpu| cpu.core);
    let first = cores.next();
    cores.any(|core| Some(core) != first)
}

/// Returns the cores; of CPUs whose core is not known each by itself.
fn cores(found: &Topology) -> Vec<Branch> {
    let known = grouped(found, |cpu| cpu.core).into_iter();
    let unknown = found.online().filter(|cpu| cpu.core.is_none());
    known
        .map(|(core, cpus)| (core.to_string(), cpus))
        .chain(unknown.map(|cpu| (String::new(), vec![cpu.cpu])))
        .map(|(label, cpus)| {
            let kind = found.cpus.iter().find(|cpu| cpu.cpu == cpus[0]).and_then(|cpu| cpu.kind);
            Branch { kind, is_core: !label.is_empty(), ..Branch::new(label, cpus) }
        })
        .collect()
}

/// More cores than this in one place are listed on one line.
const LINES: usize = 4;

/// Draws the tree, a line a branch; where there are many cores in one place, they share lines.
pub(super) fn draw(page: &mut Page, found: &Topology, look: Look) {
    let drawing = Drawing { allowed: allowed(found) };
    let root = tree(found);
    for part in drawing.lines(&root.parts) {
        part.write(page, "", "", "", look);
    }
    let off: Vec<String> =
        found.cpus.iter().filter(|cpu| !cpu.is_online).map(|cpu| cpu.cpu.to_string()).collect();
    let mut notes = Vec::new();
    if found.online().any(|cpu| !cpu.is_allowed) {
        notes.push("CPUs in brackets may not be used by this process.".to_owned());
    }
    if !off.is_empty() {
        notes.push(format!("Off: CPU {}.", off.join(", ")));
    }
    if !notes.is_empty() {
        page.paragraph("", &[span(Tone::Dim, notes.join(" "))]);
    }
}

struct Drawing {
    allowed: Vec<usize>,
}

/// What one line, or a paragraph, says, and what hangs below it.
struct Line {
    text: String,
    below: Vec<Line>,
}

impl Drawing {
    fn lines(&self, parts: &[Branch]) -> Vec<Line> {
        let mut lines = Vec::new();
        let mut rest = parts;
        while let Some(first) = rest.first() {
            if !first.parts.is_empty() {
                let below = self.lines(&first.parts);
                lines.push(Line { text: first.label.clone(), below });
                rest = &rest[1..];
                continue;
            }
            let alike = rest.iter().take_while(|part| {
                part.parts.is_empty() && (part.is_core, part.kind) == (first.is_core, first.kind)
            });
            let (run, others) = rest.split_at(alike.count());
            if run.len() > LINES {
                lines.push(leaf(self.many(run)));
            } else {
                lines.extend(run.iter().map(|part| leaf(self.one(part))));
            }
            rest = others;
        }
        lines
    }

    /// `core 3: CPUs 3 and 67`.
    fn one(&self, part: &Branch) -> String {
        let cpus = match self.cpus(part).as_slice() {
            [only] => format!("CPU {only}"),
            [first, second] => format!("CPUs {first} and {second}"),
            all => format!("CPUs {}", all.join(", ")),
        };
        if part.is_core { format!("{}core {}: {cpus}", kind(part), part.label) } else { cpus }
    }

    /// `16 cores, CPUs 0+64 1+65 ...`: the threads of a core are joined by a sign.
    fn many(&self, parts: &[Branch]) -> String {
        let list: Vec<String> = parts.iter().map(|part| self.cpus(part).join("+")).collect();
        let what = if parts[0].is_core {
            format!("{} {}cores", parts.len(), kind(&parts[0]))
        } else {
            format!("{} CPUs", parts.len())
        };
        // The first number stays with the words.
        format!("{what}, CPUs{NO_BREAK}{}", list.join(" "))
    }

    fn cpus(&self, part: &Branch) -> Vec<String> {
        let cpus = part.cpus.iter().map(|cpu| (cpu, self.allowed.contains(cpu)));
        cpus.map(|(cpu, is_on)| if is_on { cpu.to_string() } else { format!("({cpu})") }).collect()
    }
}

fn kind(part: &Branch) -> &'static str {
    match part.kind {
        Some(CoreKind::Performance) => "fast ",
        Some(CoreKind::Efficiency) => "slow ",
        None => "",
    }
}

fn leaf(text: String) -> Line {
    Line { text, below: Vec::new() }
}

impl Line {
    /// Writes it behind `branch`, further lines of its own and what is below behind `below`.
    fn write(&self, page: &mut Page, indent: &str, branch: &str, below: &str, look: Look) {
        let [fork, end, pipe] = look
            .pick(["\u{251c}\u{2500} ", "\u{2514}\u{2500} ", "\u{2502}  "], ["|- ", "`- ", "|  "]);
        let behind = format!("{indent}{below}");
        let rope = if self.below.is_empty() { "   " } else { pipe };
        let room = look.columns().saturating_sub(behind.width() + rope.width());
        let lines = wrap_plain(&self.text, room);
        for (index, line) in lines.iter().enumerate() {
            let lead = match index {
                0 => format!("{indent}{branch}"),
                _ => format!("{behind}{rope}"),
            };
            page.line(&[span(Tone::Plain, format!("{lead}{line}"))]);
        }
        for (index, line) in self.below.iter().enumerate() {
            let is_last = index + 1 == self.below.len();
            let (branch, below) = if is_last { (end, "   ") } else { (fork, pipe) };
            line.write(page, &behind, branch, below, look);
        }
    }
}
