//! Numbers for readers: ratios, percentages, durations, and values in a unit of their size.

use tiebreak_core::metric::Unit;
pub use tiebreak_core::quantity::{Rounding, format_percent as percent, rounded};

/// Returns the value if it is finite.
pub fn finite(value: Option<f64>) -> Option<f64> {
    value.filter(|value| value.is_finite())
}

/// Returns the decimals with which the limits of a ratio (or, without any, its estimate) are
/// written so that the one closest to 1 still differs from it visibly.
pub fn ratio_decimals(estimate: Option<f64>, limits: [Option<f64>; 2]) -> usize {
    let [estimate, low, high] =
        [estimate, limits[0], limits[1]].map(|value| finite(value).filter(|value| *value > 0.0));
    let mut values: Vec<f64> = [low, high].into_iter().flatten().collect();
    if values.is_empty() {
        values.extend(estimate);
    }
    let all_large = !values.is_empty() && values.iter().all(|value| *value >= 50.0);
    let gaps = values.iter().flat_map(|r| [(r - 1.0).abs(), r / 10.0]).filter(|gap| *gap > 0.0);
    let needed = gaps.map(|gap| decimals_to_see(gap / 2.0).min(6)).max();
    needed.unwrap_or(0).max(if all_large { 0 } else { 2 })
}

/// Returns the decimals with which a number of this size is not written as 0; at most 7.
fn decimals_to_see(size: f64) -> usize {
    (-size.log10()).ceil().clamp(0.0, 7.0) as usize
}

/// Writes a ratio with the given decimals, `1.42x`; very small and large ones with an exponent.
pub fn ratio(value: f64, decimals: usize, rounding: Rounding) -> String {
    if !value.is_finite() {
        return "-".to_owned();
    }
    if value != 0.0 && !(1e-5..1e6).contains(&value.abs()) {
        return format!("{value:.1e}x");
    }
    format!("{:.decimals$}x", rounded(value, decimals, rounding))
}

/// Returns the decimals for shares as percentages, so that limits differ visibly from each other
/// and from the bars, and nothing but a share of 0 or 1 is written as `0%` or `100%`.
fn share_decimals(values: &[Option<f64>; 3], bars: &[f64]) -> usize {
    let known: Vec<f64> = values.iter().copied().flatten().collect();
    let limits: Vec<f64> = values[1..].iter().copied().flatten().collect();
    let ends = known.iter().flat_map(|value| [*value, 1.0 - value]);
    let width = limits.iter().flat_map(|a| limits.iter().map(move |b| (a - b).abs()));
    let apart = limits.iter().flat_map(|limit| bars.iter().map(move |bar| (limit - bar).abs()));
    let gaps = ends.chain(width).chain(apart).filter(|gap| *gap > 1e-12);
    gaps.map(|gap| decimals_to_see(gap * 50.0)).max().unwrap_or(0).max(1)
}

/// Writes a share as a percentage with the given decimals; 0 and 1 without any.
pub fn share(value: f64, decimals: usize, rounding: Rounding) -> String {
    let percent = value * 100.0;
    let decimals = if percent == 0.0 || percent == 100.0 { 0 } else { decimals };
    format!("{:.decimals$}%", rounded(percent, decimals, rounding))
}

/// Writes seconds for a sentence: `0.12 s`, `1.9 s`, `42 s`, `3 min 20 s`, `2 h 5 min`.
pub fn seconds(value: f64) -> String {
    let whole = value.round();
    let [large, small] = match value {
        v if !v.is_finite() => return "-".to_owned(),
        v if v == whole && v < 10.0 => return format!("{v:.0} s"),
        v if v < 0.995 => return format!("{v:.2} s"),
        v if v < 9.95 => return format!("{v:.1} s"),
        _ if whole < 120.0 => return format!("{whole:.0} s"),
        _ if whole < 7200.0 => [((whole / 60.0).floor(), "min"), (whole % 60.0, "s")],
        v => [((v / 3600.0).floor(), "h"), (((v % 3600.0) / 60.0).floor(), "min")],
    };
    let parts = [large, small].into_iter().filter(|(value, _)| *value != 0.0);
    parts.map(|(value, unit)| format!("{value:.0} {unit}")).collect::<Vec<_>>().join(" ")
}

