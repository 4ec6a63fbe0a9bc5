//! The map of the pairs, in letters and as SVG: latencies in five steps.

use super::*;
use std::collections::BTreeMap;

/// Steps of a map.
const STEPS: usize = 5;
/// Latencies that differ by a smaller ratio have no steps.
const FLAT: f64 = 1.25;
/// Shades of the steps, from the nearest; two letters a cell where there is room.
const SHADES: [char; STEPS] = ['\u{b7}', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'];
const ASCII_SHADES: [char; STEPS] = ['.', ':', 'o', 'O', '#'];
/// Columns of a cell that holds a number, its shade and its mark.
const NUMBER: usize = 7;

/// The map of the headline.
pub(super) struct Map<'a> {
    found: &'a Cores,
    headline: &'a KernelLatency,
    pairs: BTreeMap<[usize; 2], &'a PairLatency>,
}

/// A pair's place on the map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cell {
    /// The latency in nanoseconds that the CPU of the row timed, or of both together.
    pub latency_ns: f64,
    /// Its step, from the nearest; `None` on a map that is flat.
    pub step: Option<usize>,
    /// Whether the pair has several modes.
    pub has_modes: bool,
}

impl<'a> Map<'a> {
    /// Makes the map; `None` if nothing was found.
    pub(super) fn of(found: &'a Cores) -> Option<Map<'a>> {
        let headline = found.headline()?;
        let pairs = headline.pairs.iter().map(|pair| (pair.cpus, pair)).collect();
        Some(Map { found, headline, pairs })
    }

    /// Returns the CPUs in the order of rows and columns.
    pub(super) fn cpus(&self) -> &'a [usize] {
        &self.found.cpus
    }

    /// Returns the cell of a row and a column, as indices of the CPUs; `None` if the pair was not
    /// measured.
    pub(super) fn cell(&self, row: usize, column: usize) -> Option<Cell> {
        let [timing, other] = [self.cpus()[row], self.cpus()[column]];
        let pair = self.pairs.get(&[timing.min(other), timing.max(other)])?;
        let timed = pair.timed_by_ns[usize::from(timing > other)];
        let latency_ns = timed.unwrap_or(pair.latency_ns);
        Some(Cell { latency_ns, step: self.step(pair.latency_ns), has_modes: pair.modes.len() > 1 })
    }

    /// Returns the step of a latency: equal ratios are equal steps.
    fn step(&self, latency_ns: f64) -> Option<usize> {
        let place = (latency_ns / self.headline.nearest_ns).ln() / self.range() * STEPS as f64;
        self.has_steps().then(|| (place.max(0.0) as usize).min(STEPS - 1))
    }

    /// Returns the logarithm of the ratio of the farthest latency to the nearest.
    fn range(&self) -> f64 {
        (self.headline.farthest_ns / self.headline.nearest_ns).ln()
    }

    /// Returns whether latencies differ enough for steps.
    fn has_steps(&self) -> bool {
        self.headline.farthest_ns >= self.headline.nearest_ns * FLAT
    }

    fn has_modes(&self) -> bool {
        with_modes(self.headline).next().is_some()
    }

    /// Returns the ends of a step, in nanoseconds.
    pub(super) fn ends_ns(&self, step: usize) -> [f64; 2] {
        [step, step + 1]
            .map(|at| self.headline.nearest_ns * (self.range() * at as f64 / STEPS as f64).exp())
    }

    /// Draws the map in letters, as large as possible: with numbers, with shades of two letters or
    /// one, or of every n-th CPU.
    pub(super) fn letters(&self, page: &mut Page, look: &Look) {
        let cpus = self.cpus();
        let names = cpus.iter().map(|cpu| cpu.to_string().len()).max().unwrap_or(1).max(3) + 2;
        let room = look.columns() - names;
        let wide = [NUMBER, 2].into_iter().find(|wide| cpus.len() * wide <= room).unwrap_or(1);
        let each = (cpus.len() * wide).div_ceil(room).max(1);
        let shown: Vec<usize> = (0..cpus.len()).step_by(each).collect();
        page.line(&[span(Tone::Dim, self.heads(&shown, wide, names, look))]);
        for &row in &shown {
            let name = format!("{:>width$}  ", cpus[row], width = names - 2);
            let mut line: Spans = vec![span(Tone::Dim, name)];
            for &column in &shown {
                let (tone, text) = self.cell_text(row, column, wide, look);
                line.push(span(tone, text));
            }
            page.line(&line);
        }
        page.paragraph("", &[span(Tone::Dim, self.legend(wide, each, look))]);
    }

    /// Returns the numbers of the columns; where cells are narrow, of every tenth column.
    fn heads(&self, shown: &[usize], wide: usize, names: usize, look: &Look) -> String {
        let (each, width) = if wide == NUMBER { (1, NUMBER - 2) } else { (10, 0) };
        let mut head = " ".repeat(names);
        for (at, &column) in shown.iter().enumerate().step_by(each) {
            let (name, from) = (self.cpus()[column].to_string(), names + at * wide);
            if from + name.len() <= look.columns() {
                head = format!("{head:<from$}{name:>width$}");
            }
        }
        head
    }

