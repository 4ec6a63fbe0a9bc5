//! Numbers of a sentence: amounts (`1.5x`, `5%`), shares (`98%`, `p99`) and bars, which are in the
//! unit of a metric (`5 ms`, `64 MiB`, `1000`).

use crate::cursor::Cursor;
use crate::decimal::{Decimal, hundredfold, shifted_text};
use crate::error::{ClaimError, OUT_OF_RANGE, Read, offered};
use crate::suggest::closest;
use std::ops::Range;
use tiebreak_core::metric::{Metric, Unit as MetricUnit};

/// The exclusive limit of factors; a claim beyond 1000000 is a slip.
const FACTOR_LIMIT: f64 = 1e6_f64.next_up();
/// The exclusive limit of all percentages.
const PERCENT_LIMIT: f64 = 1e5;
/// The exclusive limit of percentages of `less`, which keeps the factor below the largest.
const LESS_PERCENT_LIMIT: f64 = 99.9999;

/// What an amount means, and so how it becomes a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// `faster`: `1.5x` is the factor 1.5, and `5%` is 1.05.
    Faster,
    /// `less`: `2x` is the factor 2, and so is `50%`, a half.
    Less,
    /// `slower` and `more`: `2%` is the fraction 0.02, and so is `1.02x`.
    More,
    /// `within`: like `More`, but above 0, because a difference of exactly zero can never be
    /// proven.
    Within,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    Factor,
    Percent,
}

const UNITS: [(&str, Unit); 4] = [
    ("x", Unit::Factor),
    ("times", Unit::Factor),
    ("%", Unit::Percent),
    ("percent", Unit::Percent),
];

impl Unit {
    fn from_name(name: &str) -> Option<Unit> {
        UNITS.iter().find(|(unit, _)| unit.eq_ignore_ascii_case(name)).map(|(_, unit)| *unit)
    }
}

/// Splits a word into its number, with its sign, and the rest.
fn number_and_unit(word: &str) -> (&str, &str) {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    word.split_at(end.unwrap_or(word.len()))
}

/// A number as typed, with its unit: the rest of its word, or else the next word.
struct Typed<'a> {
    decimal: Decimal<'a>,
    digits: &'a str,
    is_negative: bool,
    /// Empty at the end of the sentence.
    unit: &'a str,
    /// The number of words with the unit.
    words: usize,
}

