//! Pictures in a page.

use crate::picture::Axis;
use crate::presented::Presented;
use crate::svg::scene::number;
use maud::{Markup, PreEscaped, html};

/// Units of a picture's width and height; it is stretched to the room that there is.
const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 20.0;

/// Draws a distribution as hills of given heights, with the median and the range from p10 to p90;
/// places are from 0 to 1.
pub(super) fn strip(heights: &[f64], [low, middle, high]: [Option<f64>; 3]) -> Markup {
    let most = heights.iter().copied().fold(0.0, f64::max);
    let step = WIDTH / heights.len().max(1) as f64;
    let mut path = String::new();
    let mut last = 0;
    for (index, height) in heights.iter().chain([&0.0]).enumerate() {
        let filled = HEIGHT - 3.0;
        let level = if most > 0.0 { (height / most * filled).ceil() as i64 } else { 0 };
        if level != last {
            let (x, base) = (number((index as f64 * step).round()), HEIGHT - 3.0);
            path += &match (last, level) {
                (0, level) => format!("M{x} {base}v-{level}"),
                (_, level) => format!("H{x}V{}", base - level as f64),
            };
            last = level;
        }
    }
    let inside = |place: Option<f64>| {
        place.filter(|place| place.is_finite()).map(|p| p.clamp(0.0, 1.0) * (WIDTH - 4.0))
    };
    let mut marks = String::new();
    if let (Some(low), Some(high)) = (inside(low), inside(high)) {
        let width = number((high - low).max(2.0).round());
        marks += &format!("M{} 17h{width}v2h-{width}z", number(low.round()));
    }
    if let Some(x) = inside(middle) {
        marks += &format!("M{} 0h4v20h-4z", number(x.round()));
    }
    // The first path is the hills, the second one the marks on them.
    picture(&(shape("", &path) + &shape("", &marks)))
}

/// Draws the interval of a claim on an axis with its bars, and the ends of the
/// axis beside it.
pub(super) fn interval(quantity: &Presented, resolution: f64) -> Markup {
    let axis = Axis::around(std::slice::from_ref(quantity), resolution, 60);
    let x = |value: f64| (axis.place(value).clamp(0.0, 1.0) * WIDTH).round();
    let mut shapes = String::new();
    let bars = quantity.bars.iter().map(|bar| format!("M{} 0h3v20h-3z", number(x(*bar))));
    shapes += &shape("z", &bars.collect::<String>());
    let middle = quantity.estimate.map(x);
    let low = quantity.low.map(x).or(middle);
    let high = quantity.high.map(x).or(middle);
    let bar = |class: &str, from: f64, to: f64| {
        let width = number((to - from).max(2.0));
        shape(class, &format!("M{} 6h{width}v8h-{width}z", number(from)))
    };
    if let (Some(low), Some(high)) = (low.or(high), high.or(low)) {
        // Up to the edge where there is no bound yet.
        if quantity.low.is_none() {
            shapes += &bar("o", 0.0, low);
        }
        if quantity.high.is_none() {
            shapes += &bar("o", high, WIDTH);
        }
        shapes += &bar("m", low, high);
    }
    if let Some(x) = middle {
        shapes += &shape("", &format!("M{} 3h4v14h-4z", number((x - 2.0).max(0.0))));
    }
    let (low, high) = axis.ends();
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

/// Places along a distribution.
pub(super) const PLACES: usize = 40;
