//! Numbers with units, as people type and read them.

use crate::terms::Budget;
use std::fmt;

/// The maximum of a budget or a time-out in seconds: about 30 years.
pub const SECONDS_MAX: f64 = 1e9;
/// The bound below which all CPU numbers lie.
const CPU_LIMIT: usize = 65536;
/// The maximum length of a list of CPUs in bytes: many long ranges would take for ever.
const CPU_LIST_MAX: usize = 4096;

/// The error of a text that is not the expected quantity; it says what would be right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAQuantity {
    /// The text that was typed.
    pub text: String,
    /// The form that would be right.
    pub expected: &'static str,
}

impl fmt::Display for NotAQuantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "'{}' is not {}", self.text, self.expected)
    }
}

impl std::error::Error for NotAQuantity {}

impl NotAQuantity {
    fn new(text: &str, expected: &'static str) -> NotAQuantity {
        NotAQuantity { text: text.to_owned(), expected }
    }
}

fn number(text: &str) -> Option<f64> {
    let plain = text.bytes().all(|b| b.is_ascii_digit() || b == b'.' || b == b'e' || b == b'-');
    text.parse().ok().filter(|value: &f64| plain && value.is_finite() && *value >= 0.0)
}

fn with_suffix(text: &str, suffixes: &[(&str, f64)]) -> Option<f64> {
    // From the end, so that the exponent of 1e-6 is not taken for a unit.
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '%');
    let suffix = &text[digits.len()..];
    let scale = suffixes.iter().find(|(name, _)| *name == suffix.trim())?.1;
    Some(number(digits.trim())? * scale)
}

/// Reads a duration (`30s`, `1.5 ms`, `2min`, `250us`) as nanoseconds.
///
/// # Errors
/// Fails if the text has no unit, another unit, or a number that is not finite and at least 0.
pub fn parse_duration_ns(text: &str) -> Result<f64, NotAQuantity> {
    let units = [
        ("ns", 1.0),
        ("us", 1e3),
        ("ms", 1e6),
        ("s", 1e9),
        ("sec", 1e9),
        ("m", 60e9),
        ("min", 60e9),
        ("h", 3600e9),
    ];
    with_suffix(text.trim(), &units)
        .ok_or_else(|| NotAQuantity::new(text, "a duration such as 30s, 250ms or 2min"))
}

/// Reads a share (`1%`, `0.01`) as a fraction.
///
/// # Errors
/// Fails if the text is not a number of at least 0, with or without a percent sign.
pub fn parse_fraction(text: &str) -> Result<f64, NotAQuantity> {
    let text = text.trim();
    let fraction = match text.strip_suffix('%').map(str::trim) {
        // Shifted as a decimal, so that 99.99% is the same float as 0.9999; arithmetic would miss
        // it.
        Some(percent) if !percent.contains(['e', 'E']) => number(&format!("{percent}e-2")),
        Some(percent) => number(percent).map(|percent| percent / 100.0),
        None => number(text),
    };
    fraction.ok_or_else(|| NotAQuantity::new(text, "a share such as 1% or 0.01"))
}

/// Reads a size (`64MiB`, `1GB`, `4096`) as bytes.
///
/// # Errors
/// Fails if the text is not a number, with or without a unit of bytes.
pub fn parse_bytes(text: &str) -> Result<u64, NotAQuantity> {
    let units = [
        ("", 1.0),
        ("B", 1.0),
        ("kB", 1e3),
        ("KiB", 1024.0),
        ("MB", 1e6),
        ("MiB", 1048576.0),
        ("GB", 1e9),
        ("GiB", 1073741824.0),
    ];
    let bytes = with_suffix(text.trim(), &units).filter(|bytes| *bytes < 9e18);
    bytes
        .map(|bytes| bytes as u64)
        .ok_or_else(|| NotAQuantity::new(text, "a size such as 64MiB or 1GB"))
}

/// Reads a budget: `30s`, `500 rounds`, or both with a comma.
///
/// # Errors
/// Fails if a part is neither a time above 0 and at most [`SECONDS_MAX`] nor a whole number of
/// rounds above 0, or if two parts are of the same kind.
pub fn parse_budget(text: &str) -> Result<Budget, NotAQuantity> {
    budget_of(text).ok_or_else(|| {
        NotAQuantity::new(text, "a budget such as 30s, '500 rounds' or '2min, 500 rounds'")
    })
}

fn budget_of(text: &str) -> Option<Budget> {
    let mut budget = Budget { rounds: None, seconds: None };
    for part in text.split(',').map(str::trim) {
        let count = part.strip_suffix("rounds").or_else(|| part.strip_suffix("round"));
        let is_second = if let Some(count) = count {
            let rounds = count.trim().parse().ok().filter(|rounds: &u64| *rounds > 0);
            budget.rounds.replace(rounds?).is_some()
        } else {
            let seconds = parse_duration_ns(part).ok()? / 1e9;
            let seconds = Some(seconds).filter(|s| *s > 0.0 && *s <= SECONDS_MAX);
            budget.seconds.replace(seconds?).is_some()
        };
        if is_second {
            return None;
        }
    }
    Some(budget)
}