impl<'a> Typed<'a> {
    fn read(cursor: &Cursor<'a>) -> Option<Typed<'a>> {
        let (number, rest) = number_and_unit(cursor.ahead(0)?.raw);
        let digits = number.strip_prefix('-').unwrap_or(number);
        let decimal = Decimal::parse(digits)?;
        let next = cursor.ahead(1).filter(|_| rest.is_empty());
        let (unit, words) = next.map_or((rest, 1), |next| (next.raw, 2));
        Some(Typed { decimal, digits, is_negative: digits != number, unit, words })
    }

    /// Returns whether the unit is in the word of the number.
    fn is_one_word(&self) -> bool {
        self.words == 1 && !self.unit.is_empty()
    }
}

/// Reads an amount: a factor or a fraction, depending on the scale.
pub fn amount(cursor: &mut Cursor<'_>, scale: Scale) -> Read<f64> {
    let Some(typed) = Typed::read(cursor) else { return Err(not_an_amount(cursor)) };
    let Some(unit) = Unit::from_name(typed.unit) else {
        if typed.is_one_word() {
            return Err(not_an_amount(cursor));
        }
        let expected = ["x", "%"].map(|unit| format!("{}{unit}", typed.digits));
        let expected = offered(expected.iter().map(String::as_str));
        return Err(cursor.error(NOT_AN_AMOUNT, expected));
    };
    let (value, range) = value(typed.decimal, unit, scale);
    let Some(value) = value.filter(|_| !typed.is_negative) else {
        return Err(cursor.error_about(typed.words, OUT_OF_RANGE, vec![range.to_owned()]));
    };
    cursor.skip(typed.words);
    Ok(value)
}

/// Returns the number that an amount stands for, `None` if it is out of range; and the range.
fn value(decimal: Decimal<'_>, unit: Unit, scale: Scale) -> (Option<f64>, &'static str) {
    let value = match (unit, scale) {
        (Unit::Factor, Scale::Faster | Scale::Less) => Some(decimal.value()),
        (Unit::Factor, Scale::More | Scale::Within) => decimal.minus_one(),
        (Unit::Percent, Scale::Faster) => Some(decimal.one_and_hundredth()),
        (Unit::Percent, Scale::Less) => Some(1.0 / (1.0 - decimal.hundredth())),
        (Unit::Percent, Scale::More | Scale::Within) => Some(decimal.hundredth()),
    };
    let (limit, range) = match (unit, scale) {
        (Unit::Factor, Scale::More) => (FACTOR_LIMIT, "a factor from 1 to 1000000"),
        (Unit::Factor, Scale::Within) => (FACTOR_LIMIT, "a factor above 1 and at most 1000000"),
        (Unit::Factor, _) => (FACTOR_LIMIT, "a factor above 0 and at most 1000000"),
        (Unit::Percent, Scale::Less) => (LESS_PERCENT_LIMIT, "at least 0% and less than 99.9999%"),
        (Unit::Percent, Scale::Within) => (PERCENT_LIMIT, "more than 0% and less than 100000%"),
        (Unit::Percent, _) => (PERCENT_LIMIT, "at least 0% and less than 100000%"),
    };
    let value = value.filter(|value| *value > 0.0 || scale == Scale::More);
    (value.filter(|_| decimal.value() < limit), range)
}

const NOT_AN_AMOUNT: &str = "'{}' is neither a factor nor a percentage";

fn not_an_amount(cursor: &Cursor<'_>) -> ClaimError {
    let with_point = cursor.ahead(0).map(|token| token.raw.replacen(',', ".", 1));
    let meant = with_point.filter(|word| {
        let (number, name) = number_and_unit(word);
        Decimal::parse(number).is_some() && Unit::from_name(name).is_some()
    });
    let expected = vec!["an amount such as 1.5x or 5%".to_owned()];
    cursor.error(NOT_AN_AMOUNT, expected).suggest(meant.as_deref())
}

/// A share, and its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Share {
    /// The value, above 0 and below 1.
    pub value: f64,
    pub span: Range<usize>,
}

/// Reads a share, above 0% and below 100%.
pub fn share(cursor: &mut Cursor<'_>) -> Read<Share> {
    let Some(typed) = Typed::read(cursor) else { return Err(not_a_share(cursor, None)) };
    let Typed { decimal, words, .. } = typed;
    if Unit::from_name(typed.unit) != Some(Unit::Percent) {
        return Err(not_a_share(cursor, Some(decimal).filter(|_| !typed.is_one_word())));
    }
    let value = decimal.hundredth();
    if typed.is_negative || !is_share(value) {
        let expected = vec!["a share above 0% and below 100%".to_owned()];
        return Err(cursor.error_about(words, OUT_OF_RANGE, expected));
    }
    let span = cursor.span(words);
    cursor.skip(words);
    Ok(Share { value, span })
}

/// Reads a percentile, `p99` for the share 0.99; `None` if the next word is not one.
pub fn percentile(cursor: &mut Cursor<'_>) -> Option<Read<f64>> {
    let decimal = cursor.ahead(0)?.raw.strip_prefix(['p', 'P']).and_then(Decimal::parse)?;
    let value = decimal.hundredth();
    if !is_share(value) {
        let expected = vec!["a percentile above p0 and below p100".to_owned()];
        return Some(Err(cursor.error(OUT_OF_RANGE, expected)));
    }
    cursor.skip(1);
    Some(Ok(value))
}

fn is_share(value: f64) -> bool {
    value > 0.0 && value < 1.0
}

