//! The spread of a study's contestants as a picture.

use super::scene::{Anchor, SMALL, Scene, Sheet, WIDTH, fit_title, width_of};
use crate::chart::{Span, round_step};
use crate::look::Look;
use crate::number::{Scale, finite, value_text};
use crate::study::{Block, about, metric_summary, shares, spread_of};
use crate::text::{plain, shorten_middle};
use tiebreak_core::metric::{Metric, Unit};
use tiebreak_core::result::{StudyResult, StudyRow};

/// Where names end and pictures begin, and where these end and numbers begin.
const LEFT: f64 = 190.0;
const RIGHT: f64 = 640.0;
const ROW: f64 = 34.0;
/// How high a distribution may be.
const HILL: f64 = 22.0;
/// Places along a distribution.
const PLACES: usize = 120;
/// The longest name, in letters.
const NAME: usize = 22;
/// The ratio of the largest time to the smallest from which the scale is logarithmic.
const LOG_FROM: f64 = 8.0;

const SHEET: Sheet = Sheet::new("tiebreak-study", include_str!("study.css"));

/// The spread of a study: a panel a workload, a row a contestant, the fastest first: the
/// distribution of its timed batches, a line from p10 to p90 with a dot at the median, and where a
/// time was published a tick at it. All rows of a panel share their scale, which is logarithmic if
/// the range needs it.
///
/// One SVG document without anything from elsewhere, readable on light and on dark ground; texts
/// are escaped.
pub fn study(study: &StudyResult) -> String {
    let blocks: Vec<Block> = study.runs.iter().filter_map(Block::of).collect();
    let heights: f64 = blocks.iter().map(height).sum();
    let mut scene = Scene::new(SHEET, WIDTH, 84.0 + heights);
    let title = format!("{}: {}", plain(&study.study), plain(&study.title));
    scene.text("ink head", 24.0, 30.0, Anchor::Start, &fit_title(&title));
    let legend = "Each row: timed batches, p10 to p90, and the median; orange: as published.";
    scene.text("dim small", 24.0, 50.0, Anchor::Start, legend);
    let mut y = 70.0;
    for block in &blocks {
        panel(&mut scene, block, y);
        y += height(block);
    }
    scene.finish(&title, &crate::study::summary(study))
}

fn height(block: &Block) -> f64 {
    let rows = block.rows.len() as f64;
    if rows == 0.0 { 44.0 } else { 82.0 + rows * ROW }
}

fn panel(scene: &mut Scene, block: &Block, top: f64) {
    let workload = &block.of.workload;
    let title = format!("{}{}", workload.name, about(workload));
    scene.text("ink", 24.0, top + 22.0, Anchor::Start, &fit_title(&title));
    let Some(axis) = Axis::of(block) else {
        if !block.rows.is_empty() {
            scene.text("dim", LEFT, top + 50.0, Anchor::Start, "nothing was timed yet");
        }
        return;
    };
    let bottom = top + 40.0 + block.rows.len() as f64 * ROW;
    axis.ticks(scene, block, top + 34.0, bottom);
    for (index, row) in block.rows.iter().enumerate() {
        axis.row(scene, block, row, top + 40.0 + (index as f64 + 1.0) * ROW - 6.0);
    }
}

/// The scale of a panel, in nanoseconds for one call.
struct Axis {
    spread: Span,
    /// Of one item, in which ticks are written.
    items: f64,
}

impl Axis {
    /// A scale that shows everything that is known; published figures too, unless they are so far
    /// away that they would squeeze the rest.
    fn of(block: &Block) -> Option<Axis> {
        let summaries = block.rows.iter().filter_map(|row| metric_summary(row, Metric::WallTime));
        let times = summaries.flat_map(|s| [s.p10, s.median, s.p90]).filter_map(finite);
        let spread = spread_of(block);
        let ends = spread.iter().flat_map(|spread| [spread.low, spread.high]);
        let values: Vec<f64> = times.chain(ends).filter(|value| *value > 0.0).collect();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(0.0, f64::max);
        if values.is_empty() {
            return None;
        }
        let near = |ns: &f64| (least / LOG_FROM..=most * LOG_FROM).contains(ns);
        let published = block.rows.iter().filter_map(|row| block.published_ns(row)).filter(near);
        let (low, high) =
            published.fold((least, most), |(low, high), ns| (low.min(ns), high.max(ns)));
        let is_log = high > LOG_FROM * low || spread.is_some_and(|spread| spread.is_log);
        let spread = Span::of_times(low, high, is_log);
        Some(Axis { spread, items: block.of.items.max(1) as f64 })
    }

