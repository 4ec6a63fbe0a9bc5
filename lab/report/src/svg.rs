//! Pictures as SVG: self-contained, readable on light and on dark ground.

mod chart;
mod ecdf;
pub mod scene;
mod study;

pub use self::chart::charts;
pub use self::ecdf::ecdf;
pub use self::study::study;

use self::scene::{Anchor, Scene, Sheet};
use crate::chart::round_step;
use crate::number::{Rounding, percent};
use crate::picture::linear_ends;
use crate::presented::Presented;
use crate::presented::Sign;
use crate::property::is_bursty;
use crate::sentence::sentence;
use crate::text::{plain, wrap_plain};
use tiebreak_core::result::{ClaimResult, RunResult};
use tiebreak_core::verdict::Verdict;

const WIDTH: f64 = 720.0;
/// Kept free on either side of the axis, so that labels beside the outermost threshold fit.
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
    let top = 16.0 + lines.len() as f64 * LINE + 34.0;
    let axis = Axis::of(&quantity, claim, top + CURVE + 12.0);
    let mut scene = Scene::new(SHEET, WIDTH, axis.y + 84.0);
    for (index, line) in lines.iter().enumerate() {
        scene.text("ink title", 24.0, 30.0 + index as f64 * LINE, Anchor::Start, line);
    }
    // Of a void claim nothing can be said; where nothing was seen yet every rate is as plausible.
    if claim.verdict != Verdict::Void {
        axis.curve(&mut scene, claim);
    }
    axis.ticks(&mut scene);
    axis.thresholds(&mut scene, &quantity, top);
    axis.interval(&mut scene, &quantity);
    axis.label(&mut scene, &quantity, claim);
    if let Some(sign) = Sign::of(&quantity) {
        let x = WIDTH - 24.0;
        scene.text("ink sign", x, axis.y - 22.0, Anchor::End, &sign.glyph().to_string());
        scene.text("dim small", x, axis.y - 2.0, Anchor::End, sign.word());
    }
    let note = "Red: the mass of plausible rates for a uniform prior. It is for the eye; verdict \
                and interval come from bets.";
    scene.text("dim small", WIDTH / 2.0, axis.y + 72.0, Anchor::Middle, note);
    let title = format!("{}: {}", plain(&claim.claim), claim.verdict.name());
    Some(scene.finish(&title, &text))
}

/// The axis of shares, and where it lies.
struct Axis {
    low: f64,
    high: f64,
    y: f64,
}

impl Axis {
    fn of(quantity: &Presented, claim: &ClaimResult, y: f64) -> Axis {
        if !quantity.is_known() {
            return Axis { low: 0.0, high: 1.0, y };
        }
        let known = [quantity.estimate, quantity.low, quantity.high].into_iter().flatten();
        let density = claim.share.iter().flat_map(|share| &share.density);
        let visible = density.filter(|(_, height)| *height > 0.02).map(|(rate, _)| *rate);
        let values: Vec<f64> = known.chain(quantity.bars.iter().copied()).chain(visible).collect();
        let (low, high) = linear_ends(&values, true);
        Axis { low, high, y }
    }

    fn x(&self, rate: f64) -> f64 {
        let share = (rate - self.low) / (self.high - self.low);
        LEFT + share.clamp(0.0, 1.0) * (RIGHT - LEFT)
    }

    /// The mass of plausible rates, down to the axis.
    fn curve(&self, scene: &mut Scene, claim: &ClaimResult) {
        let density = claim.share.iter().flat_map(|share| &share.density);
        let inside = |rate: f64| (self.low..=self.high).contains(&rate);
        let points: Vec<(f64, f64)> = density
            .filter(|(rate, height)| inside(*rate) && height.is_finite())
            .map(|(rate, height)| (self.x(*rate), self.y - height.clamp(0.0, 1.0) * CURVE))
            .collect();
        let (Some(first), Some(last)) = (points.first(), points.last()) else {
            return;
        };
        let corners = [(first.0, self.y), (last.0, self.y)];
        let outline = [&corners[..1], &points, &corners[1..]].concat();
        scene.area("mass", &outline);
        scene.polyline("edge", &points);
    }

