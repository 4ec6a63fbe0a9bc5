//! The map of the pairs, in letters and as SVG: latencies in five steps.

use super::*;
use crate::Kernel;
use std::collections::BTreeMap;

/// Steps of a map.
const STEPS: usize = 5;
/// Latencies that differ by a smaller ratio have no steps.
const FLAT: f64 = 1.25;
/// Shades of the steps, from the nearest.
const SHADES: [char; STEPS] = ['\u{b7}', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'];
const ASCII_SHADES: [char; STEPS] = ['.', ':', 'o', 'O', '#'];
/// Columns of the name of a row, and of a cell that holds a number and its sign.
const NAME: usize = 6;
const NUMBER: usize = 7;

/// The map of the headline.
pub(super) struct Map<'a> {
    kernel: Kernel,
    /// The CPUs, in the order of rows and columns.
    cpus: &'a [usize],
    /// The ends of the steps, of equal ratios, in nanoseconds; only the first one if the map is
    /// flat.
    ends_ns: Vec<f64>,
    /// The cell of each pair that was measured, by the CPUs of its row and its column.
    pub cells: BTreeMap<[usize; 2], Cell>,
}

/// A pair's place on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// The latency in nanoseconds that the CPU of the row timed, or of both together.
    pub latency_ns: f64,
    /// The step of the pair, from the nearest.
    pub step: usize,
    /// Whether the pair has several modes.
    pub has_modes: bool,
}