/// Writes limits as a cell: `1.90x .. 1.97x`. An unknown limit is left out; `-` if both are
/// unknown.
pub(crate) fn between(low: Option<String>, high: Option<String>) -> String {
    if low.is_none() && high.is_none() {
        return "-".to_owned();
    }
    format!("{} .. {}", low.unwrap_or_default(), high.unwrap_or_default()).trim().to_owned()
}

/// Writes a number with its noun: `1 round`, `2 rounds`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// A unit that fits the size of some values, its size in base units, and the decimals to write.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    divisor: f64,
    name: &'static str,
    decimals: usize,
}

/// Returns the decimals with which a number has the given significant digits.
fn decimals(value: f64, digits: i32) -> usize {
    if value == 0.0 || !value.is_finite() {
        return 0;
    }
    // A number such as 9.9996 gets a digit more in front when it is rounded.
    let size = (value.abs() * (1.0 + 0.5 * 10f64.powi(-digits))).log10().floor() as i32;
    (digits - 1 - size).clamp(0, 4) as usize
}

impl Scale {
    /// Returns the unit in which this value has one to three (bytes: four) digits before the point,
    /// with decimals for four digits in all.
    pub fn of(unit: Unit, value: f64) -> Scale {
        let steps: &[(f64, &str)] = match unit {
            Unit::Nanoseconds => &[(1.0, "ns"), (1e3, "us"), (1e6, "ms"), (1e9, "s")],
            Unit::Nanojoules => &[(1.0, "nJ"), (1e3, "uJ"), (1e6, "mJ"), (1e9, "J"), (1e12, "kJ")],
            Unit::Count => &[(1.0, ""), (1e6, "M"), (1e9, "G"), (1e12, "T")],
            Unit::Bytes => &[
                (1.0, "B"),
                (1024.0, "KiB"),
                (1048576.0, "MiB"),
                (1073741824.0, "GiB"),
                (1099511627776.0, "TiB"),
            ],
        };
        let step = steps.iter().rev().find(|(divisor, _)| value.abs() >= *divisor);
        let (divisor, name) = *step.unwrap_or(&steps[0]);
        Scale { divisor, name, decimals: decimals(value / divisor, 4) }
    }

    /// Returns one unit for several values if their sizes allow it, so that they can be compared at
    /// a glance: the unit of the smallest, unless the largest is a thousand times as large. The
    /// largest gets four digits and the smallest at least three.
    pub fn shared(unit: Unit, values: &[f64]) -> Option<Scale> {
        let smallest = values.iter().copied().filter(|v| *v > 0.0).min_by(f64::total_cmp)?;
        let largest = values.iter().copied().max_by(f64::total_cmp)?;
        let scale = Scale::of(unit, smallest);
        let fewest = decimals(largest / scale.divisor, 4);
        let decimals = decimals(smallest / scale.divisor, 3).max(fewest);
        (largest < 1000.0 * smallest).then_some(Scale { decimals, ..scale })
    }

    /// Returns the name of the unit: `ns`, `MiB`; empty for plain numbers.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Writes a value without the unit. Bytes and events have no decimals unless the
    /// value lies between two of them.
    pub fn digits(self, value: f64) -> String {
        self.digits_rounded(value, Rounding::Nearest)
    }

    fn digits_rounded(self, value: f64, rounding: Rounding) -> String {
        if self.divisor == 1.0 && value == value.trunc() && value.abs() < 1e15 {
            return format!("{value:.0}");
        }
        let scaled = value / self.divisor;
        // Only plain numbers of a stream are too small or too large for every unit.
        if scaled != 0.0 && !(5e-4..1e7).contains(&scaled.abs()) {
            return format!("{scaled:.3e}");
        }
        format!("{:.*}", self.decimals, rounded(scaled, self.decimals, rounding))
    }

