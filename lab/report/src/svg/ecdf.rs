//! Distribution functions as a picture: which share of its batches took at most so long.

use super::scene::{Anchor, SMALL, Scene, Sheet, WIDTH, fit_title, legend, width_of};
use crate::chart::Span;
use crate::look::Look;
use crate::study::ecdf::{Ecdfs, Steps, time};
use crate::study::{Block, about};
use crate::text::{plain, shorten_middle};
use tiebreak_core::result::StudyResult;

const LEFT: f64 = 64.0;
const RIGHT: f64 = 736.0;
/// Of a plot.
const HEIGHT: f64 = 220.0;
/// Above a plot beside its legend, and below it.
const ABOVE: f64 = 46.0;
const BELOW: f64 = 54.0;
const LEGEND: f64 = 20.0;
/// The stroke that stands beside a name.
const SAMPLE: f64 = 30.0;
/// The longest name, in letters.
const NAME: usize = 28;
/// Colours and dash patterns, which repeat together after two dozen curves.
const COLORS: usize = 6;
const DASHES: usize = 4;
/// Steps that lie closer together than this, in pixels, are drawn as one.
const CLOSE: f64 = 1.0;
/// Shares with a line across: half of the batches, and where tails begin.
const SHARES: [(f64, &str); 4] = [(0.0, "0"), (0.5, "0.5"), (0.9, "0.9"), (0.99, "0.99")];

const SHEET: Sheet = Sheet::new("tiebreak-ecdf", include_str!("ecdf.css"));

/// The distribution functions of a study: a panel a workload, a stair a contestant, over the time
/// of one item; names stand in the order of the medians, so from left to right. Curves differ in
/// colour and in their dashes. The scale of times is logarithmic if the range needs it.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; texts
/// are escaped.
pub fn ecdf(study: &StudyResult) -> String {
    let panels: Vec<Panel> = study.runs.iter().filter_map(Block::of).map(Panel::of).collect();
    let height: f64 = panels.iter().map(Panel::height).sum();
    let mut scene = Scene::new(SHEET, WIDTH, 66.0 + height);
    let title = format!("{}: {}", plain(&study.study), plain(&study.title));
    scene.text("ink head", 24.0, 30.0, Anchor::Start, &fit_title(&title));
    let legend = "Upwards: the share of timed batches that took at most so long. Each scale of \
                  times is its panel's own.";
    scene.text("dim small", 24.0, 50.0, Anchor::Start, legend);
    let mut top = 58.0;
    for panel in &panels {
        scene.text("ink", 24.0, top + 24.0, Anchor::Start, &fit_title(&panel.title));
        panel.draw(&mut scene, top + ABOVE);
        top += panel.height();
    }
    scene.finish(&format!("Distribution functions of {title}"), &describe(&panels))
}

/// What is drawn of a workload.
struct Panel {
    title: String,
    known: Option<Ecdfs>,
    /// The curves by their index, in lines that fit.
    legend: Vec<Vec<usize>>,
}

impl Panel {
    fn of(block: Block) -> Panel {
        let workload = &block.of.workload;
        let title = format!("{}{}", plain(&workload.name), about(workload));
        let known = Ecdfs::of(&block);
        let curves = known.iter().flat_map(|known| &known.curves);
        let widths = curves.map(|curve| entry_width(&short_name(curve)));
        let legend = legend(widths, LEFT, RIGHT);
        Panel { title, known, legend }
    }

    fn height(&self) -> f64 {
        match self.known {
            Some(_) => ABOVE + self.legend.len() as f64 * LEGEND + HEIGHT + BELOW,
            None => ABOVE + LEGEND,
        }
    }

