//! Bars: a number in the unit of a metric, `5 ms`, `64 MiB`, `1000`.

use crate::amount::number_and_unit;
use crate::cursor::Cursor;
use crate::decimal::{Decimal, shifted_text};
use crate::error::{ClaimError, Problem, offered};
use crate::suggest::closest;
use std::ops::Range;
use tiebreak_core::metric::{Metric, Unit};

/// The largest bar, in the metric's unit: 31 years in nanoseconds, and more bytes than any machine
/// has.
const MAX_BAR: f64 = 1e18;

/// How a number in a unit becomes one in the metric's unit.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    /// Times ten to this power.
    Ten(u32),
    /// Times two to this power.
    Two(u32),
    /// Minutes to nanoseconds.
    Minutes,
}

/// The units, in the order in which errors list them.
const UNITS: [(&str, Unit, Scale); 16] = [
    ("ns", Unit::Nanoseconds, Scale::Ten(0)),
    ("us", Unit::Nanoseconds, Scale::Ten(3)),
    ("ms", Unit::Nanoseconds, Scale::Ten(6)),
    ("s", Unit::Nanoseconds, Scale::Ten(9)),
    ("min", Unit::Nanoseconds, Scale::Minutes),
    ("B", Unit::Bytes, Scale::Ten(0)),
    ("kB", Unit::Bytes, Scale::Ten(3)),
    ("KiB", Unit::Bytes, Scale::Two(10)),
    ("MB", Unit::Bytes, Scale::Ten(6)),
    ("MiB", Unit::Bytes, Scale::Two(20)),
    ("GB", Unit::Bytes, Scale::Ten(9)),
    ("GiB", Unit::Bytes, Scale::Two(30)),
    ("nJ", Unit::Nanojoules, Scale::Ten(0)),
    ("uJ", Unit::Nanojoules, Scale::Ten(3)),
    ("mJ", Unit::Nanojoules, Scale::Ten(6)),
    ("J", Unit::Nanojoules, Scale::Ten(9)),
];

/// A number as typed, with its unit and its position. Its value depends on the metric, which may be
/// named later.
#[derive(Clone, Debug)]
pub(crate) struct Bar<'a> {
    decimal: Decimal<'a>,
    is_negative: bool,
    unit: Option<(Unit, Scale)>,
    pub(crate) span: Range<usize>,
}

/// Finds a unit by its name, in any case except for joules, where a mega is not a milli.
fn unit(name: &str) -> Option<(Unit, Scale)> {
    let exact = UNITS.iter().find(|(unit, ..)| *unit == name);
    let same = |(unit, kind, _): &&(&str, Unit, Scale)| {
        *kind != Unit::Nanojoules && unit.eq_ignore_ascii_case(name)
    };
    exact.or_else(|| UNITS.iter().find(same)).map(|(_, kind, scale)| (*kind, *scale))
}

/// Reads a number with a unit, or one without that is followed by a word of `then` or by the end.
pub(crate) fn bar<'a>(cursor: &mut Cursor<'a>, then: &[&str]) -> Result<Bar<'a>, ClaimError> {
    let (number, name) = number_and_unit(cursor.ahead(0).map_or("", |token| token.raw));
    let digits = number.strip_prefix('-').unwrap_or(number);
    let Some(decimal) = Decimal::parse(digits) else {
        let expected = vec!["a number such as 5 ms".to_owned()];
        return Err(cursor.error(Problem::NotANumber, expected));
    };
    let (unit, words) = match (name, cursor.ahead(1)) {
        ("", None) => (None, 1),
        ("", Some(_)) if then.iter().any(|word| cursor.is_word(1, word)) => (None, 1),
        ("", Some(next)) => {
            let name = next.raw;
            let Some(unit) = unit(name) else {
                cursor.skip(1);
                return Err(not_a_unit(cursor, name));
            };
            (Some(unit), 2)
        }
        (name, _) => match unit(name) {
            Some(unit) => (Some(unit), 1),
            None => return Err(not_a_unit(cursor, name)),
        },
    };
    let span = cursor.span(words);
    cursor.skip(words);
    Ok(Bar { decimal, is_negative: digits != number, unit, span })
}

fn not_a_unit(cursor: &Cursor<'_>, name: &str) -> ClaimError {
    let names = UNITS.map(|(name, ..)| name);
    let span = cursor.span(1);
    let span = span.end - name.len()..span.end;
    let meant = closest(name, names).filter(|_| name.len() > 1);
    cursor.error_at(span, Problem::NotAUnit, offered(names)).suggest(meant)
}

impl Bar<'_> {
    /// Returns the value in the unit of the metric; `by` says whether the sentence names the
    /// metric.
    pub(crate) fn value(
        &self,
        cursor: &Cursor<'_>,
        metric: Metric,
        by: bool,
    ) -> Result<f64, ClaimError> {
        let kind = self.unit.map_or(Unit::Count, |(kind, _)| kind);
        if kind != metric.unit() {
            let problem = |amount| Problem::WrongUnit { amount, metric };
            let amounts = |amount: &str| self.amounts(amount, metric);
            let error = cursor.error_at(self.span.clone(), problem, Vec::new());
            let error = ClaimError { expected: amounts(&error.text[self.span.clone()]), ..error };
            return Err(match (by, kind) {
                (false, Unit::Bytes) => error.or_expect("'by peak memory' at the end"),
                (false, Unit::Nanojoules) => error.or_expect("'by energy' at the end"),
                _ => error,
            });
        }
        let value = match self.unit.map_or(Scale::Ten(0), |(_, scale)| scale) {
            Scale::Ten(exponent) => self.decimal.shifted(exponent.cast_signed()),
            Scale::Two(exponent) => self.decimal.value() * 2_u64.pow(exponent) as f64,
            Scale::Minutes => self.decimal.shifted(9) * 60.0,
        };
        if self.is_negative || value <= 0.0 || value > MAX_BAR {
            let expected = format!("more than 0 and at most {}", written(MAX_BAR, metric.unit()));
            return Err(cursor.error_at(self.span.clone(), Problem::OutOfRange, vec![expected]));
        }
        Ok(value)
    }

    /// Returns the amounts of the metric that an error suggests: the number, if it came without a
    /// unit, with each unit.
    fn amounts(&self, amount: &str, metric: Metric) -> Vec<String> {
        let of_it = UNITS.iter().filter(|(_, kind, _)| *kind == metric.unit());
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
pub(crate) fn written(value: f64, kind: Unit) -> String {
    let mut shortest = match UNITS.iter().find(|(_, unit, _)| *unit == kind) {
        Some((name, ..)) => format!("{value} {name}"),
        None => return value.to_string(),
    };
    for (name, unit, scale) in UNITS {
        let (number, is_large) = match scale {
            Scale::Ten(exponent) => {
                let number = shifted_text(value, -exponent.cast_signed());
                (number, value >= 10_u64.pow(exponent) as f64)
            }
            // Exact, because powers of two are.
            Scale::Two(exponent) => {
                let number = value / 2_u64.pow(exponent) as f64;
                (number.to_string(), number >= 1.0)
            }
            Scale::Minutes => continue,
        };
        let text = format!("{number} {name}");
        if unit == kind && is_large && text.len() <= shortest.len() {
            shortest = text;
        }
    }
    shortest
}

#[cfg(test)]
mod tests;