/// Returns an error with a suggestion: a number alone was probably meant as a percentage, and 0.98
/// as 98%.
fn not_a_share(cursor: &Cursor<'_>, number: Option<Decimal<'_>>) -> ClaimError {
    let meant = number.map(Decimal::value).and_then(|value| match value {
        v if is_share(v) => Some(format!("{}%", hundredfold(v))),
        v if (1.0..100.0).contains(&v) => Some(format!("{v}%")),
        _ => None,
    });
    let expected = vec!["a share such as 98%".to_owned()];
    cursor.error("'{}' is not a share", expected).suggest(meant.as_deref())
}

/// The largest bar, in the metric's unit: 31 years in nanoseconds, and more bytes than any machine
/// has.
const MAX_BAR: f64 = 1e18;

/// A unit: its metric's unit, and how a number in it becomes one in the metric's unit: shifted by
/// this power of ten, and times this factor.
type MetricScale = (MetricUnit, i32, f64);

/// The units, in the order in which errors list them.
const METRIC_UNITS: [(&str, MetricScale); 16] = [
    ("ns", (MetricUnit::Nanoseconds, 0, 1.0)),
    ("us", (MetricUnit::Nanoseconds, 3, 1.0)),
    ("ms", (MetricUnit::Nanoseconds, 6, 1.0)),
    ("s", (MetricUnit::Nanoseconds, 9, 1.0)),
    (MINUTE, (MetricUnit::Nanoseconds, 9, 60.0)),
    ("B", (MetricUnit::Bytes, 0, 1.0)),
    ("kB", (MetricUnit::Bytes, 3, 1.0)),
    ("KiB", (MetricUnit::Bytes, 0, 1024.0)),
    ("MB", (MetricUnit::Bytes, 6, 1.0)),
    ("MiB", (MetricUnit::Bytes, 0, 1_048_576.0)),
    ("GB", (MetricUnit::Bytes, 9, 1.0)),
    ("GiB", (MetricUnit::Bytes, 0, 1_073_741_824.0)),
    ("nJ", (MetricUnit::Nanojoules, 0, 1.0)),
    ("uJ", (MetricUnit::Nanojoules, 3, 1.0)),
    ("mJ", (MetricUnit::Nanojoules, 6, 1.0)),
    ("J", (MetricUnit::Nanojoules, 9, 1.0)),
];

/// The unit in which no bar is written, as a division by 60 is not exact.
const MINUTE: &str = "min";

/// A number as typed, with its unit and its position. Its value depends on the metric, which may be
/// named later.
#[derive(Clone, Debug)]
pub struct Bar<'a> {
    decimal: Decimal<'a>,
    is_negative: bool,
    unit: Option<MetricScale>,
    pub span: Range<usize>,
}

/// Finds a unit of a metric by its name, in any case except for joules, where a mega is not a
/// milli.
fn metric_unit(name: &str) -> Option<MetricScale> {
    let exact = METRIC_UNITS.into_iter().find(|(unit, _)| *unit == name);
    let same = METRIC_UNITS.into_iter().find(|(unit, (kind, ..))| {
        *kind != MetricUnit::Nanojoules && unit.eq_ignore_ascii_case(name)
    });
    exact.or(same).map(|(_, scale)| scale)
}

/// Reads a number with a unit, or one without that is followed by a word of `then` or by the end.
pub fn bar<'a>(cursor: &mut Cursor<'a>, then: &[&str]) -> Read<Bar<'a>> {
    let Some(typed) = Typed::read(cursor) else {
        let expected = vec!["a number such as 5 ms".to_owned()];
        return Err(cursor.error("'{}' is not a number", expected));
    };
    let has_unit =
        typed.is_one_word() || typed.words == 2 && !then.iter().any(|word| cursor.is_word(1, word));
    let words = if has_unit { typed.words } else { 1 };
    let span = cursor.span(words);
    let unit = metric_unit(typed.unit).filter(|_| has_unit);
    if has_unit && unit.is_none() {
        let names = METRIC_UNITS.map(|(name, ..)| name);
        let meant = closest(typed.unit, names).filter(|_| typed.unit.len() > 1);
        let span = span.end - typed.unit.len()..span.end;
        return Err(cursor.error_at(span, "'{}' is not a unit", offered(names)).suggest(meant));
    }
    cursor.skip(words);
    Ok(Bar { decimal: typed.decimal, is_negative: typed.is_negative, unit, span })
}

