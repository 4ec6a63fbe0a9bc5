//! Charts as SVG, one below the other in one document.

use super::plot::Plot;
use super::scene::{Anchor, SMALL, Scene, Sheet, WIDTH, fit_title, width_of};
use crate::chart::{Chart, Curve};
use crate::prelude::*;
use crate::study::ecdf::{chart_of, time};
use crate::study::{Block, about};

const LEFT: f64 = 84.0;
const RIGHT: f64 = 736.0;
/// The height of a plot, the space above it for the words of marks, and the space below it for
/// ticks and label.
const HEIGHT: f64 = 240.0;
const ABOVE: f64 = 20.0;
const BELOW: f64 = 56.0;
const LINE: f64 = 20.0;
/// The stroke that stands before a name.
const SAMPLE: f64 = 30.0;
/// The longest name, in letters.
const NAME: usize = 40;
/// Colours and dash patterns, which repeat together after two dozen curves.
const COLORS: usize = 6;
const DASHES: usize = 4;
/// Steps that lie closer together than this, in pixels, are drawn as one.
const CLOSE: f64 = 1.0;
/// Shares with a line across: half of the batches, and where tails begin.
const SHARES: [f64; 4] = [0.0, 0.5, 0.9, 0.99];

const SHEET: Sheet = Sheet::new("tiebreak-chart", include_str!("chart.css"));

/// Charts below each other. Curves differ in colour and in the shape of their points, stairs in
/// colour and in their dashes; places that are marked are dashed lines with their word at the top.
pub fn charts(charts: &[Chart]) -> String {
    let titles: Vec<String> = charts.iter().map(|chart| plain(&chart.title)).collect();
    draw(Scene::new(SHEET, WIDTH, 0.0), charts, 0.0, &titles.join("; "))
}

/// The distribution functions of a study: a chart a workload, a stair a contestant, over the time
/// of one item; names stand in the order of the medians, so from left to right. A contestant looks
/// the same in every chart. The scale of times is logarithmic if the range needs it.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; texts
/// are escaped.
pub fn ecdf(study: &StudyResult) -> String {
    let mut scene = Scene::new(SHEET, WIDTH, 0.0);
    let note = "Upwards: the share of timed batches that took at most so long. Each scale of times \
                is its chart's own.";
    let title = scene.head(study, note);
    let mut charts = Vec::new();
    for block in study.runs.iter().filter_map(Block::of) {
        let workload = &block.of.workload;
        let mut chart = chart_of(&block, format!("{}{}", workload.name, about(workload)));
        // The note above all charts says it.
        chart.y.label.clear();
        if chart.curves.is_empty() {
            chart.title += ": no batch is known one by one";
        }
        charts.push(chart);
    }
    draw(scene, &charts, 58.0, &format!("Distribution functions of {title}"))
}

/// Says what the curves of a chart show, for those who do not see them.
fn description(chart: &Chart) -> String {
    let Chart { title, x, y, curves, .. } = chart;
    if chart.is_stairs {
        let curves: Vec<String> = curves.iter().map(half_and_all).collect();
        return format!("{title}. {}", curves.join("; "));
    }
    let names: Vec<&str> = curves.iter().map(|curve| curve.name.as_str()).collect();
    format!("{} over {}: {}", y.label, x.label, names.join(", "))
}

/// `naive: half within 14.3 ms, all within 15 ms`.
fn half_and_all(curve: &Curve) -> String {
    let [half, all] = [0.5, 1.0].map(|share| {
        let ns = curve.points.iter().find(|step| step.1 >= share).map_or(0.0, |step| step.0);
        let power = if ns > 0.0 { 10f64.powi(ns.log10().floor() as i32 - 2) } else { 1.0 };
        time((ns / power).round() * power)
    });
    format!("{}: half within {half}, all within {all}", curve.name)
}

