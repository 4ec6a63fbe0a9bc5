//! The tree in letters.

use super::tree::{Branch, tree};
use super::*;
use unicode_width::UnicodeWidthStr;

/// More cores than this in one place are told in a list.
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
            let is_leaf = first.parts.is_empty();
            let alike = |part: &&Branch| {
                is_leaf
                    && part.parts.is_empty()
                    && (part.is_core, part.kind) == (first.is_core, first.kind)
            };
            let run = rest.iter().take_while(alike).count();
            let taken = run.max(1);
            match is_leaf {
                true if run > LINES => lines.push(leaf(self.many(&rest[..run]))),
                true => lines.extend(rest[..run].iter().map(|part| leaf(self.one(part)))),
                false => {
                    lines.push(Line { text: first.label.clone(), below: self.lines(&first.parts) })
                }
            }
            rest = &rest[taken..];
        }
        lines
    }

    /// `core 3: CPUs 3 and 67`.
    fn one(&self, part: &Branch) -> String {
        let cpus: Vec<String> = part.cpus.iter().map(|cpu| self.cpu(*cpu)).collect();
        let cpus = match cpus.as_slice() {
            [only] => format!("CPU {only}"),
            [first, second] => format!("CPUs {first} and {second}"),
            all => format!("CPUs {}", all.join(", ")),
        };
        if part.is_core { format!("{}core {}: {cpus}", kind(part), part.label) } else { cpus }
    }

    /// `16 cores, CPUs 0+64 1+65 ...`: the threads of a core are joined by a sign.
    fn many(&self, parts: &[Branch]) -> String {
        let core = |part: &Branch| {
            let cpus: Vec<String> = part.cpus.iter().map(|cpu| self.cpu(*cpu)).collect();
            cpus.join("+")
        };
        let list: Vec<String> = parts.iter().map(core).collect();
        let what = if parts[0].is_core {
            format!("{} {}cores", parts.len(), kind(&parts[0]))
        } else {
            format!("{} CPUs", parts.len())
        };
        // The first number stays with the words.
        format!("{what}, CPUs{NO_BREAK}{}", list.join(" "))
    }

    fn cpu(&self, cpu: usize) -> String {
        if self.allowed.contains(&cpu) { cpu.to_string() } else { format!("({cpu})") }
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
