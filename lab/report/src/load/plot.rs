//! Latencies by percentile, as a picture.

use super::is_interval;
use crate::chart::{Chart, Scale};
use crate::prelude::*;
use crate::study::ecdf::time;
use tiebreak_core::load::{LoadResult, Pace, PaceResult};

/// The ratio of the greatest latency to the least above which their scale is logarithmic.
const LOG_FROM: f64 = 8.0;

/// Returns the latencies over the shares, of which each further step leaves a tenth of the one
/// before above it: 90%, 99%, 99.9%. Of one load there are two curves, from the actual and from the
/// intended sends, unless they are one; of several a curve each, from the intended sends.
pub fn chart(result: &LoadResult) -> Chart {
    let curves: Vec<(String, Vec<(f64, f64)>)> = match &result.loads[..] {
        [load] if is_interval(load) => vec![
            ("from the intended send".to_owned(), points(load, |at| at.1)),
            ("from the actual send".to_owned(), points(load, |at| at.0)),
        ],
        [load] => vec![("latency".to_owned(), points(load, |at| at.1))],
        loads => loads.iter().map(|load| (name(&load.pace), points(load, |at| at.1))).collect(),
    };
    let latencies = curves.iter().flat_map(|(_, points)| points).map(|(_, ns)| *ns);
    let (low, high) =
        (latencies.clone().fold(f64::INFINITY, f64::min), latencies.fold(0.0, f64::max));
    let is_log = low > 0.0 && high > LOG_FROM * low;
    let kind = if is_log { "latency, logarithmic" } else { "latency" };
    Chart::new(
        result.url.as_str(),
        [
            Scale::new("share of the arrivals that took at most so long", true, percentile),
            Scale { from_zero: true, ..Scale::new(kind, is_log, time) },
        ],
        curves,
    )
}

/// The chart as one SVG document without anything from elsewhere, readable on light and on dark
/// ground.
pub fn svg(result: &LoadResult) -> String {
    crate::svg::charts(&[chart(result)])
}

fn name(pace: &Pace) -> String {
    match pace {
        Pace::Open { rate_per_second, .. } => format!("{rate_per_second} a second"),
        Pace::Closed { .. } => "closed loop".to_owned(),
    }
}

/// Returns a curve over `1 / (1 - share)`; the greatest latency has no place on it.
fn points(load: &PaceResult, bound: impl Fn((f64, f64)) -> f64) -> Vec<(f64, f64)> {
    let inner = load.latencies.iter().filter(|at| at.share < 1.0);
    let points =
        inner.map(|at| (1.0 / (1.0 - at.share), bound((at.low_ns as f64, at.high_ns as f64))));
    points.collect()
}

/// Writes a place on the axis as the share that it stands for.
fn percentile(place: f64) -> String {
    share_text(1.0 - 1.0 / place, 6)
}