    fn draw(&self, scene: &mut Scene, top: f64) {
        let Some(known) = &self.known else {
            return scene.text("dim", LEFT, top, Anchor::Start, "no batch is known one by one");
        };
        for (line, indices) in self.legend.iter().enumerate() {
            let (mut x, y) = (LEFT, top + line as f64 * LEGEND);
            for index in indices {
                let curve = &known.curves[*index];
                let name = short_name(curve);
                scene.polyline(&class(curve), &[(x, y - 4.0), (x + SAMPLE, y - 4.0)]);
                scene.text("ink small", x + SAMPLE + 6.0, y, Anchor::Start, &name);
                x += entry_width(&name);
            }
        }
        let top = top + self.legend.len() as f64 * LEGEND - 6.0;
        let plot = Plot { axis: known.axis, bottom: top + HEIGHT };
        plot.axes(scene, &known.across());
        for curve in &known.curves {
            scene.stairs(&class(curve), &plot.stairs(curve));
        }
    }
}

/// What each panel shows, for those who do not see it.
fn describe(panels: &[Panel]) -> String {
    let one = |panel: &Panel| {
        let curves = panel.known.iter().flat_map(|known| &known.curves);
        let said = curves.map(|curve| {
            let at =
                |share: f64| curve.steps.iter().find(|step| step.1 >= share).map(|step| step.0);
            let [half, most] = [0.5, 1.0].map(|share| at(share).map_or("-".to_owned(), short_time));
            format!("{}: half within {half}, all within {most}", curve.name)
        });
        format!("{}. {}", panel.title, said.collect::<Vec<_>>().join("; "))
    };
    panels.iter().map(one).collect::<Vec<_>>().join(". ")
}

/// A time with three digits: `14.3 ms`.
fn short_time(ns: f64) -> String {
    let power = if ns > 0.0 { 10f64.powi(ns.log10().floor() as i32 - 2) } else { 1.0 };
    time((ns / power).round() * power)
}

/// A contestant looks the same in every panel.
fn class(curve: &Steps) -> String {
    let (color, dash) = (curve.place % COLORS, curve.place + curve.place / (2 * COLORS));
    format!("stroke{color} dash{}", dash % DASHES)
}

fn short_name(curve: &Steps) -> String {
    shorten_middle(&curve.name, NAME, Look::PAPER)
}

fn entry_width(name: &str) -> f64 {
    SAMPLE + 24.0 + width_of(name, SMALL)
}

/// Where a plot lies.
struct Plot {
    axis: Span,
    bottom: f64,
}

impl Plot {
    fn x(&self, ns: f64) -> f64 {
        LEFT + self.axis.place(ns).clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    fn y(&self, share: f64) -> f64 {
        self.bottom - share.clamp(0.0, 1.0) * HEIGHT
    }

    fn axes(&self, scene: &mut Scene, across: &str) {
        for (share, text) in SHARES {
            let y = self.y(share);
            scene.line(if share == 0.0 { "axis" } else { "grid" }, (LEFT, y), (RIGHT, y));
            scene.text("dim small", LEFT - 8.0, y + 4.0, Anchor::End, text);
        }
        let mut free = 0.0;
        for tick in self.axis.ticks(12) {
            let (x, text) = (self.x(tick), time(tick));
            scene.line("grid", (x, self.bottom - HEIGHT), (x, self.bottom));
            scene.tick((x, self.bottom + 18.0), &text, &mut free);
        }
        let middle = (LEFT + RIGHT) / 2.0;
        scene.text("dim small", middle, self.bottom + 36.0, Anchor::Middle, across);
    }

    /// The corners of a stair, from the axis up; what lies within a pixel is one step. The last one
    /// is always there.
    fn stairs(&self, curve: &Steps) -> Vec<(f64, f64)> {
        let mut corners: Vec<(f64, f64)> = Vec::new();
        let mut last = (0.0, 0.0);
        for (index, (ns, share)) in curve.steps.iter().enumerate() {
            let place = (self.x(*ns), self.y(*share));
            if index == 0 {
                corners.push((place.0, self.bottom));
            }
            let is_close = (place.0 - last.0).abs() < CLOSE && (place.1 - last.1).abs() < CLOSE;
            if !is_close || index + 1 == curve.steps.len() {
                corners.push(place);
                last = place;
            }
        }
        corners
    }
}