impl<'a> Map<'a> {
    /// Makes the map; `None` if nothing was found.
    pub(super) fn of(found: &'a Cores) -> Option<Map<'a>> {
        let KernelLatency { kernel, nearest_ns, farthest_ns, pairs } = found.headline()?;
        let ratio = farthest_ns / nearest_ns;
        let steps = if ratio < FLAT { 0 } else { STEPS };
        let ends = (0..=steps).map(|at| nearest_ns * ratio.powf(at as f64 / STEPS as f64));
        let ends_ns: Vec<f64> = ends.collect();
        let mut cells = BTreeMap::new();
        for pair in pairs {
            let between = ends_ns.iter().skip(1).take(STEPS - 1);
            let step = between.filter(|end| pair.latency_ns >= **end).count();
            let (has_modes, [a, b]) = (pair.modes.len() > 1, pair.cpus);
            for (cpus, timed_ns) in [[a, b], [b, a]].into_iter().zip(pair.timed_by_ns) {
                let latency_ns = timed_ns.unwrap_or(pair.latency_ns);
                cells.insert(cpus, Cell { latency_ns, step, has_modes });
            }
        }
        Some(Map { kernel: *kernel, cpus: &found.cpus, ends_ns, cells })
    }

    /// Writes the latencies of each step; none of a flat map.
    pub(super) fn legend(&self) -> Vec<String> {
        let steps = self.ends_ns.windows(2).map(|ends| Spread { low: ends[0], high: ends[1] });
        steps.map(range).collect()
    }

    /// Draws the map in letters, as large as possible: with numbers, or with signs alone, of every
    /// n-th CPU if there is no room for all. The columns are in the order of the rows.
    pub(super) fn letters(&self, page: &mut Page, look: &Look) {
        let room = look.columns() - NAME;
        let has_numbers = self.cpus.len() * NUMBER <= room;
        let each = if has_numbers { 1 } else { self.cpus.len().div_ceil(room) };
        let shown: Vec<usize> = self.cpus.iter().copied().step_by(each).collect();
        let shades = look.pick(SHADES, ASCII_SHADES);
        let heads = shown.iter().filter(|_| has_numbers).map(|cpu| format!("{cpu:>6} "));
        let heads: String = heads.collect();
        let table = Table::of(&shown).right("CPU", 0, |cpu| *cpu).left(&heads, 0, |row| {
            let cells = shown.iter().map(|column| [*row, *column]);
            cells.map(|cpus| self.cell_text(cpus, has_numbers, &shades)).collect::<String>()
        });
        lines(page, table.columns(), look);
        let steps = shades.iter().zip(self.legend()).map(|(shade, text)| format!("{shade} {text}"));
        let mut notes: Vec<String> = steps.collect();
        if self.cells.values().any(|cell| cell.has_modes) {
            notes.push("* several values".to_owned());
        }
        if each > 1 {
            notes.push(format!("one of {each} CPUs is shown, JSON and SVG have all"));
        }
        let notes = notes.into_iter().map(|note| note.replace(' ', &NO_BREAK.to_string()));
        page.paragraph("", &[span(Tone::Dim, joined(notes))]);
    }

    /// Writes a cell: its number, if it has one, and a star if the pair has several values, else
    /// its shade.
    fn cell_text(&self, cpus: [usize; 2], has_number: bool, shades: &[char; STEPS]) -> String {
        let cell = self.cells.get(&cpus);
        let sign = match cell {
            Some(cell) if cell.has_modes => '*',
            Some(cell) => shades[cell.step],
            None if cpus[0] == cpus[1] => ' ',
            None => '?',
        };
        let text = cell.filter(|_| has_number).map(|cell| number(cell.latency_ns));
        let width = if has_number { NUMBER - 1 } else { 0 };
        format!("{:>width$}{sign}", text.unwrap_or_default())
    }
}

/// Writes a latency without its unit.
fn number(latency_ns: f64) -> String {
    ns(latency_ns).trim_end_matches(" ns").to_owned()
}

const SHEET: Sheet = Sheet::new("tiebreak-cores", include_str!("map.css"));

const LEFT: f64 = 64.0;
const TOP: f64 = 108.0;
const WIDTH_LEAST: f64 = 720.0;
/// The side of a cell that holds a number, the least of any, and of all cells together at most.
const CELL: f64 = 44.0;
const CELL_LEAST: f64 = 3.0;
const ALL: f64 = 1056.0;

/// Draws the map of all pairs, timed by the CPU of the row, in an order in which groups are
/// adjacent and with a line around each group; a dot marks a pair whose rounds have several values.
/// Its shade is one of five steps; where cells are large enough they hold the number.
///
/// The result is one SVG document without external parts, readable on light and on dark ground; for
/// 64 CPUs it has some 50 KB.
pub(crate) fn svg(found: &Cores) -> String {
    let side = (ALL / found.cpus.len() as f64).clamp(CELL_LEAST, CELL);
    let extent = side * found.cpus.len() as f64;
    let mut scene = Scene::new(SHEET, (LEFT + extent + 24.0).max(WIDTH_LEAST), TOP + extent + 60.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, TITLE);
    let Some(map) = Map::of(found) else { return scene.finish(TITLE, "nothing was found") };
    let kernel = map.kernel.words();
    let about =
        format!("In nanoseconds, by {kernel}; rows: the CPU that timed. {}.", rounds(found));
    scene.text("dim small", 24.0, 50.0, Anchor::Start, &about);
    let marks = "Lines: CPUs that are near to each other. Dots: rounds have several values.";
    scene.text("dim small", 24.0, 68.0, Anchor::Start, marks);
    let each = (24.0 / side).ceil() as usize;
    for (at, cpu) in found.cpus.iter().enumerate() {
        let from = at as f64 * side;
        if at % each == 0 {
            let (middle, name) = (from + side / 2.0, cpu.to_string());
            scene.text("dim small", LEFT + middle, TOP - 8.0, Anchor::Middle, &name);
            scene.text("dim small", LEFT - 8.0, TOP + middle + 4.0, Anchor::End, &name);
        }
        cells(&mut scene, &map, *cpu, TOP + from, side);
    }
    // The last level is everything that is connected. The CPUs of a group are adjacent.
    for group in found.levels.iter().rev().skip(1).flat_map(together) {
        let first = found.cpus.iter().position(|cpu| group.cpus.contains(cpu)).unwrap_or(0);
        let (from, side) = (first as f64 * side, group.cpus.len() as f64 * side);
        scene.area("group", &corners(LEFT + from, TOP + from, side, side));
    }
    let y = TOP + extent + 20.0;
    for (step, text) in map.legend().iter().enumerate() {
        let x = 24.0 + step as f64 * 136.0;
        scene.area(&format!("step{step}"), &corners(x, y, 16.0, 16.0));
        scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, text);
    }
    scene.finish(TITLE, &about)
}

/// Draws a row: equal neighbours as one shape, so that the picture stays small, then numbers and
/// marks. A pair that was not measured is left out.
fn cells(scene: &mut Scene, map: &Map<'_>, row: usize, y: f64, side: f64) {
    let cells = map.cpus.iter().map(|column| map.cells.get(&[row, *column]));
    let cells: Vec<Option<&Cell>> = cells.collect();
    let mut x = LEFT;
    for run in cells.chunk_by(|a, b| a.map(|cell| cell.step) == b.map(|cell| cell.step)) {
        let width = run.len() as f64 * side;
        if let Some(cell) = run[0] {
            scene.area(&format!("step{}", cell.step), &corners(x, y, width, side));
        }
        x += width;
    }
    let radius = (side / 11.0).clamp(1.0, 4.0);
    for (at, cell) in cells.iter().enumerate().filter_map(|(at, cell)| Some((at, (*cell)?))) {
        let x = LEFT + at as f64 * side;
        if side == CELL {
            let (class, text) = (format!("on{} small", cell.step), number(cell.latency_ns));
            scene.text(&class, x + side / 2.0, y + side / 2.0 + 4.0, Anchor::Middle, &text);
        }
        if cell.has_modes {
            scene.circle("mark", (x + side - 1.6 * radius, y + 1.6 * radius), radius);
        }
    }
}