impl Bar<'_> {
    /// Returns the value in the unit of the metric.
    pub fn value(&self, cursor: &Cursor<'_>) -> Read<f64> {
        let metric = cursor.metric();
        let (kind, exponent, factor) = self.unit.unwrap_or((MetricUnit::Count, 0, 1.0));
        if kind != metric.unit() {
            let span = self.span.clone();
            let message = format!("'{{}}' is not an amount of {}", metric.name());
            let mut error = cursor.error_at(span.clone(), &message, vec![]);
            error.expected = self.amounts(&error.text[span], metric);
            return Err(match (cursor.metric.is_some(), kind) {
                (false, MetricUnit::Bytes) => error.or_expect("'by peak memory' at the end"),
                (false, MetricUnit::Nanojoules) => error.or_expect("'by energy' at the end"),
                _ => error,
            });
        }
        let value = self.decimal.shifted(exponent) * factor;
        if self.is_negative || value <= 0.0 || value > MAX_BAR {
            let expected = format!("more than 0 and at most {}", written(MAX_BAR, metric.unit()));
            return Err(cursor.error_at(self.span.clone(), OUT_OF_RANGE, vec![expected]));
        }
        Ok(value)
    }

    /// Returns the amounts of the metric that an error suggests: the number, if it came without a
    /// unit, with each unit.
    fn amounts(&self, amount: &str, metric: Metric) -> Vec<String> {
        let of_it = METRIC_UNITS.iter().filter(|(_, (kind, ..))| *kind == metric.unit());
        let names = of_it.map(|(name, ..)| *name);
        if self.unit.is_none() {
            let amounts: Vec<String> = names.map(|name| format!("{amount} {name}")).collect();
            return offered(amounts.iter().map(String::as_str));
        }
        let mut units = offered(names);
        match units.first_mut() {
            Some(first) => *first = format!("a number with {first}"),
            None => units.push("a plain number such as 1000".to_owned()),
        }
        units
    }
}

