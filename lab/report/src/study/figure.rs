//! Published figures: their units, and our times in them.

use tiebreak_core::quantity::four_digits;
use tiebreak_core::result::WorkloadResult;
use tiebreak_core::study::FigureUnit;

/// Returns the unit as the source writes it.
pub(crate) fn unit(unit: FigureUnit) -> &'static str {
    match unit {
        FigureUnit::NanosecondsAnItem => "ns/item",
        FigureUnit::MillionsASecond => "M/s",
        FigureUnit::GigabytesASecond => "GB/s",
        FigureUnit::Microseconds => "us",
        FigureUnit::Seconds => "s",
        FigureUnit::Megabytes => "MB",
    }
}

/// A figure as nanoseconds for one call, which does the whole workload once; `None` of memory, and
/// of what is not above 0.
pub(crate) fn to_ns(unit: FigureUnit, value: f64, of: &WorkloadResult) -> Option<f64> {
    let (items, bytes) = (of.items as f64, of.input_bytes as f64);
    let ns = match unit {
        FigureUnit::NanosecondsAnItem => value * items,
        FigureUnit::MillionsASecond => items / value * 1e3,
        FigureUnit::GigabytesASecond => bytes / value,
        FigureUnit::Microseconds => value * 1e3,
        FigureUnit::Seconds => value * 1e9,
        FigureUnit::Megabytes => return None,
    };
    (ns.is_finite() && ns > 0.0).then_some(ns)
}

/// A time for one call in the unit of a figure.
pub(crate) fn from_ns(unit: FigureUnit, ns: f64, of: &WorkloadResult) -> Option<f64> {
    let one = to_ns(unit, 1.0, of)?;
    let value = match unit {
        FigureUnit::MillionsASecond | FigureUnit::GigabytesASecond => one / ns,
        _ => ns / one,
    };
    value.is_finite().then_some(value)
}

/// Writes a number next to a published figure with three significant digits, as most figures have.
pub(crate) fn digits(value: f64) -> String {
    match value.abs() {
        size if size >= 99.95 => format!("{value:.0}"),
        size if size >= 9.995 => format!("{value:.1}"),
        size if size >= 0.9995 => format!("{value:.2}"),
        _ => four_digits(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fixture::study::studied;

    #[test]
    fn figures_and_times_are_turned_into_each_other() {
        let study = studied();
        let of = study.runs[0].study.as_ref().unwrap();
        for (unit, value, expected) in [
            (FigureUnit::NanosecondsAnItem, 2.0, Some(40_000.0)),
            (FigureUnit::MillionsASecond, 425.0, Some(20_000.0 / 0.425)),
            (FigureUnit::GigabytesASecond, 2.0, Some(51_337.0 / 2.0)),
            (FigureUnit::Microseconds, 7.8, Some(7_800.0)),
            (FigureUnit::Seconds, 3.0, Some(3e9)),
            (FigureUnit::Megabytes, 43.3, None),
            (FigureUnit::MillionsASecond, 0.0, None),
        ] {
            let ns = to_ns(unit, value, of);
            assert_eq!(ns, expected);
            if let Some(ns) = ns {
                let back = from_ns(unit, ns, of).unwrap();
                assert!((back / value - 1.0).abs() < 1e-12, "{unit:?} {back}");
            }
        }
        let shown = [984.3, 43.31, 9.999, 7.8, 0.1234].map(digits);
        assert_eq!(shown, ["984", "43.3", "10.0", "7.80", "0.1234"]);
    }
}
