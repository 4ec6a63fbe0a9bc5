//! The map of the pairs, in letters and as SVG: latencies in five steps.

use super::*;
use std::collections::BTreeMap;
use tiebreak_report::look::Span;

/// Steps of a map.
const STEPS: usize = 5;
/// Latencies that differ by a smaller ratio have no steps.
const FLAT: f64 = 1.25;
/// Shades of the steps, from the nearest.
const SHADES: [char; STEPS] = ['\u{b7}', '\u{2591}', '\u{2592}', '\u{2593}', '\u{2588}'];
const ASCII_SHADES: [char; STEPS] = ['.', ':', 'o', 'O', '#'];
/// Columns of a cell that holds a number, its shade and its mark; others are a shade or the mark.
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

impl Cell {
    /// Returns its step in a picture, in which a flat map has the first one everywhere.
    fn shade(self) -> usize {
        self.step.unwrap_or(0)
    }
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

    /// Whether latencies differ enough for steps.
    fn has_steps(&self) -> bool {
        self.range() >= FLAT.ln()
    }

    fn has_modes(&self) -> bool {
        with_modes(self.headline).next().is_some()
    }

    /// Returns the ends of a step, in nanoseconds.
    pub(super) fn ends_ns(&self, step: usize) -> [f64; 2] {
        [step, step + 1]
            .map(|at| self.headline.nearest_ns * (self.range() * at as f64 / STEPS as f64).exp())
    }

