//! Pictures as SVG: self-contained, readable on light and on dark ground.

mod chart;
pub(crate) mod plot;
pub mod scene;
mod study;

pub use self::chart::{charts, ecdf};
pub use self::study::study;

use self::plot::Plot;
use self::scene::{Anchor, PLAIN, Scene, Sheet, WIDTH, width_of};
use crate::chart::Span;
use crate::picture::linear_ends;
use crate::prelude::*;
use crate::property::interval;
use crate::sentence::sentence;
use crate::text::wrap_plain;

/// Kept free on either side of the axis, so that labels of the outermost threshold fit.
const MARGIN: f64 = 110.0;
const LEFT: f64 = MARGIN;
const RIGHT: f64 = WIDTH - MARGIN;
/// Of the curve's peak above the axis.
const CURVE: f64 = 120.0;
const LINE: f64 = 20.0;

const SHEET: Sheet = Sheet::new("tiebreak-slo", include_str!("svg/slo.css"));

/// The report of Khuong (2020) about the first claim of a run that counts a share: the density of
/// plausible rates over an axis, the thresholds (the bad one blue, the good one red), the interval
/// and the estimate, the sign that says where the interval lies, and the sentence. `None` if no
/// claim counts one.
///
/// One SVG document of some kilobytes, without anything from elsewhere; texts are escaped.
pub fn slo(result: &RunResult) -> Option<String> {
    let claim = result.verdicts.iter().find(|claim| claim.share.is_some())?;
    let quantity = Presented::share_of(claim)?;
    let text = sentence(result, claim);
    let lines = wrap_plain(&text, 88);
    let top = 50.0 + lines.len() as f64 * LINE;
    let bottom = top + CURVE + 12.0;
    let plot = Plot { across: span(&quantity, claim), left: LEFT, right: RIGHT, top, bottom };
    let mut scene = Scene::new(SHEET, WIDTH, bottom + 84.0);
    for (index, line) in lines.iter().enumerate() {
        scene.text("ink title", 24.0, 30.0 + index as f64 * LINE, Anchor::Start, line);
    }
    plot.axis(&mut scene, &plot.across.ticks(8), |rate| quantity.mark(rate));
    // Of a void claim nothing can be said; where nothing was seen yet every rate is as plausible.
    if claim.verdict != Verdict::Void {
        curve(&mut scene, &plot, claim);
    }
    thresholds(&mut scene, &plot, &quantity);
    limits(&mut scene, &plot, &quantity);
    // Estimate and interval in digits, below the estimate as far as there is room.
    let found = match (quantity.estimate, claim.quantity.rate()) {
        (Some(_), Some(rate)) => interval(&quantity, claim, rate.confidence),
        _ => "nothing is known yet".to_owned(),
    };
    let half = width_of(&found, PLAIN) / 2.0;
    let place = quantity.estimate.or(quantity.low).or(quantity.high);
    let place = place.map_or(WIDTH / 2.0, |rate| plot.x(rate));
    let x = place.clamp(24.0 + half, (WIDTH - 24.0 - half).max(24.0 + half));
    scene.text("ink", x, bottom + 47.0, Anchor::Middle, &found);
    if let Some(sign) = Sign::of(&quantity) {
        let x = WIDTH - 24.0;
        scene.text("ink sign", x, bottom - 22.0, Anchor::End, &sign.glyph().to_string());
        scene.text("dim small", x, bottom - 2.0, Anchor::End, sign.word());
    }
    let note = "Red: the mass of plausible rates for a uniform prior. It is for the eye; verdict \
                and interval come from bets.";
    scene.text("dim small", WIDTH / 2.0, bottom + 72.0, Anchor::Middle, note);
    let title = format!("{}: {}", plain(&claim.claim), claim.verdict.name());
    Some(scene.finish(&title, &text))
}

/// Returns the ends of an axis of shares that shows all that is known, and where plausible rates
/// lie.
fn span(quantity: &Presented, claim: &ClaimResult) -> Span {
    if !quantity.is_known() {
        return Span { low: 0.0, high: 1.0, is_log: false };
    }
    let density = claim.share.iter().flat_map(|share| &share.density);
    let visible = density.filter(|(_, height)| *height > 0.02).map(|(rate, _)| *rate);
    let values: Vec<f64> = quantity.values().chain(visible).collect();
    let (low, high) = linear_ends(&values, true);
    Span { low, high, is_log: false }
}

/// Draws the mass of plausible rates, down to the axis.
fn curve(scene: &mut Scene, plot: &Plot, claim: &ClaimResult) {
    let density = claim.share.iter().flat_map(|share| &share.density);
    let inside = plot.across.low..=plot.across.high;
    let points: Vec<(f64, f64)> = density
        .filter(|(rate, height)| inside.contains(rate) && height.is_finite())
        .map(|(rate, height)| (plot.x(*rate), plot.bottom - height.clamp(0.0, 1.0) * CURVE))
        .collect();
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return };
    let corners = [(first.0, plot.bottom), (last.0, plot.bottom)];
    scene.area("mass", &[&corners[..1], &points, &corners[1..]].concat());
    scene.polyline("edge", &points);
}

/// Draws the thresholds: the label of the bad one stands left of its line, that of the good one
/// right of it, so that they never meet.
fn thresholds(scene: &mut Scene, plot: &Plot, quantity: &Presented) {
    let bars = quantity.bars.as_slice();
    for (index, rate) in bars.iter().enumerate() {
        let (class, word, offset, anchor) = match (bars.len(), index) {
            (1, _) => ("good", "at least", 6.0, Anchor::Start),
            (_, 0) => ("bad", "bad", -6.0, Anchor::End),
            _ => ("good", "good", 6.0, Anchor::Start),
        };
        let x = plot.x(*rate);
        scene.line(class, (x, plot.top - 12.0), (x, plot.bottom));
        let text = format!("{word} {}", quantity.mark(*rate));
        scene.text(&format!("{class}-text small"), x + offset, plot.top - 2.0, anchor, &text);
    }
}

/// Draws the interval as a grey bar through the curve: a cap where there is a limit, broken up to
/// the edge where there is none, a dot at the estimate.
fn limits(scene: &mut Scene, plot: &Plot, quantity: &Presented) {
    if !quantity.is_known() {
        return;
    }
    let y = plot.bottom - 24.0;
    let [low, high, middle] = [quantity.low, quantity.high, quantity.estimate]
        .map(|value| value.map(|rate| plot.x(rate)));
    let start = low.or(middle).unwrap_or(LEFT);
    let end = high.or(middle).unwrap_or(RIGHT);
    scene.line("bar", (start, y), (end, y));
    for (limit, edge, from) in [(low, LEFT, start), (high, RIGHT, end)] {
        match limit {
            Some(x) => scene.line("bar", (x, y - 9.0), (x, y + 9.0)),
            None => scene.line("bar open", (from, y), (edge, y)),
        }
    }
    if let Some(x) = middle {
        scene.circle("dot", (x, y), 5.0);
    }
}
