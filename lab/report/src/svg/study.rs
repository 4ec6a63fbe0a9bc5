//! The spread of a study's contestants as a picture.

use super::plot::{Plot, hills};
use super::scene::{Anchor, Scene, Sheet, WIDTH, fit_title};
use crate::chart::Span;
use crate::histogram::shares;
use crate::prelude::*;
use crate::study::ecdf::time;
use crate::study::{Block, about, quantiles, spread_of};

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
    let mut scene = Scene::new(SHEET, WIDTH, 0.0);
    let note = "Each row: timed batches, p10 to p90, and the median; orange: as published.";
    let title = scene.head(study, note);
    scene.height = 70.0;
    for block in study.runs.iter().filter_map(Block::of) {
        panel(&mut scene, &block);
    }
    scene.height += 14.0;
    scene.finish(&title, &crate::study::summary(study))
}

fn panel(scene: &mut Scene, block: &Block) {
    let top = scene.height;
    let workload = &block.of.workload;
    let title = format!("{}{}", workload.name, about(workload));
    scene.text("ink", 24.0, top + 22.0, Anchor::Start, &fit_title(&title));
    let Some(across) = scale(block) else {
        if !block.rows.is_empty() {
            scene.text("dim", LEFT, top + 50.0, Anchor::Start, "nothing was timed yet");
        }
        scene.height += 64.0;
        return;
    };
    let bottom = top + 40.0 + block.rows.len() as f64 * ROW;
    let plot = Plot { across, left: LEFT, right: RIGHT, top: top + 34.0, bottom };
    // Ticks are round in the time of one item.
    let items = block.of.items.max(1) as f64;
    let Span { low, high, is_log } = across;
    let ticks = Span { low: low / items, high: high / items, is_log }.ticks(12);
    let ticks: Vec<f64> = ticks.into_iter().map(|tick| tick * items).collect();
    plot.axis(scene, &ticks, |ns| time(ns / items));
    let item = shorten_middle(&block.item(), 12, Look::PAPER);
    let kind = if is_log { ", log" } else { "" };
    let text = format!("a {item}{kind}");
    scene.text("dim small", WIDTH - 24.0, bottom + 18.0, Anchor::End, &text);
    for (index, of) in block.rows.iter().enumerate() {
        row(scene, &plot, block, of, top + 40.0 + (index as f64 + 1.0) * ROW - 6.0);
    }
    scene.height = bottom + 42.0;
}

/// Returns a scale that shows everything that is known, in nanoseconds for one call; published
/// figures too, unless they are so far away that they would squeeze the rest.
fn scale(block: &Block) -> Option<Span> {
    let times = block.rows.iter().flat_map(|row| quantiles(row)).flatten();
    let spread = spread_of(block);
    let ends = spread.iter().flat_map(|spread| [spread.low, spread.high]);
    let values: Vec<f64> = times.chain(ends).filter(|value| *value > 0.0).collect();
    let least = values.iter().copied().min_by(f64::total_cmp)?;
    let most = values.iter().copied().max_by(f64::total_cmp)?;
    let near = least / LOG_FROM..=most * LOG_FROM;
    let published = block.rows.iter().filter_map(|row| block.published_ns(row));
    let published = published.filter(|ns| near.contains(ns));
    let (low, high) = published.fold((least, most), |(low, high), ns| (low.min(ns), high.max(ns)));
    let is_log = high > LOG_FROM * low || spread.is_some_and(|spread| spread.is_log);
    let span = Span { low, high, is_log }.wider(false);
    Some(Span { low: span.low.max(0.0), ..span })
}

fn row(scene: &mut Scene, plot: &Plot, block: &Block, row: &StudyRow, y: f64) {
    let name = shorten_middle(&block.marked(row), NAME, Look::PAPER);
    scene.text("ink", LEFT - 14.0, y, Anchor::End, &name);
    if let Some(histogram) = &row.distribution {
        let shares = shares(plot.across, histogram, PLACES);
        scene.path("mass", &hills(&shares, [LEFT, RIGHT], y, HILL));
    }
    let [low, middle, high] = quantiles(row);
    if let (Some(low), Some(high)) = (low, high) {
        scene.line("range", (plot.x(low), y), (plot.x(high), y));
    }
    if let Some(middle) = middle {
        scene.circle("dot", (plot.x(middle), y), 4.5);
        let text = block.time_with_unit(middle);
        scene.text("ink small", WIDTH - 24.0, y, Anchor::End, &text);
    }
    let Some(ns) = block.published_ns(row) else { return };
    let x = plot.x(ns);
    match plot.across.place(ns) {
        0.0..=1.0 => scene.line("published", (x, y - 12.0), (x, y + 6.0)),
        ..0.0 => scene.text("published-text small", x, y - 8.0, Anchor::Start, "\u{2190}"),
        _ => scene.text("published-text small", x, y - 8.0, Anchor::End, "\u{2192}"),
    }
}