    /// Draws the map in letters, as large as possible: with numbers, or with shades, of
    /// every n-th CPU if there is no room for all.
    pub(super) fn letters(&self, page: &mut Page, look: &Look) {
        let cpus = self.cpus();
        let names = cpus.iter().map(|cpu| cpu.to_string().len()).max().unwrap_or(1).max(3) + 2;
        let room = look.columns() - names;
        let wide = if cpus.len() * NUMBER <= room { NUMBER } else { 1 };
        let each = (cpus.len() * wide).div_ceil(room).max(1);
        let shown: Vec<usize> = (0..cpus.len()).step_by(each).collect();
        page.line(&[span(Tone::Dim, self.heads(&shown, wide, names, look))]);
        for &row in &shown {
            let name = format!("{:>width$}  ", cpus[row], width = names - 2);
            let cells = shown.iter().map(|column| self.cell_text(row, *column, wide, look));
            let name = span(Tone::Dim, name);
            page.line(&[name].into_iter().chain(cells).collect::<Spans>());
        }
        page.paragraph("", &[span(Tone::Dim, self.legend(each, look))]);
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

    fn cell_text(&self, row: usize, column: usize, wide: usize, look: &Look) -> Span {
        let shades = look.pick(SHADES, ASCII_SHADES);
        let Some(Cell { latency_ns, step, has_modes }) = self.cell(row, column) else {
            return span(
                Tone::Dim,
                match (row == column, wide == NUMBER) {
                    (true, true) => "    -  ",
                    (true, false) => " ",
                    (false, true) => "    ?  ",
                    (false, false) => "?",
                },
            );
        };
        if wide == NUMBER {
            let (shade, mark) = (step.map_or(' ', |step| shades[step]), [' ', '*']);
            let mark = mark[usize::from(has_modes)];
            return span(Tone::Plain, format!("{:>5}{shade}{mark}", ns(latency_ns)));
        }
        let shade = shades[step.unwrap_or(0)];
        span(Tone::Plain, String::from(if has_modes { '*' } else { shade }))
    }

    fn legend(&self, each: usize, look: &Look) -> String {
        let mut text = String::new();
        if self.has_steps() {
            let shades = look.pick(SHADES, ASCII_SHADES);
            let steps = shades.into_iter().enumerate().map(|(step, shade)| {
                let [from, to] = self.ends_ns(step).map(ns);
                format!("{shade} {from} to {to} ns").replace(' ', &NO_BREAK.to_string())
            });
            text = joined(steps) + ". ";
        }
        text += "The CPU of the row timed";
        if self.has_modes() {
            text += "; * several values";
        }
        if each > 1 {
            text += &format!("; one of {each} CPUs is shown, JSON and SVG have all");
        }
        text + "."
    }
}

const SHEET: Sheet = Sheet::new("tiebreak-cores", include_str!("map.css"));

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
    let mut scene = Scene::new(SHEET, (LEFT + extent + 24.0).max(WIDTH_LEAST), TOP + extent + 76.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    let kernel = found.headline().map_or("", |headline| headline.kernel.words());
    let look = if found.is_short_look { ", a short look" } else { "" };
    let rounds = rounds_in(found);
    let about = format!("Half a round trip by {kernel}; rows: the CPU that timed. {rounds}{look}.");
    scene.text("dim small", 24.0, 50.0, Anchor::Start, &about);
    let Some(map) = Map::of(found) else { return scene.finish(title, "nothing was found") };
    names(&mut scene, &found.cpus, side);
    (0..cpus).for_each(|row| cells(&mut scene, &map, row, side));
    // The last level is everything that is connected. The CPUs of a group are adjacent.
    for group in found.levels.iter().rev().skip(1).flat_map(together) {
        let first = found.cpus.iter().position(|cpu| group.cpus.contains(cpu)).unwrap_or(0);
        let (from, side) = (first as f64 * side, group.cpus.len() as f64 * side);
        scene.area("group", &corners(LEFT + from, TOP + from, side, side));
    }
    legend(&mut scene, &map, TOP + extent + 20.0);
    scene.finish(title, &about)
}

/// Writes the numbers of the CPUs, as many as there is room for.
fn names(scene: &mut Scene, cpus: &[usize], side: f64) {
    let each = (24.0 / side).ceil() as usize;
    for (at, cpu) in cpus.iter().enumerate().step_by(each) {
        let (middle, name) = ((at as f64 + 0.5) * side, cpu.to_string());
        scene.text("dim small", LEFT + middle, TOP - 8.0, Anchor::Middle, &name);
        scene.text("dim small", LEFT - 8.0, TOP + middle + 4.0, Anchor::End, &name);
    }
}

/// Draws a row: its cells with their numbers, or, where they hold none, equal neighbours as one
/// shape, so that the picture stays small. Dots mark cells with several modes.
fn cells(scene: &mut Scene, map: &Map<'_>, row: usize, side: f64) {
    let (y, has_numbers) = (TOP + row as f64 * side, side == CELL);
    let all = (0..map.cpus().len()).map(|column| (column, map.cell(row, column)));
    let all: Vec<(usize, Option<Cell>)> = all.collect();
    for run in all
        .chunk_by(|left, right| !has_numbers && left.1.map(Cell::shade) == right.1.map(Cell::shade))
    {
        let (column, cell) = run[0];
        let x = LEFT + column as f64 * side;
        let (middle, down) = (x + side / 2.0, y + side / 2.0 + 4.0);
        if let Some(shade) = cell.map(Cell::shade) {
            scene.area(&format!("step{shade}"), &corners(x, y, side * run.len() as f64, side));
        }
        match cell {
            Some(cell) if has_numbers => {
                let class = format!("on{} small", cell.shade());
                scene.text(&class, middle, down, Anchor::Middle, &ns(cell.latency_ns));
            }
            None if has_numbers && column != row => {
                scene.text("dim small", middle, down, Anchor::Middle, "?");
            }
            _ => {}
        }
    }
    let radius = (side / 11.0).clamp(1.0, 4.0);
    for (column, _) in all.iter().filter(|(_, cell)| cell.is_some_and(|cell| cell.has_modes)) {
        let x = LEFT + (*column as f64 + 1.0) * side - 1.6 * radius;
        scene.circle("mark", (x, y + 1.6 * radius), radius);
    }
}

fn legend(scene: &mut Scene, map: &Map<'_>, mut y: f64) {
    if map.has_steps() {
        for step in 0..STEPS {
            let x = 24.0 + step as f64 * 104.0;
            scene.area(&format!("step{step}"), &corners(x, y, 16.0, 16.0));
            let [from, to] = map.ends_ns(step).map(ns);
            let text = format!("{from} to {to}");
            scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, &text);
        }
        y += 28.0;
        let text = "Lines around CPUs that are near to each other.";
        scene.text("dim small", 232.0, y + 12.0, Anchor::Start, text);
    }
    if map.has_modes() {
        scene.circle("mark", (32.0, y + 8.0), 4.0);
        let text = "rounds have several values";
        scene.text("dim small", 46.0, y + 12.0, Anchor::Start, text);
    }
}
