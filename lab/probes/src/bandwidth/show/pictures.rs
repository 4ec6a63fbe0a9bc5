//! The curves of bandwidth.

use super::name;
use crate::{Bandwidth, Traffic};
use tiebreak_report::chart::{Chart, Curve, Scale};

/// Bandwidth by threads, a curve a kernel with its threads pinned, and the knee of the reads.
pub(super) fn by_threads(found: &Bandwidth) -> Chart {
    let curves: Vec<Curve> = found
        .curves
        .iter()
        .filter(|curve| curve.is_pinned)
        .map(|curve| {
            let points = curve.points.iter().map(|p| (f64::from(p.threads), p.bytes_per_s));
            Curve { name: name(curve), points: points.collect() }
        })
        .collect();
    let most = found.cpus.len();
    let knee = found.curve(Traffic::Read, true).and_then(|curve| curve.knee.as_ref());
    let knee = knee.filter(|knee| most > 2 && knee.threads > 1);
    Chart {
        title: "Bandwidth by threads".to_owned(),
        x: Scale { label: "threads".to_owned(), is_log: most > 16, from_zero: false, write: whole },
        y: Scale { label: "GB/s".to_owned(), is_log: false, from_zero: true, write: ticks },
        curves,
        marks: knee
            .map(|k| (f64::from(k.threads), "95%, read medians".to_owned()))
            .into_iter()
            .collect(),
    }
}

/// Latency by the bandwidth beside it.
pub(super) fn loaded(found: &Bandwidth) -> Chart {
    let mut points: Vec<(f64, f64)> =
        found.loaded_latency.iter().map(|one| (one.bytes_per_s, one.latency_ns)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Chart {
        title: "Latency of a load beside reads".to_owned(),
        x: Scale {
            label: "GB/s that the other threads read".to_owned(),
            is_log: false,
            from_zero: true,
            write: ticks,
        },
        y: Scale { label: "ns".to_owned(), is_log: false, from_zero: true, write: whole },
        curves: vec![Curve { name: "a load from memory".to_owned(), points }],
        marks: Vec::new(),
    }
}

/// A tick in gigabytes a second: these are round.
fn ticks(bytes_per_s: f64) -> String {
    format!("{}", bytes_per_s / 1e9)
}

/// A tick; between two whole numbers there is none to name.
fn whole(value: f64) -> String {
    if (value - value.round()).abs() < 1e-6 { format!("{value:.0}") } else { String::new() }
}