/// Reads a list of CPUs as the kernel writes them, `0,2-5`. Returns each CPU once, in order.
///
/// # Errors
/// Fails if a part is neither a number below 65536 nor two of them with a minus between, the
/// smaller first.
pub fn parse_cpus(text: &str) -> Result<Vec<usize>, NotAQuantity> {
    cpus_of(text).ok_or_else(|| NotAQuantity::new(text, "a list of CPUs such as 1 or 0,2-5"))
}

fn cpus_of(text: &str) -> Option<Vec<usize>> {
    if text.len() > CPU_LIST_MAX {
        return None;
    }
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last): (usize, usize) = (first.trim().parse().ok()?, last.trim().parse().ok()?);
        if last < first || last >= CPU_LIMIT {
            return None;
        }
        cpus.extend(first..=last);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Some(cpus)
}

/// Returns bytes as hexadecimal digits.
pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes a sorted list of CPUs as the kernel does: `0-3,7`.
pub fn format_cpus(cpus: &[usize]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut rest = cpus;
    while let Some(&first) = rest.first() {
        let run = rest.iter().enumerate().take_while(|(i, cpu)| **cpu == first + i).count();
        let last = rest[run - 1];
        parts.push(if run == 1 { first.to_string() } else { format!("{first}-{last}") });
        rest = &rest[run..];
    }
    parts.join(",")
}

/// Writes nanoseconds with four significant digits and a suitable unit: `12.35 ms`.
pub fn format_ns(ns: f64) -> String {
    let (value, unit) = match ns.abs() {
        ns if ns < 1e3 => (ns, "ns"),
        ns if ns < 1e6 => (ns / 1e3, "us"),
        ns if ns < 1e9 => (ns / 1e6, "ms"),
        ns => (ns / 1e9, "s"),
    };
    format!("{} {unit}", four_digits(value.copysign(ns)))
}

/// Formats seconds of an estimate with two digits, rounded up: `8.5 s`, `140 s`, `12 min`, `3.1 h`.
/// Without the space it can be typed as a budget.
pub fn format_rough_seconds(seconds: f64) -> String {
    let (value, unit) = match seconds {
        s if s < 180.0 => (s, "s"),
        s if s < 5400.0 => (s / 60.0, "min"),
        s => (s / 3600.0, "h"),
    };
    let decimals = usize::from(value <= 9.9);
    // Tens of a number with three digits.
    let scale = if value > 99.0 { 10.0 } else { 1.0 };
    let up = rounded(value / scale, decimals, Rounding::Up) * scale;
    format!("{up:.decimals$} {unit}")
}

/// Writes a number with four significant digits, without an exponent: `0.1234`, `12.35`, `1235`.
pub fn four_digits(value: f64) -> String {
    let decimals = match value.abs() {
        v if v >= 999.95 => 0,
        v if v >= 99.995 => 1,
        v if v >= 9.9995 => 2,
        v if v >= 0.99995 || v == 0.0 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}")
}

/// The direction in which a bound is rounded, so that the printed value is still a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rounding {
    /// To the nearest.
    Nearest,
    /// Towards smaller values: for lower limits.
    Down,
    /// Towards larger values: for upper limits.
    Up,
}

/// Rounds a value to a number of decimals.
pub fn rounded(value: f64, decimals: usize, rounding: Rounding) -> f64 {
    let scale = 10f64.powi(decimals as i32);
    let scaled = value * scale;
    // A value that is already a decimal number must not move because of its binary form.
    if (scaled - scaled.round()).abs() < 1e-9 * scaled.abs().max(1.0) {
        return scaled.round() / scale;
    }
    match rounding {
        Rounding::Nearest => value,
        Rounding::Down => scaled.floor() / scale,
        Rounding::Up => scaled.ceil() / scale,
    }
}

