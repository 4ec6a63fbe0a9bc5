//! Small functions that several probes use.

use crate::show::{Chart, Curve, Scale};

/// Joins texts by commas.
pub(crate) fn joined(texts: impl IntoIterator<Item = String>) -> String {
    texts.into_iter().collect::<Vec<_>>().join(", ")
}

/// Makes a chart of curves, each a name and its points, without marks.
pub(crate) fn chart<N: Into<String>>(
    title: &str,
    [x, y]: [Scale; 2],
    curves: impl IntoIterator<Item = (N, Vec<(f64, f64)>)>,
) -> Chart {
    let curves = curves.into_iter().map(|(name, points)| Curve { name: name.into(), points });
    Chart { title: title.to_owned(), x, y, curves: curves.collect(), marks: Vec::new() }
}

/// Writes a whole number.
pub(crate) fn whole(value: f64) -> String {
    format!("{value:.0}")
}
