//! Curves over an axis, in letters and as SVG: what every probe and every study that sweeps a size
//! draws.

mod ticks;
mod words;

pub(crate) use self::ticks::round_step;

use crate::look::Look;

/// A chart of one or more curves.
#[derive(Clone, Debug)]
pub struct Chart {
    /// What stands above it.
    pub title: String,
    /// The axis from left to right.
    pub x: Scale,
    /// The axis from bottom to top.
    pub y: Scale,
    /// The curves, each with its name.
    pub curves: Vec<Curve>,
    /// Places on the x axis that are marked, with a word: the advertised size of a cache.
    pub marks: Vec<(f64, String)>,
}

/// An axis.
#[derive(Clone, Debug)]
pub struct Scale {
    /// What it shows, with the unit: `threads`, `ns a load`.
    pub label: String,
    /// Whether equal distances are equal ratios; all values are then above 0.
    pub is_log: bool,
    /// Whether it begins at 0 (a linear axis only).
    pub from_zero: bool,
    /// How a value is written at a tick.
    pub write: fn(f64) -> String,
}

/// A curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Its name, in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

/// An axis with its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Span {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Whether equal ratios are equally far apart.
    pub is_log: bool,
}

impl Scale {
    /// Makes an axis that begins where its values do.
    pub(crate) fn new(label: impl Into<String>, is_log: bool, write: fn(f64) -> String) -> Scale {
        Scale { label: label.into(), is_log, from_zero: false, write }
    }
}

impl Chart {
    /// The chart in letters, at most `look.columns()` wide and about 16 lines high, with a legend.
    /// Empty if there is no point to draw.
    pub fn text(&self, look: &Look) -> String {
        words::draw(self, look).unwrap_or_default()
    }

    /// The x axis over all points and marks.
    pub fn across(&self) -> Option<Span> {
        let marks = self.marks.iter().map(|mark| mark.0);
        Span::over(&self.x, self.points().map(|point| point.0).chain(marks))
    }

    /// The y axis over all points, with some space at its ends.
    pub fn upwards(&self) -> Option<Span> {
        Some(Span::over(&self.y, self.points().map(|point| point.1))?.wider(&self.y))
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        self.curves.iter().flat_map(|curve| curve.points.iter().copied())
    }

    /// Ticks of the x axis, at most so many. Where all values are powers of two, or halfway
    /// between, the ticks are powers of two.
    pub fn x_ticks(&self, axis: Span, most: usize) -> Vec<f64> {
        let binary = self.x.is_log && self.points().all(|point| ticks::is_binary(point.0));
        ticks::at(axis, most, binary)
    }

    /// Ticks of the y axis, at most so many.
    pub fn y_ticks(&self, axis: Span, most: usize) -> Vec<f64> {
        ticks::at(axis, most, false)
    }
}

impl Span {
    /// The ends of what an axis must show; `None` if there is nothing that it could.
    fn over(scale: &Scale, values: impl Iterator<Item = f64>) -> Option<Span> {
        let fits = |value: &f64| value.is_finite() && (!scale.is_log || *value > 0.0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(fits) {
            (low, high) = (low.min(value), high.max(value));
        }
        if scale.from_zero && !scale.is_log {
            low = low.min(0.0);
        }
        (low <= high).then_some(Span { low, high, is_log: scale.is_log })
    }

    /// Spans from the least to the greatest time, with a little space beyond both.
    pub(crate) fn of_times(low: f64, high: f64, is_log: bool) -> Span {
        if is_log {
            return Span { low: low / 1.1, high: high * 1.1, is_log };
        }
        let room = (high - low).max(high * 1e-6) * 0.04;
        Span { low: (low - room).max(0.0), high: high + room, is_log }
    }

    /// With space beyond the outermost values; a single value stands in the middle.
    fn wider(self, scale: &Scale) -> Span {
        let Span { low, high, is_log } = self;
        if is_log {
            let factor = if high > low { (high / low).powf(0.06) } else { 2.0 };
            return Span { low: low / factor, high: high * factor, is_log };
        }
        let space = if high > low { (high - low) * 0.06 } else { high.abs().max(1.0) * 0.5 };
        let low = if scale.from_zero && low >= 0.0 { 0.0 } else { low - space };
        Span { low, high: high + space, is_log }
    }

    /// Round values between the ends, at most so many.
    pub fn ticks(self, most: usize) -> Vec<f64> {
        ticks::at(self, most, false)
    }

    /// Where a value lies, from 0 at the low end to 1 at the high one.
    pub fn place(self, value: f64) -> f64 {
        let Span { low, high, is_log } = self;
        let share = match is_log {
            _ if high <= low => 0.5,
            true => (value / low).ln() / (high / low).ln(),
            false => (value - low) / (high - low),
        };
        if share.is_finite() { share } else { 0.0 }
    }
}

#[cfg(test)]
mod tests;