    fn x(&self, ns: f64) -> f64 {
        LEFT + self.spread.place(ns).clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// Where ticks stand, in the unit of one item.
    fn marks(&self) -> Vec<f64> {
        let (low, high) = (self.spread.low / self.items, self.spread.high / self.items);
        if self.spread.is_log {
            let powers = low.log10().floor() as i32..=high.log10().ceil() as i32;
            let marks = powers.flat_map(|power| [1.0, 2.0, 5.0].map(|n| n * 10f64.powi(power)));
            return marks.filter(|mark| (low..=high).contains(mark)).collect();
        }
        let step = round_step((high - low) / 6.0);
        let (first, last) = ((low / step).ceil() as i64, (high / step).floor() as i64);
        (first..=last).map(|index| index as f64 * step).collect()
    }

    fn ticks(&self, scene: &mut Scene, block: &Block, top: f64, bottom: f64) {
        scene.line("axis", (LEFT, bottom), (RIGHT, bottom));
        let mut free = LEFT - 40.0;
        for mark in self.marks() {
            let x = self.x(mark * self.items);
            scene.line("grid", (x, top), (x, bottom));
            let text = tick(mark);
            let half = width_of(&text, SMALL) / 2.0;
            if x - half > free {
                scene.text("dim small", x, bottom + 17.0, Anchor::Middle, &text);
                free = x + half + 6.0;
            }
        }
        let item = shorten_middle(&block.item(), 12, Look::PAPER);
        let kind = if self.spread.is_log { ", log" } else { "" };
        let text = format!("a {item}{kind}");
        scene.text("dim small", WIDTH - 24.0, bottom + 17.0, Anchor::End, &text);
    }

    fn row(&self, scene: &mut Scene, block: &Block, row: &StudyRow, y: f64) {
        let name = shorten_middle(&block.marked(row), NAME, Look::PAPER);
        scene.text("ink", LEFT - 14.0, y, Anchor::End, &name);
        self.hill(scene, row, y);
        let known = metric_summary(row, Metric::WallTime);
        let [low, middle, high] = known.map_or([None; 3], |s| [s.p10, s.median, s.p90]).map(finite);
        if let (Some(low), Some(high)) = (low, high) {
            scene.line("range", (self.x(low), y), (self.x(high), y));
        }
        if let Some(middle) = middle {
            scene.circle("dot", (self.x(middle), y), 4.5);
            let text = block.time_with_unit(middle);
            scene.text("ink small", WIDTH - 24.0, y, Anchor::End, &text);
        }
        if let Some(ns) = block.published_ns(row) {
            let x = self.x(ns);
            if (0.0..=1.0).contains(&self.spread.place(ns)) {
                scene.line("told", (x, y - 12.0), (x, y + 6.0));
            } else {
                let (text, anchor) =
                    if x <= LEFT { ("\u{2190}", Anchor::Start) } else { ("\u{2192}", Anchor::End) };
                scene.text("told-text small", x, y - 8.0, anchor, text);
            }
        }
    }

    /// The distribution of a row, above its line.
    fn hill(&self, scene: &mut Scene, row: &StudyRow, y: f64) {
        let Some(histogram) = &row.distribution else { return };
        let shares = shares(self.spread, histogram, PLACES);
        let most = shares.iter().copied().fold(0.0, f64::max);
        let step = (RIGHT - LEFT) / PLACES as f64;
        // Each stretch that is not empty is an outline of its own.
        let mut outline: Vec<(f64, f64)> = Vec::new();
        for (place, share) in shares.iter().chain([&0.0]).enumerate() {
            let x = LEFT + place as f64 * step;
            if *share > 0.0 {
                let height = (share / most * HILL).max(1.5);
                if outline.is_empty() {
                    outline.push((x, y));
                }
                outline.extend([(x, y - height), (x + step, y - height)]);
            } else if !outline.is_empty() {
                outline.push((x, y));
                scene.area("mass", &std::mem::take(&mut outline));
            }
        }
    }
}

fn tick(ns: f64) -> String {
    match ns {
        small if small < 1e-3 => Scale::of(Unit::Nanoseconds, small).write(small),
        other => value_text(Unit::Nanoseconds, other),
    }
}