    fn cell_text(&self, row: usize, column: usize, wide: usize, look: &Look) -> (Tone, String) {
        let cell = self.cell(row, column);
        let shade = cell.and_then(|cell| cell.step).map(|step| shades(look)[step]);
        let has_modes = cell.is_some_and(|cell| cell.has_modes);
        if wide == NUMBER {
            let unknown = if row == column { "-" } else { "?" };
            let text = cell.map_or(unknown.to_owned(), |cell| ns(cell.latency_ns));
            let mark = if has_modes { '*' } else { ' ' };
            let tone = if cell.is_none() { Tone::Dim } else { Tone::Plain };
            return (tone, format!("{text:>5}{}{mark}", shade.unwrap_or(' ')));
        }
        let unknown = if row == column { ' ' } else { '?' };
        let flat = if cell.is_some() { shades(look)[0] } else { unknown };
        let letter = shade.unwrap_or(flat);
        let second = if has_modes { '*' } else { letter };
        (Tone::Plain, [letter, second].into_iter().take(wide).collect())
    }

    fn legend(&self, wide: usize, each: usize, look: &Look) -> String {
        let mut text = String::new();
        if self.has_steps() {
            let steps = shades(look).into_iter().enumerate().map(|(step, shade)| {
                let [from, to] = self.ends_ns(step).map(ns);
                format!("{shade} {from} to {to} ns").replace(' ', &NO_BREAK.to_string())
            });
            text = joined(steps) + ". ";
        }
        text += "The CPU of the row timed";
        if self.has_modes() && wide > 1 {
            text += "; * several values";
        }
        if each > 1 {
            text += &format!("; one of {each} CPUs is shown, JSON and SVG have all");
        }
        text + "."
    }
}

fn shades(look: &Look) -> [char; STEPS] {
    look.pick(SHADES, ASCII_SHADES)
}

const SHEET: Sheet = Sheet::new("tiebreak-cores", STYLE);

const STYLE: &str = concat!(
    ".tiebreak-cores path{shape-rendering:crispEdges}",
    styles! {
        "tiebreak-cores":
        ".group" "fill:none;stroke:#1f2328;stroke-width:1.5" "stroke:#f0f6fc";
        ".mark" "fill:#bc4c00;stroke:#fff;stroke-width:1" "fill:#f0883e;stroke:#0d1117";
        ".step0" "fill:#ddf4ff" "fill:#10273f";
        ".step1" "fill:#a5d4f7" "fill:#174574";
        ".step2" "fill:#5fa8e6" "fill:#2268ad";
        ".step3" "fill:#1f6fc5" "fill:#58a6ff";
        ".step4" "fill:#0a3069" "fill:#cae8ff";
        ".on0,.tiebreak-cores .on1,.tiebreak-cores .on2" "fill:#1f2328" "fill:#f0f6fc";
        ".on3,.tiebreak-cores .on4" "fill:#fff" "fill:#0d1117";
    }
);

const LEFT: f64 = 64.0;
const TOP: f64 = 92.0;
const WIDTH_LEAST: f64 = 560.0;
/// The side of a cell that holds a number, and of all cells together where they hold none.
const CELL: f64 = 44.0;
const ALL: f64 = 800.0;
const CELL_LEAST: f64 = 3.0;
/// The most CPUs of a map with numbers.
const NUMBERS_MOST: usize = 24;

/// Draws the map of all pairs, timed by the CPU of the row, in an order in which groups are
/// adjacent and with a line around each group; a dot marks a pair whose rounds have several values.
/// Its shade is one of five steps; where cells are large enough they hold the number.
///
/// The result is one SVG document without external parts, readable on light and on dark ground; for
/// 64 CPUs it has some 50 KB.
pub(crate) fn svg(found: &Cores) -> String {
    let title = "Core to core latency, one way, in nanoseconds";
    let cpus = found.cpus.len();
    let side = if cpus <= NUMBERS_MOST { CELL } else { (ALL / cpus as f64).max(CELL_LEAST) };
    let extent = side * cpus as f64;
    let width = (LEFT + extent + 24.0).max(WIDTH_LEAST);
    let mut scene = Scene::new(SHEET, width, TOP + extent + 76.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    let kernel = found.headline().map_or("", |headline| headline.kernel.words());
    let look = if found.is_short_look { ", a short look" } else { "" };
    let rounds = rounds_in(found);
    let about = format!("Half a round trip by {kernel}; rows: the CPU that timed. {rounds}{look}.");
    scene.text("dim small", 24.0, 50.0, Anchor::Start, &about);
    let Some(map) = Map::of(found) else { return scene.finish(title, "nothing was found") };
    Drawing { scene: &mut scene, map: &map, side }.draw(TOP + extent + 20.0);
    scene.finish(title, &about)
}

struct Drawing<'a> {
    scene: &'a mut Scene,
    map: &'a Map<'a>,
    side: f64,
}