    /// The axis with labelled ticks, as many as there is room for, and four smaller ones between.
    fn ticks(&self, scene: &mut Scene) {
        scene.line("axis", (LEFT, self.y), (RIGHT, self.y));
        let mut most = 8.0;
        let (step, decimals) = loop {
            let step = round_step((self.high - self.low) / most);
            let decimals = (-(step * 100.0).log10() - 1e-9).ceil().max(0.0) as usize;
            let width = scene::width_of(&format!("{:.decimals$}%", 99.0), scene::SMALL) + 18.0;
            if width * most <= RIGHT - LEFT || most <= 2.0 {
                break (step, decimals);
            }
            most -= 1.0;
        };
        let minor = step / 5.0;
        let first = (self.low / minor - 1e-6).ceil() as i64;
        let last = (self.high / minor + 1e-6).floor() as i64;
        for index in first..=last {
            let rate = index as f64 * minor;
            let x = self.x(rate);
            let is_major = index % 5 == 0;
            let length = if is_major { 7.0 } else { 4.0 };
            scene.line("axis", (x, self.y), (x, self.y + length));
            if is_major {
                let text = format!("{:.decimals$}%", rate * 100.0);
                scene.text("dim small", x, self.y + 22.0, Anchor::Middle, &text);
            }
        }
    }

    /// The thresholds: the label of the bad one stands left of its line, that of the good one
    /// right of it, so that they never meet.
    fn thresholds(&self, scene: &mut Scene, quantity: &Presented, top: f64) {
        let marks: Vec<(f64, &str, &str, Anchor)> = match quantity.bars.as_slice() {
            [only] => vec![(*only, "good", "at least", Anchor::Start)],
            [bad, good] => {
                let bad = (*bad, "bad", "bad", Anchor::End);
                vec![bad, (*good, "good", "good", Anchor::Start)]
            }
            _ => Vec::new(),
        };
        for (rate, class, word, anchor) in marks {
            let x = self.x(rate);
            scene.line(class, (x, top - 12.0), (x, self.y));
            let beside = if anchor == Anchor::Start { 6.0 } else { -6.0 };
            let text = format!("{word} {}", quantity.mark(rate));
            scene.text(&format!("{class}-text small"), x + beside, top - 2.0, anchor, &text);
        }
    }

    /// The interval as a grey bar through the curve: a cap where there is a limit, broken up to the
    /// edge where there is none, a dot at the estimate.
    fn interval(&self, scene: &mut Scene, quantity: &Presented) {
        if !quantity.is_known() {
            return;
        }
        let y = self.y - 24.0;
        let ends = [quantity.low.map(|low| self.x(low)), quantity.high.map(|high| self.x(high))];
        let middle = quantity.estimate.map(|estimate| self.x(estimate));
        let start = ends[0].or(middle).unwrap_or(LEFT);
        let end = ends[1].or(middle).unwrap_or(RIGHT);
        scene.line("bar", (start, y), (end, y));
        for (end, edge, from) in [(ends[0], LEFT, start), (ends[1], RIGHT, end)] {
            match end {
                Some(x) => scene.line("bar", (x, y - 9.0), (x, y + 9.0)),
                None => scene.line("bar open", (from, y), (edge, y)),
            }
        }
        if let Some(x) = middle {
            scene.circle("dot", (x, y), 5.0);
        }
    }

    /// Estimate and interval in digits, below the estimate as far as there is room.
    fn label(&self, scene: &mut Scene, quantity: &Presented, claim: &ClaimResult) {
        let text = digits(quantity, claim);
        let half = scene::width_of(&text, scene::PLAIN) / 2.0;
        let place = quantity
            .estimate
            .or(quantity.low)
            .or(quantity.high)
            .map_or(WIDTH / 2.0, |at| self.x(at));
        let x = place.clamp(24.0 + half, (WIDTH - 24.0 - half).max(24.0 + half));
        scene.text("ink", x, self.y + 47.0, Anchor::Middle, &text);
    }
}

/// `99.72% (99.31% to 99.94% with confidence 98%)`.
fn digits(quantity: &Presented, claim: &ClaimResult) -> String {
    let [estimate, ..] = quantity.numbers();
    let Some(estimate) = estimate else {
        return "nothing is known yet".to_owned();
    };
    let limits = quantity.limits();
    let confidence = match claim.quantity.rate() {
        Some(rate) if (quantity.low.is_some() || quantity.high.is_some()) && !is_bursty(claim) => {
            format!(", confidence {}", percent(rate.confidence, Rounding::Down))
        }
        _ => String::new(),
    };
    format!("{estimate} ({limits}{confidence})")
}