    /// Writes a limit with the unit, rounded away from the estimate.
    pub(crate) fn write_rounded(self, value: f64, rounding: Rounding) -> String {
        format!("{} {}", self.digits_rounded(value, rounding), self.name).trim_end().to_owned()
    }

    /// Writes a value with the unit.
    pub fn write(self, value: f64) -> String {
        self.write_rounded(value, Rounding::Nearest)
    }

    /// Writes a value with the unit and without trailing zeros.
    pub(crate) fn short(self, value: f64) -> String {
        format!("{} {}", trimmed(&self.digits(value)), self.name).trim_end().to_owned()
    }
}

/// Writes a value with its unit and without trailing zeros: `5 ms`, `1.5 MiB`.
pub fn value_text(unit: Unit, value: f64) -> String {
    Scale::of(unit, value).short(value)
}

/// Writes a ratio without trailing zeros: `1x`, `1.5x`, `0.98x`.
pub(crate) fn ratio_text(value: f64) -> String {
    let text = lone_ratio(value);
    text.strip_suffix('x').map_or(text.clone(), |digits| format!("{}x", trimmed(digits)))
}

/// Writes a ratio without limits, with the decimals that it needs.
pub(crate) fn lone_ratio(value: f64) -> String {
    ratio(value, ratio_decimals(Some(value), [None, None]), Rounding::Nearest)
}

/// Writes a share as a percentage without trailing zeros, with at most the given decimals: `98%`.
pub fn share_text(share: f64, decimals: usize) -> String {
    format!("{}%", trimmed(&format!("{:.decimals$}", share * 100.0)))
}

/// Removes trailing zeros: `1.500` becomes `1.5`.
pub(crate) fn trimmed(digits: &str) -> &str {
    if !digits.contains('.') || digits.contains('e') {
        return digits;
    }
    digits.trim_end_matches('0').trim_end_matches('.')
}

/// How a quantity is written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Kind {
    /// As a factor, `1.42x`.
    Ratio,
    /// As a percentage.
    Share,
    /// With a unit.
    Value(Unit),
}

impl Kind {
    /// Writes estimate, lower and upper limit with equally many decimals, so that they are read
    /// against each other and the bars at a glance; limits are rounded outwards.
    pub(crate) fn numbers(self, values: [Option<f64>; 3], bars: &[f64]) -> [Option<String>; 3] {
        let [estimate, low, high] = values;
        let known: Vec<f64> = values.into_iter().flatten().collect();
        let size = known.first().or(bars.first()).copied().unwrap_or(0.0);
        let write = |value: f64, rounding| match self {
            Kind::Ratio => ratio(value, ratio_decimals(estimate, [low, high]), rounding),
            Kind::Share => share(value, share_decimals(&values, bars), rounding),
            Kind::Value(unit) => {
                let scale = Scale::shared(unit, &known).unwrap_or_else(|| Scale::of(unit, size));
                scale.write_rounded(value, rounding)
            }
        };
        [
            estimate.map(|value| write(value, Rounding::Nearest)),
            low.map(|value| write(value, Rounding::Down)),
            high.map(|value| write(value, Rounding::Up)),
        ]
    }

    /// Writes a single value: `1.5x`, `98%`, `5 ms`.
    pub(crate) fn mark(self, value: f64) -> String {
        match self {
            Kind::Ratio => ratio_text(value),
            Kind::Share => share_text(value, GIVEN_DECIMALS),
            Kind::Value(unit) => value_text(unit, value),
        }
    }
}

/// Decimals of a percentage that is written with all the digits it was given with.
pub(crate) const GIVEN_DECIMALS: usize = 9;