/// Writes a bar in the unit that makes it shortest. [`Bar::value`] returns it exactly, to the last
/// bit.
pub fn written(value: f64, kind: MetricUnit) -> String {
    if kind == MetricUnit::Count {
        return value.to_string();
    }
    let mut shortest: Option<String> = None;
    for (name, (unit, exponent, factor)) in METRIC_UNITS {
        let is_large = exponent == 0 && factor == 1.0 || value >= 10_f64.powi(exponent) * factor;
        if unit != kind || name == MINUTE || !is_large {
            continue;
        }
        // Exact, as the other factors are powers of two.
        let text = format!("{} {name}", shifted_text(value / factor, -exponent));
        if shortest.as_ref().is_none_or(|shortest| text.len() <= shortest.len()) {
            shortest = Some(text);
        }
    }
    shortest.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check_amount(text: &str, scale: Scale, expected: Option<f64>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let read = amount(&mut cursor, scale);
        assert_eq!(read.as_ref().ok().copied(), expected, "{text} {scale:?}: {read:?}");
        assert_eq!(cursor.ahead(0).is_none(), read.is_ok(), "{text} is read to its end");
    }

    #[test]
    fn all_units_are_read_on_all_scales() {
        for text in ["1.5x", "1.5X", "1.5 x", "1.5times", "1.5 Times", "50%", "50 %", "50 percent"]
        {
            check_amount(text, Scale::Faster, Some(1.5));
            check_amount(text, Scale::More, Some(0.5));
            check_amount(text, Scale::Within, Some(0.5));
        }
        check_amount("2x", Scale::Less, Some(2.0));
        check_amount("50%", Scale::Less, Some(2.0));
        check_amount("20%", Scale::Less, Some(1.25));
        check_amount("5%", Scale::Faster, Some(1.05));
        check_amount("1.02x", Scale::More, Some(0.02));
    }

    #[test]
    fn ranges_end_where_they_say() {
        let cases = [
            (Scale::Faster, "1000000x", Some(1e6)),
            (Scale::Faster, "1000001x", None),
            (Scale::Faster, "0.0x", None),
            (Scale::Faster, "-2x", None),
            (Scale::Faster, "0%", Some(1.0)),
            (Scale::Faster, "99999%", Some(1000.99)),
            (Scale::Faster, "100000%", None),
            (Scale::Less, "99.9999%", None),
            (Scale::Less, "100%", None),
            (Scale::Less, "0x", None),
            (Scale::More, "1x", Some(0.0)),
            (Scale::More, "0%", Some(0.0)),
            (Scale::More, "-0%", None),
            (Scale::More, "0.99999999999999999999x", None),
            (Scale::Within, "0%", None),
            (Scale::Within, "1x", None),
        ];
        for (scale, text, expected) in cases {
            check_amount(text, scale, expected);
        }
        let digits = "9".repeat(400);
        check_amount(&format!("{digits}x"), Scale::Faster, None);
        check_amount(&format!("0.{}1%", "0".repeat(400)), Scale::Within, None);
        let largest = format!("{}%", LESS_PERCENT_LIMIT.next_down());
        let mut cursor = Cursor::new(&largest, &[]).unwrap();
        assert!(amount(&mut cursor, Scale::Less).unwrap() < FACTOR_LIMIT);
    }

    fn check_share(text: &str, expected: Result<f64, &str>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let read = share(&mut cursor).map(|share| share.value);
        assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(cursor.ahead(0).is_none(), expected.is_ok(), "{text} is read to its end");
    }

    #[test]
    fn shares_are_percentages_between_none_and_all() {
        for text in ["98%", "98 %", "98percent", "98 PERCENT", "098.0%"] {
            check_share(text, Ok(0.98));
        }
        check_share("99.9%", Ok(0.999));
        check_share(".1%", Ok(0.001));
        let range = |word: &str| {
            format!("'{word}' is out of range: expected a share above 0% and below 100%")
        };
        let ones = format!("99.{}%", "9".repeat(30));
        check_share(&ones, Err(&range(&ones)));
        for text in ["0%", "100%", "-98%", "150%", "0 percent"] {
            check_share(text, Err(&range(text)));
        }
        let plain = "is not a share: expected a share such as 98%";
        for text in ["x", "98x", "1e1%", "NaN%", "200"] {
            check_share(text, Err(&format!("'{text}' {plain}")));
        }
        check_share("0.98", Err("'0.98' is not a share; did you mean '98%'?"));
        check_share("98", Err("'98' is not a share; did you mean '98%'?"));
    }

    #[test]
    fn percentiles_are_shares_by_another_name() {
        let read = |text: &str| percentile(&mut Cursor::new(text, &[]).unwrap());
        for (text, value) in [("p99", 0.99), ("P99.9", 0.999), ("p50", 0.5), ("p.1", 0.001)] {
            assert_eq!(read(text), Some(Ok(value)), "{text}");
        }
        for text in ["p", "p99x", "99", "median", "p-1", "'p99'"] {
            assert_eq!(read(text), None, "{text}");
        }
        for text in ["p0", "p100", "p1000"] {
            let error = read(text).unwrap().unwrap_err();
            assert_eq!(error.span, 0..text.len());
        }
    }

    fn read_bar(text: &str, metric: Metric) -> Result<f64, String> {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let bar = bar(&mut cursor, &["by"]);
        cursor.metric = Some(metric);
        bar.and_then(|bar| bar.value(&cursor)).map_err(|error| error.to_string())
    }

    #[test]
    fn every_unit_is_read_with_and_without_a_space() {
        let cases = [
            ("5ns", Metric::WallTime, 5.0),
            ("5 us", Metric::CpuTime, 5e3),
            ("5.25 ms", Metric::WallTime, 5.25e6),
            ("5MS", Metric::WallTime, 5e6),
            ("1.5 s", Metric::WallTime, 1.5e9),
            ("2min", Metric::WallTime, 120e9),
            ("7 B", Metric::PeakMemory, 7.0),
            ("7 kB", Metric::PeakMemory, 7e3),
            ("7 KiB", Metric::PeakMemory, 7168.0),
            ("1.5 MiB", Metric::PeakMemory, 1_572_864.0),
            ("1 MB", Metric::PeakMemory, 1e6),
            ("1 GB", Metric::PeakMemory, 1e9),
            ("1 GiB", Metric::PeakMemory, 1_073_741_824.0),
            ("3nJ", Metric::Energy, 3.0),
            ("3 uJ", Metric::Energy, 3e3),
            ("3 mJ", Metric::Energy, 3e6),
            ("3 J", Metric::Energy, 3e9),
            ("1000", Metric::PageFaults, 1000.0),
            ("1000 by", Metric::Cycles, 1000.0),
        ];
        for (text, metric, value) in cases {
            assert_eq!(read_bar(text, metric), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_unit_must_fit_the_metric_and_a_number_its_range() {
        let cases = [
            (
                "5 ms",
                Metric::PageFaults,
                "'5 ms' is not an amount of page faults: expected a plain",
            ),
            ("5", Metric::Energy, "'5' is not an amount of energy: expected '5 nJ', '5 uJ'"),
            ("0 ms", Metric::WallTime, "'0 ms' is out of range: expected more than 0 and at most"),
            ("-1 ms", Metric::WallTime, "'-1 ms' is out of range"),
            ("2e18", Metric::Cycles, "'e18' is not a unit"),
            ("2000000000000000000", Metric::Cycles, "'2000000000000000000' is out of range"),
            ("5 MJ", Metric::Energy, "'MJ' is not a unit; did you mean 'mJ'?"),
            ("5 parsecs", Metric::WallTime, "'parsecs' is not a unit: expected 'ns', 'us'"),
            ("5mss", Metric::WallTime, "'mss' is not a unit; did you mean 'ms'?"),
            ("ms", Metric::WallTime, "'ms' is not a number: expected a number such as 5 ms"),
            ("NaN ms", Metric::WallTime, "'NaN' is not a number"),
            ("", Metric::WallTime, "the claim ends too early: expected a number such as 5 ms"),
        ];
        for (text, metric, message) in cases {
            let error = read_bar(text, metric).unwrap_err();
            assert!(error.starts_with(message), "{text}: {error}");
        }
    }

    #[test]
    fn bars_are_written_short() {
        let cases = [
            (5e6, MetricUnit::Nanoseconds, "5 ms"),
            (5.25e6, MetricUnit::Nanoseconds, "5.25 ms"),
            (90e9, MetricUnit::Nanoseconds, "90 s"),
            (0.5, MetricUnit::Nanoseconds, "0.5 ns"),
            (67_108_864.0, MetricUnit::Bytes, "64 MiB"),
            (1e6, MetricUnit::Bytes, "1 MB"),
            (1000.0, MetricUnit::Count, "1000"),
            (1e18, MetricUnit::Nanojoules, "1000000000 J"),
        ];
        for (value, unit, text) in cases {
            assert_eq!(written(value, unit), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(
            mantissa in 1.0..10.0f64,
            exponent in -3..18i32,
            metric in proptest::sample::select(&Metric::ALL[..]),
        ) {
            for value in [mantissa * 10_f64.powi(exponent), mantissa.floor() * 1024.0] {
                prop_assert_eq!(read_bar(&written(value, metric.unit()), metric), Ok(value));
            }
        }
    }
}
