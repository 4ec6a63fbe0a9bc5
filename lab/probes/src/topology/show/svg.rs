//! CPUs as nested boxes.

use super::tree::{Branch, tree};
use super::*;

const WIDTH: f64 = 760.0;
const MARGIN: f64 = 24.0;
/// Between a box and what is in it, and between two boxes.
const GAP: f64 = 8.0;
/// A line of text, and of a CPU's number in its core.
const LINE: f64 = 20.0;
const CPU_LINE: f64 = 16.0;

const SHEET: Sheet = Sheet::new("tiebreak-topology", include_str!("svg.css"));

/// Left edge, upper edge and width.
type Place = (f64, f64, f64);

/// Sockets, memory nodes, caches and cores as boxes in boxes: what shares something stands in one
/// box. `counts` is the title; `note` stands below.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; its
/// height grows with the number of cores.
pub(crate) fn topology(found: &Topology, counts: &str, note: &str) -> String {
    let root = tree(found);
    let last = found.cpus.last().map_or(0, |cpu| cpu.cpu);
    let drawing = Drawing {
        allowed: allowed(found),
        core: (width_of(&last.to_string(), PLAIN) + 16.0).max(32.0),
    };
    let letters = ((WIDTH - 2.0 * MARGIN) / (PLAIN * 0.56)) as usize;
    let [heads, mut notes] = [counts, note].map(|text| wrap_plain(text, letters));
    notes.push(legend(found));
    let place = (MARGIN, MARGIN + heads.len() as f64 * LINE, WIDTH - 2.0 * MARGIN);
    // Drawn on a sheet without a height first, to learn the height.
    let bottom = drawing.parts(&mut Scene::new(SHEET, WIDTH, 0.0), &root.parts, place);
    let mut scene = Scene::new(SHEET, WIDTH, bottom + notes.len() as f64 * LINE + MARGIN);
    for (index, line) in heads.iter().enumerate() {
        let y = MARGIN + 10.0 + index as f64 * LINE;
        scene.text("ink head", MARGIN, y, Anchor::Start, line);
    }
    drawing.parts(&mut scene, &root.parts, place);
    for (index, line) in notes.iter().enumerate() {
        let y = bottom + (index + 1) as f64 * LINE;
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
    }
    scene.finish(&format!("Topology: {counts}"), note)
}

fn legend(found: &Topology) -> String {
    let mut text = "Each small box is a core with the numbers of its CPUs.".to_owned();
    if found.online().any(|cpu| cpu.kind.is_some()) {
        text += " Blue: fast cores, green: slow ones.";
    }
    if found.online().any(|cpu| !cpu.is_allowed) {
        text += " Grey: not for this process.";
    }
    text
}

struct Drawing {
    allowed: Vec<usize>,
    /// The width of the box of a core.
    core: f64,
}

impl Drawing {
    /// Draws as many cores as fit in a row, and all other boxes below each other, from a left upper
    /// corner on and so wide; returns where they end.
    fn parts(&self, scene: &mut Scene, parts: &[Branch], (left, top, width): Place) -> f64 {
        let (mut x, mut y, mut end) = (left, top, top);
        for part in parts {
            let is_core = part.parts.is_empty();
            if !is_core || x + self.core > left + width {
                (x, y) = (left, end);
            }
            let below = if is_core {
                self.core(scene, part, x, y)
            } else {
                scene.text("ink small", x + GAP, y + 15.0, Anchor::Start, &part.label);
                let inner = (x + GAP, y + LINE + 2.0, width - 2.0 * GAP);
                let below = self.parts(scene, &part.parts, inner);
                scene.area("box", &corners(x, y, width, below - y));
                below
            };
            end = end.max(below + GAP);
            (x, y) = if is_core { (x + self.core + GAP, y) } else { (left, end) };
        }
        end
    }

    /// Draws a core; returns where it ends.
    fn core(&self, scene: &mut Scene, core: &Branch, x: f64, y: f64) -> f64 {
        let height = core.cpus.len() as f64 * CPU_LINE + 8.0;
        let may = core.cpus.iter().any(|cpu| self.allowed.contains(cpu));
        let class = match core.kind {
            _ if !may => "barred",
            Some(CoreKind::Efficiency) => "slow",
            _ => "core",
        };
        scene.area(class, &corners(x, y, self.core, height));
        for (index, cpu) in core.cpus.iter().enumerate() {
            let ink = if self.allowed.contains(cpu) { "ink small" } else { "dim small" };
            let middle = y + 4.0 + (index as f64 + 0.5) * CPU_LINE + SMALL * 0.35;
            scene.text(ink, x + self.core / 2.0, middle, Anchor::Middle, &cpu.to_string());
        }
        y + height
    }
}