/// Returns the text, or `-` for none.
pub(crate) fn or_none(text: Option<String>) -> String {
    text.unwrap_or_else(|| "-".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use Rounding::{Down, Nearest, Up};

    #[test]
    fn ratios_show_how_far_they_are_from_one() {
        for (low, high, expected) in [
            (Some(1.42), Some(1.03), "1.42x 1.03x"),
            (Some(0.9963), Some(1.0041), "0.996x 1.005x"),
            (Some(1.00004), Some(2.0), "1.00004x 2.00000x"),
            (Some(123.4), Some(140.2), "123x 141x"),
            (Some(12.0), None, "12.00x -"),
            (Some(0.00123), Some(0.5), "0.00123x 0.50000x"),
            (Some(3.0e9), Some(f64::INFINITY), "3.0e9x -"),
        ] {
            let decimals = ratio_decimals(Some(1.000001), [low, high]);
            let write = |r: Option<f64>, rounding| {
                r.map_or("-".to_owned(), |r| ratio(r, decimals, rounding))
            };
            assert_eq!(format!("{} {}", write(low, Down), write(high, Up)), expected);
        }
        assert_eq!(ratio_decimals(Some(1.004), [None, None]), 3);
    }

    #[test]
    fn bounds_are_rounded_so_that_they_stay_bounds() {
        assert_eq!(ratio(1.0349, 2, Down), "1.03x");
        assert_eq!(ratio(1.0301, 2, Up), "1.04x");
        assert_eq!(ratio(1.1, 2, Up), "1.10x");
    }

    #[test]
    fn shares_show_how_far_they_are_from_their_bars_and_from_all_or_nothing() {
        for (values, bars, expected) in [
            ([0.9972, 0.99312, 0.99931], vec![0.98], "99.72% 99.31% 99.94%"),
            ([0.5, 0.4, 0.6], vec![0.5], "50.0% 40.0% 60.0%"),
            ([0.999988, 0.9999, 1.0], vec![0.9999], "99.9988% 99.9900% 100%"),
            ([0.99, 0.980004, 0.995], vec![0.98], "99.0000% 98.0004% 99.5000%"),
            ([0.0, 0.0, 0.01], vec![0.5], "0% 0% 1.0%"),
        ] {
            let decimals = share_decimals(&values.map(Some), &bars);
            let roundings = [Nearest, Down, Up];
            let texts = [0, 1, 2].map(|index| share(values[index], decimals, roundings[index]));
            assert_eq!(texts.join(" "), expected);
        }
        assert_eq!(share_decimals(&[None; 3], &[0.98]), 1);
    }

    #[test]
    fn durations_are_short() {
        for (value, text) in [
            (0.123, "0.12 s"),
            (1.94, "1.9 s"),
            (9.99, "10 s"),
            (60.0, "60 s"),
            (200.0, "3 min 20 s"),
            (180.0, "3 min"),
            (7500.0, "2 h 5 min"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(seconds(value), text);
        }
    }

    #[test]
    fn values_share_a_unit_when_they_are_of_a_size() {
        let scale = Scale::shared(Unit::Nanoseconds, &[980e3, 1.2e6]).unwrap();
        assert_eq!((scale.write(980e3), scale.write(1.2e6)), ("980 us".into(), "1200 us".into()));
        assert_eq!(Scale::shared(Unit::Nanoseconds, &[1e3, 1e9]), None);
        assert_eq!(Scale::shared(Unit::Count, &[0.0]), None);
        assert_eq!(Scale::of(Unit::Count, 12.0).write(12.0), "12");
        assert_eq!(Scale::of(Unit::Count, 2e-7).write(2e-7), "2.000e-7");
        let scale = Scale::of(Unit::Nanoseconds, 4.2e6);
        assert_eq!(scale.write_rounded(4_200_100.0, Up), "4.201 ms");
        assert_eq!(Scale::of(Unit::Bytes, 1572864.0).write(1572864.0), "1.500 MiB");
    }
}