/// Writes a fraction as a percentage of two significant digits, without trailing zeros: `1.2%`,
/// `0.0002%`. Close to 100%, the significant digits are those of the difference to 100%: `99.6%`.
pub fn format_percent(fraction: f64, rounding: Rounding) -> String {
    let percent = fraction * 100.0;
    if !percent.is_finite() {
        return "-".to_owned();
    }
    let size = if percent > 90.0 && percent < 100.0 { 100.0 - percent } else { percent.abs() };
    let digits = if size == percent.abs() { 2.0 } else { 1.0 };
    let decimals =
        if size > 0.0 { (digits - size.log10().floor() - 1.0).clamp(0.0, 18.0) } else { 0.0 };
    let text = format!("{:.*}", decimals as usize, rounded(percent, decimals as usize, rounding));
    let text =
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text}%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_read_with_their_unit() {
        for (text, ns) in [("30s", 30e9), ("1.5 ms", 1.5e6), ("2min", 120e9), ("0s", 0.0)] {
            assert_eq!(parse_duration_ns(text), Ok(ns), "{text}");
        }
        for text in ["", "30", "s", "-1s", "1parsec", "infs", "nans", "1e999s", "1 2s"] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fractions_read_with_and_without_percent() {
        for (text, fraction) in [
            ("1%", 0.01),
            ("0.01", 0.01),
            ("0", 0.0),
            ("150 %", 1.5),
            ("99.99%", 0.9999),
            ("1e-6", 1e-6),
            ("95%", 0.95),
        ] {
            assert_eq!(parse_fraction(text), Ok(fraction), "{text}");
        }
        for text in ["", "%", "one", "-1%", "1%%", "NaN", "inf"] {
            assert!(parse_fraction(text).is_err(), "{text}");
        }
    }

    #[test]
    fn rough_seconds_are_rounded_up_and_can_be_typed() {
        let check = |seconds: f64, expected: &str| {
            let text = format_rough_seconds(seconds);
            assert_eq!(text, expected, "{seconds}");
            let typed_ns = parse_duration_ns(&text.replace(' ', "")).unwrap();
            assert!(typed_ns >= seconds * 1e9 && typed_ns <= seconds * 1.2e9, "{text}");
        };
        check(0.95, "1.0 s");
        check(8.41, "8.5 s");
        check(57.2, "58 s");
        check(131.0, "140 s");
        check(140.0, "140 s");
        check(181.0, "3.1 min");
        check(4000.0, "67 min");
        check(22_000.0, "6.2 h");
    }

    #[test]
    fn sizes_read_in_both_kinds_of_unit() {
        assert_eq!(parse_bytes("64MiB"), Ok(64 << 20));
        assert_eq!(parse_bytes("1 GB"), Ok(1_000_000_000));
        assert!(parse_bytes("1 gallon").is_err());
    }

    #[test]
    fn budgets_are_times_or_rounds_or_both() {
        let check =
            |text, rounds, seconds| assert_eq!(parse_budget(text), Ok(Budget { rounds, seconds }));
        check("30s", None, Some(30.0));
        check("500 rounds", Some(500), None);
        check("1 round", Some(1), None);
        check("2min, 500rounds", Some(500), Some(120.0));
        for text in
            ["", "30", "0s", "0 rounds", "1s,2s", "-1s", "1e99h", "many rounds", "1.5 rounds"]
        {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }

    #[test]
    fn cpu_lists_are_numbers_and_ranges() {
        assert_eq!(parse_cpus("0,2-4,3"), Ok(vec![0, 2, 3, 4]));
        for text in ["", "a", "3-1", "1,", "99999999"] {
            assert!(parse_cpus(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lists_of_cpus_are_short() {
        for (cpus, text) in [(&[0, 1, 2, 3, 7][..], "0-3,7"), (&[1, 2, 5], "1-2,5"), (&[], "")] {
            assert_eq!(format_cpus(cpus), text);
        }
    }

    #[test]
    fn numbers_are_written_with_four_digits() {
        assert_eq!(format_ns(12_345_678.0), "12.35 ms");
        assert_eq!(format_ns(999.96), "1000 ns");
        assert_eq!(format_ns(3.2e9), "3.200 s");
    }

    #[test]
    fn percentages_have_two_digits_that_count() {
        use Rounding::{Down, Nearest, Up};
        for (fraction, rounding, text) in [
            (0.01, Nearest, "1%"),
            (0.99, Nearest, "99%"),
            (0.98, Nearest, "98%"),
            (0.005, Nearest, "0.5%"),
            (0.0, Up, "0%"),
            (1.0, Nearest, "100%"),
            (0.0123, Nearest, "1.2%"),
            (0.999, Nearest, "99.9%"),
            (0.5, Nearest, "50%"),
            (1.5, Nearest, "150%"),
            (0.01 / 3.0, Up, "0.34%"),
            (1.0 - 0.01 / 3.0, Down, "99.6%"),
            // An error above 0 is not written as 0.
            (2e-6, Up, "0.0002%"),
            (3e-6 * 5.0, Up, "0.0015%"),
            (1e-12, Up, "0.0000000001%"),
            (1e-15 / 3.0, Up, "0.000000000000034%"),
            (1e-12, Nearest, "0.0000000001%"),
            (f64::INFINITY, Up, "-"),
        ] {
            assert_eq!(format_percent(fraction, rounding), text);
        }
    }
}