impl Drawing<'_> {
    fn draw(&mut self, bottom: f64) {
        self.names();
        for row in 0..self.map.cpus().len() {
            if self.side == CELL {
                self.numbers(row)
            } else {
                self.shades(row)
            }
            self.marks(row);
        }
        // The last level is everything that is connected.
        for level in self.map.found.levels.iter().rev().skip(1) {
            self.outlines(level);
        }
        self.legend(bottom);
    }

    fn square(&mut self, class: &str, x: f64, y: f64, side: f64) {
        self.scene.area(class, &corners(x, y, side, side));
    }

    /// Writes the numbers of the CPUs, as many as there is room for.
    fn names(&mut self) {
        let each = (24.0 / self.side).ceil().max(1.0) as usize;
        for (at, cpu) in self.map.cpus().iter().enumerate().step_by(each) {
            let (middle, name) = ((at as f64 + 0.5) * self.side, cpu.to_string());
            self.scene.text("dim small", LEFT + middle, TOP - 8.0, Anchor::Middle, &name);
            self.scene.text("dim small", LEFT - 8.0, TOP + middle + 4.0, Anchor::End, &name);
        }
    }

    /// Draws the cells of a row with their numbers.
    fn numbers(&mut self, row: usize) {
        let y = TOP + row as f64 * CELL;
        for column in (0..self.map.cpus().len()).filter(|column| *column != row) {
            let x = LEFT + column as f64 * CELL;
            let (class, text) = match self.map.cell(row, column) {
                None => ("dim small".to_owned(), "?".to_owned()),
                Some(cell) => {
                    let step = cell.step.unwrap_or(0);
                    self.square(&format!("step{step}"), x + 1.0, y + 1.0, CELL - 2.0);
                    (format!("on{step} small"), ns(cell.latency_ns))
                }
            };
            let (x, y) = (x + CELL / 2.0, y + CELL / 2.0 + 4.0);
            self.scene.text(&class, x, y, Anchor::Middle, &text);
        }
    }

    /// Draws the shades of a row. Equal neighbours are one shape, so that the picture stays small.
    fn shades(&mut self, row: usize) {
        let steps: Vec<Option<usize>> = (0..self.map.cpus().len())
            .map(|column| self.map.cell(row, column).map(|cell| cell.step.unwrap_or(0)))
            .collect();
        let y = TOP + row as f64 * self.side;
        let mut column = 0;
        for run in steps.chunk_by(|left, right| left == right) {
            let [from, to] = [column, column + run.len()].map(|at| LEFT + at as f64 * self.side);
            column += run.len();
            if let Some(step) = run[0] {
                let ends = [(from, y), (to, y), (to, y + self.side), (from, y + self.side)];
                self.scene.area(&format!("step{step}"), &ends);
            }
        }
    }

    /// Draws dots at the cells with several modes.
    fn marks(&mut self, row: usize) {
        let radius = (self.side / 11.0).clamp(1.0, 4.0);
        for column in 0..self.map.cpus().len() {
            if self.map.cell(row, column).is_some_and(|cell| cell.has_modes) {
                let x = LEFT + (column as f64 + 1.0) * self.side - 1.6 * radius;
                let y = TOP + row as f64 * self.side + 1.6 * radius;
                self.scene.circle("mark", (x, y), radius);
            }
        }
    }

    /// Draws a line around each group of more than one CPU; its CPUs are adjacent.
    fn outlines(&mut self, level: &Level) {
        for group in together(level) {
            let first = self.map.cpus().iter().position(|cpu| group.cpus.contains(cpu));
            let Some(first) = first else { continue };
            let from = first as f64 * self.side;
            let side = group.cpus.len() as f64 * self.side;
            self.square("group", LEFT + from, TOP + from, side);
        }
    }

    fn legend(&mut self, mut y: f64) {
        if self.map.has_steps() {
            for step in 0..STEPS {
                let x = 24.0 + step as f64 * 104.0;
                self.square(&format!("step{step}"), x, y, 16.0);
                let [from, to] = self.map.ends_ns(step).map(ns);
                let text = format!("{from} to {to}");
                self.scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, &text);
            }
            y += 28.0;
        }
        let mut x = 24.0;
        if self.map.has_modes() {
            self.scene.circle("mark", (x + 8.0, y + 8.0), 4.0);
            let text = "rounds have several values";
            self.scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, text);
            x += 208.0;
        }
        if self.map.has_steps() {
            let text = "Lines around CPUs that are near to each other.";
            self.scene.text("dim small", x, y + 12.0, Anchor::Start, text);
        }
    }
}
