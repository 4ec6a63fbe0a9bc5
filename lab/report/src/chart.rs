//! Curves over an axis, in letters and as SVG: what every probe and every study that sweeps a size
//! draws.

use crate::look::Look;

/// A chart of one or more curves.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Chart {
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
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Scale {
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
pub(crate) struct Curve {
    /// Its name, in the legend.
    pub name: String,
    /// Its points, from left to right.
    pub points: Vec<(f64, f64)>,
}

impl Chart {
    /// The chart in letters, at most `look.columns()` wide and about 16 lines high, with a legend.
    pub(crate) fn text(&self, _look: &Look) -> String {
        String::new()
    }

    /// The chart as a self-contained SVG document, for light and dark ground.
    pub(crate) fn svg(&self) -> String {
        String::new()
    }
}