/// Finishes a document with charts below a place; of one without a point only the title is drawn.
fn draw(mut scene: Scene, charts: &[Chart], mut top: f64, title: &str) -> String {
    for chart in charts {
        let mut head = vec![chart.title.as_str(), chart.y.label.as_str()];
        head.retain(|text| !text.is_empty());
        scene.text("ink head", 24.0, top + 28.0, Anchor::Start, &fit_title(&head.join(", ")));
        top += 50.0;
        if let (Some(across), Some(upwards)) = (chart.across(), chart.upwards()) {
            let above = names(&mut scene, chart, top) + ABOVE;
            let plot =
                Plot { across, left: LEFT, right: RIGHT, top: above, bottom: above + HEIGHT };
            let y = |value: f64| plot.bottom - upwards.place(value).clamp(0.0, 1.0) * HEIGHT;
            let ticks = if chart.is_stairs { SHARES.to_vec() } else { upwards.ticks(7) };
            for tick in ticks {
                let text = if chart.is_stairs { tick.to_string() } else { (chart.y.write)(tick) };
                scene.line("grid", (LEFT, y(tick)), (RIGHT, y(tick)));
                scene.text("dim small", LEFT - 8.0, y(tick) + 4.0, Anchor::End, &text);
            }
            plot.axis(&mut scene, &chart.x_ticks(across, 12), chart.x.write);
            let (middle, label) = ((LEFT + RIGHT) / 2.0, plain(&chart.x.label));
            scene.text("ink small", middle, plot.bottom + 38.0, Anchor::Middle, &label);
            marks(&mut scene, chart, &plot);
            for of in &chart.curves {
                let is_there = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
                let points = of.points.iter().filter(is_there);
                let points: Vec<_> = points.map(|point| (plot.x(point.0), y(point.1))).collect();
                for (place, limits) in &of.limits {
                    let [low, high] = limits.map(|limit| (plot.x(*place), y(limit)));
                    scene.line(&format!("limits {}", stroke(chart, of)), low, high);
                }
                curve(&mut scene, chart, of, &points, plot.bottom);
            }
            top = plot.bottom + BELOW;
        }
        scene.height = top;
    }
    let said: Vec<String> = charts.iter().map(description).collect();
    scene.finish(title, &said.join(". "))
}

/// Writes the names of the curves, each behind its stroke, in lines from a place, and returns the
/// place of the last line.
fn names(scene: &mut Scene, chart: &Chart, top: f64) -> f64 {
    let (mut x, mut y) = (LEFT, top);
    for curve in &chart.curves {
        let name = shorten_middle(&plain(&curve.name), NAME, Look::PAPER);
        let width = SAMPLE + 24.0 + width_of(&name, SMALL);
        if x > LEFT && x + width > RIGHT {
            (x, y) = (LEFT, y + LINE);
        }
        scene.polyline(&stroke(chart, curve), &[(x, y - 4.0), (x + SAMPLE, y - 4.0)]);
        if !chart.is_stairs {
            point(scene, curve.place, (x + SAMPLE / 2.0, y - 4.0));
        }
        scene.text("ink small", x + SAMPLE + 6.0, y, Anchor::Start, &name);
        x += width;
    }
    y
}

/// The classes of a curve's line: of stairs, which have no points, dashes too.
fn stroke(chart: &Chart, curve: &Curve) -> String {
    let (color, dash) = (curve.place % COLORS, curve.place + curve.place / (2 * COLORS));
    if chart.is_stairs {
        format!("stroke{color} dash{}", dash % DASHES)
    } else {
        format!("stroke{color}")
    }
}

/// Draws the point of a curve: a circle, a square, a diamond or a triangle.
fn point(scene: &mut Scene, index: usize, (x, y): (f64, f64)) {
    let class = format!("fill{}", index % COLORS);
    let r = 4.0;
    let corners: &[(f64, f64)] = match index % 4 {
        0 => return scene.circle(&class, (x, y), r),
        1 => &[(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)],
        2 => &[(0.0, -1.4), (1.4, 0.0), (0.0, 1.4), (-1.4, 0.0)],
        _ => &[(0.0, -1.3), (1.2, 1.0), (-1.2, 1.0)],
    };
    let corners: Vec<_> = corners.iter().map(|(dx, dy)| (x + dx * r, y + dy * r)).collect();
    scene.area(&class, &corners);
}

/// Draws marked places; their words stand above the plot on two heights, so that neighbours can be
/// read.
fn marks(scene: &mut Scene, chart: &Chart, plot: &Plot) {
    for (index, (place, word)) in chart.marks.iter().enumerate() {
        let x = plot.x(*place);
        scene.line("mark", (x, plot.top), (x, plot.bottom));
        let half = width_of(word, SMALL) / 2.0;
        let middle = x.clamp(half + 4.0, (WIDTH - 4.0 - half).max(half + 4.0));
        let y = plot.top - 4.0 - (index % 2) as f64 * 14.0;
        scene.text("dim small", middle, y, Anchor::Middle, &plain(word));
    }
}

/// Draws a line with its points, or stairs from the bottom up.
fn curve(scene: &mut Scene, chart: &Chart, of: &Curve, points: &[(f64, f64)], bottom: f64) {
    let class = stroke(chart, of);
    if chart.is_stairs {
        // What lies within a pixel is one step; the last one is always there.
        let mut corners: Vec<(f64, f64)> = vec![(points[0].0, bottom)];
        for (index, place) in points.iter().enumerate() {
            let last = corners[corners.len() - 1];
            let is_close = (place.0 - last.0).abs() < CLOSE && (place.1 - last.1).abs() < CLOSE;
            if !is_close || index + 1 == points.len() {
                corners.push(*place);
            }
        }
        return scene.stairs(&class, &corners);
    }
    if points.len() > 1 {
        scene.polyline(&class, points);
    }
    // Of a long sweep the line says more than its points.
    if points.len() <= 40 {
        points.iter().for_each(|place| point(scene, of.place, *place));
    }
}
