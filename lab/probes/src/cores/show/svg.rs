//! The map of core to core latencies as a picture.

use super::*;

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
/// Sides of a cell that holds a number, and of all cells together where they hold none.
const CELL: f64 = 44.0;
const ALL: f64 = 800.0;
const CELL_LEAST: f64 = 3.0;
/// The most CPUs of a map with numbers.
const NUMBERS_MOST: usize = 24;

/// The map of all pairs, timed by the CPU of the row, in an order in which groups lie together and
/// with a line around each group; a dot marks a pair of which the rounds have several values. Its
/// shade is one of five steps; where cells are large enough they hold the number.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; of 64
/// CPUs it has some 50 KB.
pub(crate) fn cores(found: &Cores) -> String {
    let title = "Core to core latency, one way, in nanoseconds";
    let count_of = found.cpus.len();
    let side = match count_of {
        _ if count_of <= NUMBERS_MOST => CELL,
        _ => (ALL / count_of as f64).max(CELL_LEAST),
    };
    let extent = side * count_of as f64;
    let width = (LEFT + extent + 24.0).max(WIDTH_LEAST);
    let mut scene = Scene::new(SHEET, width, TOP + extent + 76.0);
    scene.text("ink head", 24.0, 30.0, Anchor::Start, title);
    let about = about(found);
    scene.text("dim small", 24.0, 50.0, Anchor::Start, &about);
    let Some(map) = Map::of(found) else { return scene.finish(title, "nothing was found") };
    names(&mut scene, &map, side);
    for row in 0..count_of {
        if side == CELL {
            numbers(&mut scene, &map, row)
        } else {
            shades(&mut scene, &map, row, side)
        }
        marks(&mut scene, &map, row, side);
    }
    // The last level is everything that is connected.
    for level in found.levels.iter().rev().skip(1) {
        outlines(&mut scene, found, level, side);
    }
    legend(&mut scene, &map, TOP + extent + 20.0);
    scene.finish(title, &about)
}

fn about(found: &Cores) -> String {
    let kernel = found.headline().map_or("", |headline| headline.kernel.words());
    let rounds = count(found.rounds, "round");
    let took = seconds(found.span_ns as f64 / 1e9);
    let look = if found.is_short_look { ", a short look" } else { "" };
    format!("Half a round trip by {kernel}; rows: the CPU that timed. {rounds} in {took}{look}.")
}

/// The numbers of the CPUs, as many as there is room for.
fn names(scene: &mut Scene, map: &Map<'_>, side: f64) {
    let each = (24.0 / side).ceil().max(1.0) as usize;
    for at in (0..map.cpus.len()).step_by(each) {
        let (middle, name) = ((at as f64 + 0.5) * side, map.cpus[at].to_string());
        scene.text("dim small", LEFT + middle, TOP - 8.0, Anchor::Middle, &name);
        scene.text("dim small", LEFT - 8.0, TOP + middle + 4.0, Anchor::End, &name);
    }
}

/// The cells of a row with their numbers.
fn numbers(scene: &mut Scene, map: &Map<'_>, row: usize) {
    let y = TOP + row as f64 * CELL;
    for column in (0..map.cpus.len()).filter(|column| *column != row) {
        let x = LEFT + column as f64 * CELL;
        let middle = (x + CELL / 2.0, y + CELL / 2.0 + 4.0);
        let Some(cell) = map.cell(row, column) else {
            scene.text("dim small", middle.0, middle.1, Anchor::Middle, "?");
            continue;
        };
        let step = cell.step.unwrap_or(0);
        square(scene, &format!("step{step}"), [x + 1.0, y + 1.0], CELL - 2.0);
        let number = ns(cell.latency_ns);
        let class = format!("on{step} small");
        scene.text(&class, middle.0, middle.1, Anchor::Middle, &number);
    }
}

/// The shades of a row, of which equal neighbours are one shape: thousands of cells stay small.
fn shades(scene: &mut Scene, map: &Map<'_>, row: usize, side: f64) {
    let step = |column| map.cell(row, column).map(|cell| cell.step.unwrap_or(0));
    let steps: Vec<Option<usize>> = (0..map.cpus.len()).map(step).collect();
    let y = TOP + row as f64 * side;
    let mut column = 0;
    for run in steps.chunk_by(|left, right| left == right) {
        let [from, to] = [column, column + run.len()].map(|at| LEFT + at as f64 * side);
        column += run.len();
        if let Some(step) = run[0] {
            let corners = [(from, y), (to, y), (to, y + side), (from, y + side)];
            scene.area(&format!("step{step}"), &corners);
        }
    }
}

/// Dots at the cells that are one of several modes.
fn marks(scene: &mut Scene, map: &Map<'_>, row: usize, side: f64) {
    let radius = (side / 11.0).clamp(1.0, 4.0);
    for column in 0..map.cpus.len() {
        if map.cell(row, column).is_some_and(|cell| cell.has_modes) {
            let x = LEFT + (column as f64 + 1.0) * side - 1.6 * radius;
            scene.circle("mark", (x, TOP + row as f64 * side + 1.6 * radius), radius);
        }
    }
}

fn square(scene: &mut Scene, class: &str, [x, y]: [f64; 2], side: f64) {
    scene.area(class, &corners(x, y, side, side));
}

/// A line around each group of more than one CPU; in the map's order its CPUs lie together.
fn outlines(scene: &mut Scene, found: &Cores, level: &Level, side: f64) {
    for group in level.groups.iter().filter(|group| group.cpus.len() > 1) {
        let Some(first) = found.cpus.iter().position(|cpu| group.cpus.contains(cpu)) else {
            continue;
        };
        let from = first as f64 * side;
        square(scene, "group", [LEFT + from, TOP + from], group.cpus.len() as f64 * side);
    }
}

fn legend(scene: &mut Scene, map: &Map<'_>, y: f64) {
    let steps = if map.has_steps() { STEPS } else { 0 };
    for step in 0..steps {
        let x = 24.0 + step as f64 * 104.0;
        square(scene, &format!("step{step}"), [x, y], 16.0);
        let [from, to] = map.ends_ns(step).map(ns);
        scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, &format!("{from} to {to}"));
    }
    let y = y + if steps > 0 { 28.0 } else { 0.0 };
    let mut x = 24.0;
    if map.has_modes() {
        scene.circle("mark", (x + 8.0, y + 8.0), 4.0);
        scene.text("dim small", x + 22.0, y + 12.0, Anchor::Start, "rounds have several values");
        x += 208.0;
    }
    if steps > 0 {
        let text = "Lines around CPUs that are near to each other.";
        scene.text("dim small", x, y + 12.0, Anchor::Start, text);
    }
}
