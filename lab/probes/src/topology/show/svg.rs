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

const SHEET: Sheet = Sheet::new("tiebreak-topology", STYLE);

const STYLE: &str = styles! {
    "tiebreak-topology":
    ".box" "fill:none;stroke:#818b98;stroke-width:1" "stroke:#656c76";
    ".core" "fill:#0969da;fill-opacity:.22;stroke:#0969da;stroke-width:1"
        "fill:#58a6ff;fill-opacity:.3;stroke:#58a6ff";
    ".slow" "fill:#1a7f37;fill-opacity:.16;stroke:#1a7f37;stroke-width:1"
        "fill:#3fb950;fill-opacity:.22;stroke:#3fb950";
    ".barred" "fill:none;stroke:#818b98;stroke-dasharray:3 3" "stroke:#656c76";
};

/// Sockets, memory nodes, caches and cores as boxes in boxes: what shares something stands in one
/// box. `counts` is the title; `note` stands below, unless it is empty.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; its
/// height grows with the number of cores.
pub(crate) fn topology(found: &Topology, counts: &str, note: &str) -> String {
    let root = tree(found);
    let drawing = Drawing::of(found);
    let letters = ((WIDTH - 2.0 * MARGIN) / (PLAIN * 0.56)) as usize;
    let [heads, notes] = [counts, note].map(|text| match text {
        "" => Vec::new(),
        text => wrap_plain(text, letters),
    });
    let top = MARGIN + heads.len() as f64 * LINE;
    let inner = WIDTH - 2.0 * MARGIN;
    let boxes = drawing.height_of_parts(&root.parts, inner);
    let legend = drawing.legend();
    let lines = notes.len() + usize::from(!legend.is_empty());
    let mut scene = Scene::new(SHEET, WIDTH, top + boxes + lines as f64 * LINE + MARGIN + GAP);
    for (index, line) in heads.iter().enumerate() {
        let y = MARGIN + 10.0 + index as f64 * LINE;
        scene.text("ink head", MARGIN, y, Anchor::Start, line);
    }
    drawing.parts(&mut scene, &root.parts, MARGIN, top, inner);
    let mut y = top + boxes + LINE;
    for line in notes.iter().chain(Some(&legend).filter(|legend| !legend.is_empty())) {
        scene.text("dim small", MARGIN, y, Anchor::Start, line);
        y += LINE;
    }
    scene.finish(&format!("Topology: {counts}"), note)
}

struct Drawing {
    allowed: Vec<usize>,
    has_kinds: bool,
    has_barred: bool,
    /// The width of the box of a core.
    core: f64,
}

impl Drawing {
    fn of(found: &Topology) -> Drawing {
        let last = found.cpus.last().map_or(0, |cpu| cpu.cpu);
        Drawing {
            has_kinds: found.online().any(|cpu| cpu.kind.is_some()),
            has_barred: found.online().any(|cpu| !cpu.is_allowed),
            core: (width_of(&last.to_string(), PLAIN) + 16.0).max(32.0),
            allowed: allowed(found),
        }
    }

    fn legend(&self) -> String {
        let kinds = if self.has_kinds { " Blue: fast cores, green: slow ones." } else { "" };
        let barred = if self.has_barred { " Grey: not for this process." } else { "" };
        format!("Each small box is a core with the numbers of its CPUs.{kinds}{barred}")
    }

    fn height(&self, branch: &Branch, width: f64) -> f64 {
        if branch.parts.is_empty() {
            return branch.cpus.len() as f64 * CPU_LINE + 8.0;
        }
        LINE + 2.0 + self.height_of_parts(&branch.parts, width - 2.0 * GAP)
    }

    /// As many boxes of cores as fit stand in a row; all others below each other.
    fn height_of_parts(&self, parts: &[Branch], width: f64) -> f64 {
        self.place(parts, width).last().map_or(0.0, |(_, y, height)| y + height + GAP)
    }

    /// Where each part stands: x, y, and the height of the row that it stands in.
    fn place(&self, parts: &[Branch], width: f64) -> Vec<(f64, f64, f64)> {
        let mut places: Vec<(f64, f64, f64)> = Vec::new();
        let (mut x, mut y, mut row) = (0.0, 0.0, 0.0_f64);
        for part in parts {
            let height = self.height(part, width);
            let (is_leaf, step) = (part.parts.is_empty(), self.core + GAP);
            if x > 0.0 && (!is_leaf || x + self.core > width) {
                (x, y, row) = (0.0, y + row + GAP, 0.0);
            }
            row = row.max(height);
            places.push((x, y, row));
            (x, y, row) = if is_leaf { (x + step, y, row) } else { (0.0, y + row + GAP, 0.0) };
        }
        places
    }

    fn parts(&self, scene: &mut Scene, parts: &[Branch], left: f64, top: f64, width: f64) {
        for (part, (x, y, _)) in parts.iter().zip(self.place(parts, width)) {
            self.branch(scene, part, left + x, top + y, width);
        }
    }

    fn branch(&self, scene: &mut Scene, branch: &Branch, x: f64, y: f64, width: f64) {
        let height = self.height(branch, width);
        if branch.parts.is_empty() {
            return self.core(scene, branch, x, y, height);
        }
        scene.area("box", &corners(x, y, width, height));
        scene.text("ink small", x + GAP, y + 15.0, Anchor::Start, &branch.label);
        self.parts(scene, &branch.parts, x + GAP, y + LINE + 2.0, width - 2.0 * GAP);
    }

    fn core(&self, scene: &mut Scene, core: &Branch, x: f64, y: f64, height: f64) {
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
    }
}
