//! Charts as SVG, one below the other in one document.

use super::scene::{Anchor, SMALL, Scene, Sheet, WIDTH, legend, width_of};
use crate::chart::{Chart, Span};
use crate::text::plain;

const LEFT: f64 = 84.0;
const RIGHT: f64 = 736.0;
/// Of the plot of one chart.
const HEIGHT: f64 = 260.0;
/// Above the plot: title, legend and the words of marks; below it: ticks and label.
const ABOVE: f64 = 72.0;
const BELOW: f64 = 56.0;
/// Curves of different colours; later ones begin again.
const COLORS: usize = 6;

const SHEET: Sheet = Sheet::new("tiebreak-chart", include_str!("chart.css"));

/// Charts below each other. Curves differ in colour and in the shape of their points; places that
/// are marked are dashed lines with their word at the top.
pub fn charts(charts: &[Chart]) -> String {
    let drawn: Vec<(&Chart, Span, Span)> = charts
        .iter()
        .filter_map(|chart| Some((chart, chart.across()?, chart.upwards()?)))
        .collect();
    let legends: Vec<Vec<Vec<usize>>> = drawn
        .iter()
        .map(|(chart, ..)| {
            let widths = chart.curves.iter().map(|curve| 34.0 + width_of(&curve.name, SMALL));
            legend(widths, LEFT, RIGHT)
        })
        .collect();
    let height = |lines: usize| ABOVE + lines as f64 * 20.0 + HEIGHT + BELOW;
    let total: f64 = legends.iter().map(|lines| height(lines.len())).sum();
    let mut scene = Scene::new(SHEET, WIDTH, total.max(40.0));
    let mut top = 0.0;
    for ((chart, across, upwards), lines) in drawn.into_iter().zip(&legends) {
        let bottom = top + height(lines.len()) - BELOW;
        let plot = Plot { across, upwards, top: bottom - HEIGHT, bottom };
        let title = [&chart.title, &chart.y.label].map(|text| plain(text)).join(", ");
        scene.text("ink head", 24.0, top + 28.0, Anchor::Start, &title);
        names(&mut scene, chart, lines, top + 50.0);
        plot.axes(&mut scene, chart);
        plot.curves(&mut scene, chart);
        top += height(lines.len());
    }
    let titles: Vec<String> = charts.iter().map(|chart| plain(&chart.title)).collect();
    scene.finish(&titles.join("; "), &describe(charts))
}

/// What each curve shows, for those who do not see it.
fn describe(charts: &[Chart]) -> String {
    let one = |chart: &Chart| {
        let names: Vec<&str> = chart.curves.iter().map(|curve| curve.name.as_str()).collect();
        format!("{} over {}: {}", chart.y.label, chart.x.label, names.join(", "))
    };
    charts.iter().map(one).collect::<Vec<_>>().join(". ")
}

fn names(scene: &mut Scene, chart: &Chart, lines: &[Vec<usize>], top: f64) {
    for (row, line) in lines.iter().enumerate() {
        let (mut x, y) = (LEFT, top + row as f64 * 20.0);
        for index in line {
            let name = plain(&chart.curves[*index].name);
            point(scene, *index, (x + 5.0, y - 4.0));
            scene.text("ink small", x + 16.0, y, Anchor::Start, &name);
            x += 34.0 + width_of(&name, SMALL);
        }
    }
}

/// The point of a curve: a circle, a square, a diamond or a triangle.
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

/// Where a chart's plot lies.
struct Plot {
    across: Span,
    upwards: Span,
    top: f64,
    bottom: f64,
}

impl Plot {
    fn x(&self, value: f64) -> f64 {
        LEFT + self.across.place(value).clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    fn y(&self, value: f64) -> f64 {
        self.bottom - self.upwards.place(value).clamp(0.0, 1.0) * (self.bottom - self.top)
    }

    fn axes(&self, scene: &mut Scene, chart: &Chart) {
        for tick in chart.y_ticks(self.upwards, 7) {
            let y = self.y(tick);
            scene.line("grid", (LEFT, y), (RIGHT, y));
            scene.text("dim small", LEFT - 8.0, y + 4.0, Anchor::End, &(chart.y.write)(tick));
        }
        scene.line("axis", (LEFT, self.bottom), (RIGHT, self.bottom));
        let mut free = 0.0;
        for tick in chart.x_ticks(self.across, 12) {
            let (x, text) = (self.x(tick), (chart.x.write)(tick));
            scene.line("axis", (x, self.bottom), (x, self.bottom + 5.0));
            scene.tick((x, self.bottom + 20.0), &text, &mut free);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        scene.text("ink small", middle, self.bottom + 40.0, Anchor::Middle, &plain(&chart.x.label));
        self.marks(scene, chart);
    }

    /// Marked places; their words stand above the plot on two heights, so that neighbours can be
    /// read.
    fn marks(&self, scene: &mut Scene, chart: &Chart) {
        for (index, (place, word)) in chart.marks.iter().enumerate() {
            let x = self.x(*place);
            scene.line("mark", (x, self.top), (x, self.bottom));
            let half = width_of(word, SMALL) / 2.0;
            let middle = x.clamp(half + 4.0, (WIDTH - 4.0 - half).max(half + 4.0));
            let y = self.top - 4.0 - (index % 2) as f64 * 14.0;
            scene.text("dim small", middle, y, Anchor::Middle, &plain(word));
        }
    }

    fn curves(&self, scene: &mut Scene, chart: &Chart) {
        for (index, curve) in chart.curves.iter().enumerate() {
            let is_there = |point: &&(f64, f64)| point.0.is_finite() && point.1.is_finite();
            let points = curve.points.iter().filter(is_there);
            let points: Vec<_> = points.map(|(x, y)| (self.x(*x), self.y(*y))).collect();
            if points.len() > 1 {
                scene.polyline(&format!("stroke{}", index % COLORS), &points);
            }
            // Of a long sweep the line says more than its points.
            if points.len() <= 40 {
                for place in points {
                    point(scene, index, place);
                }
            }
        }
    }
}
