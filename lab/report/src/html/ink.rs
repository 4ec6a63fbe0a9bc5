//! Pictures in a page.

use crate::chart::Span;
use crate::histogram::{is_drawn, shares};
use crate::picture::Axis;
use crate::prelude::*;
use crate::svg::plot::hills;
use crate::svg::scene::number;
use maud::{Markup, PreEscaped, html};
use tiebreak_core::result::Histogram;

/// Units of a picture's width and height; it is stretched to the room that there is.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 20.0;
/// Places along a distribution.
const PLACES: usize = 40;

/// Draws a distribution as hills over a scale, with marks at the range from p10 to p90 and at the
/// median; nothing if there is nothing to draw.
pub(super) fn strip(
    spread: Span,
    histogram: &Histogram,
    [low, middle, high]: [Option<f64>; 3],
) -> Option<Markup> {
    let [low, middle, high] = [low, middle, high].map(|value| {
        let place = value.filter(|value| value.is_finite()).map(|value| spread.place(value));
        place.map(|place| (place.clamp(0.0, 1.0) * (WIDTH - 4.0)).round())
    });
    let mut marks = String::new();
    if let (Some(low), Some(high)) = (low, high) {
        let width = number((high - low).max(2.0));
        marks += &format!("M{} 17h{width}v2h-{width}z", number(low));
    }
    if let Some(x) = middle {
        marks += &format!("M{} 0h4v20h-4z", number(x));
    }
    let hills = hills(&shares(spread, histogram, PLACES), [0.0, WIDTH], HEIGHT - 3.0, HEIGHT - 3.0);
    // The first path is the hills, the second one the marks on them.
    is_drawn(histogram).then(|| picture(&(shape("", &hills) + &shape("", &marks))))
}

/// Draws the interval of a claim on an axis with its bars, and the ends of the axis next to it.
pub(super) fn interval(quantity: &Presented, resolution: f64) -> Markup {
    let axis = Axis::around(std::slice::from_ref(quantity), resolution, 60);
    let x = |value: f64| (axis.span.place(value).clamp(0.0, 1.0) * WIDTH).round();
    let bars = quantity.bars.iter().map(|bar| format!("M{} 0h3v20h-3z", number(x(*bar))));
    let mut shapes = shape("z", &bars.collect::<String>());
    let [low, middle, high] =
        [quantity.low, quantity.estimate, quantity.high].map(|value| value.map(x));
    let known = [low.or(middle).or(high), high.or(middle).or(low)];
    if let [Some(from), Some(to)] = known {
        // Up to the edge where there is no bound yet.
        let parts = [
            ("o", 0.0, from, low.is_none()),
            ("o", to, WIDTH, high.is_none()),
            ("m", from, to, true),
        ];
        for (class, from, to, _) in parts.into_iter().filter(|(.., is_there)| *is_there) {
            let width = number((to - from).max(2.0));
            shapes += &shape(class, &format!("M{} 6h{width}v8h-{width}z", number(from)));
        }
    }
    if let Some(x) = middle {
        shapes += &shape("", &format!("M{} 3h4v14h-4z", number((x - 2.0).max(0.0))));
    }
    let Span { low, high, .. } = axis.span;
    html! { div.a { (quantity.mark(low)) (picture(&shapes)) (quantity.mark(high)) } }
}

fn picture(shapes: &str) -> Markup {
    let size = format!("0 0 {WIDTH} {HEIGHT}");
    html! { svg viewBox=(size) preserveAspectRatio="none" { (PreEscaped(shapes)) } }
}

fn shape(class: &str, path: &str) -> String {
    match class {
        "" => format!("<path d=\"{path}\"/>"),
        class => format!("<path class={class} d=\"{path}\"/>"),
    }
}
