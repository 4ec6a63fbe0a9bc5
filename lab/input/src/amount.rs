//! Amounts: `1.5x`, `1.5 times`, `5%`, `5 percent`.

use crate::cursor::Cursor;
use crate::decimal::Decimal;
use crate::error::{ClaimError, Problem, offered};

/// The largest factor; a claim beyond it is a slip.
const MAX_FACTOR: f64 = 1e6;
/// The exclusive limit of all percentages.
const PERCENT_LIMIT: f64 = 1e5;
/// The exclusive limit of percentages of `less`, which keeps the factor below the largest.
const LESS_PERCENT_LIMIT: f64 = 99.9999;

/// What an amount means, and so how it becomes a number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Scale {
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
pub(crate) fn number_and_unit(word: &str) -> (&str, &str) {
    let end = word.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '-');
    word.split_at(end.unwrap_or(word.len()))
}

/// Reads an amount: a factor or a fraction, depending on the scale.
pub(crate) fn amount(cursor: &mut Cursor<'_>, scale: Scale) -> Result<f64, ClaimError> {
    let (number, name) = number_and_unit(cursor.ahead(0).map_or("", |token| token.raw));
    let digits = number.strip_prefix('-').unwrap_or(number);
    let Some(decimal) = Decimal::parse(digits) else {
        return Err(not_an_amount(cursor));
    };
    let (unit, words) = if name.is_empty() {
        let next = cursor.ahead(1).filter(|next| !next.is_quoted);
        match next.and_then(|next| Unit::from_name(next.raw)) {
            Some(unit) => (unit, 2),
            None => return Err(without_unit(cursor, digits)),
        }
    } else {
        match Unit::from_name(name) {
            Some(unit) => (unit, 1),
            None => return Err(not_an_amount(cursor)),
        }
    };
    match value(decimal, unit, scale).filter(|_| digits == number) {
        Some(value) => {
            cursor.skip(words);
            Ok(value)
        }
        None => Err(cursor.error_about(words, Problem::OutOfRange, vec![range(unit, scale)])),
    }
}

/// Returns the number that an amount stands for; `None` if it is out of range.
fn value(decimal: Decimal<'_>, unit: Unit, scale: Scale) -> Option<f64> {
    let limit = match (unit, scale) {
        (Unit::Factor, _) => MAX_FACTOR.next_up(),
        (Unit::Percent, Scale::Less) => LESS_PERCENT_LIMIT,
        (Unit::Percent, _) => PERCENT_LIMIT,
    };
    if decimal.value() >= limit {
        return None;
    }
    let value = match (unit, scale) {
        (Unit::Factor, Scale::Faster | Scale::Less) => decimal.value(),
        (Unit::Factor, Scale::More | Scale::Within) => decimal.minus_one()?,
        (Unit::Percent, Scale::Faster) => decimal.one_and_hundredth(),
        (Unit::Percent, Scale::Less) => 1.0 / (1.0 - decimal.hundredth()),
        (Unit::Percent, Scale::More | Scale::Within) => decimal.hundredth(),
    };
    (value > 0.0 || scale == Scale::More).then_some(value)
}

/// Returns the range of an amount, in words.
fn range(unit: Unit, scale: Scale) -> String {
    let range = match (unit, scale) {
        (Unit::Factor, Scale::Faster | Scale::Less) => "a factor above 0 and at most 1000000",
        (Unit::Factor, Scale::More) => "a factor from 1 to 1000000",
        (Unit::Factor, Scale::Within) => "a factor above 1 and at most 1000000",
        (Unit::Percent, Scale::Faster | Scale::More) => "at least 0% and less than 100000%",
        (Unit::Percent, Scale::Less) => "at least 0% and less than 99.9999%",
        (Unit::Percent, Scale::Within) => "more than 0% and less than 100000%",
    };
    range.to_owned()
}

fn not_an_amount(cursor: &Cursor<'_>) -> ClaimError {
    let with_point = cursor.ahead(0).map(|token| token.raw.replacen(',', ".", 1));
    let meant = with_point.filter(|word| {
        let (number, name) = number_and_unit(word);
        Decimal::parse(number).is_some() && Unit::from_name(name).is_some()
    });
    let expected = vec!["an amount such as 1.5x or 5%".to_owned()];
    cursor.error(Problem::NotAnAmount, expected).suggest(meant.as_deref())
}

fn without_unit(cursor: &Cursor<'_>, digits: &str) -> ClaimError {
    let expected = [format!("{digits}x"), format!("{digits}%")];
    cursor.error(Problem::NotAnAmount, offered(expected.iter().map(String::as_str)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, scale: Scale, expected: Option<f64>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let read = amount(&mut cursor, scale);
        assert_eq!(read.as_ref().ok().copied(), expected, "{text} {scale:?}: {read:?}");
        assert_eq!(cursor.ahead(0).is_none(), read.is_ok(), "{text} is read to its end");
    }

    #[test]
    fn all_units_are_read_on_all_scales() {
        for text in ["1.5x", "1.5X", "1.5 x", "1.5times", "1.5 Times", "50%", "50 %", "50 percent"]
        {
            check(text, Scale::Faster, Some(1.5));
            check(text, Scale::More, Some(0.5));
            check(text, Scale::Within, Some(0.5));
        }
        check("2x", Scale::Less, Some(2.0));
        check("50%", Scale::Less, Some(2.0));
        check("20%", Scale::Less, Some(1.25));
        check("5%", Scale::Faster, Some(1.05));
        check("1.02x", Scale::More, Some(0.02));
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
            check(text, scale, expected);
        }
        let digits = "9".repeat(400);
        check(&format!("{digits}x"), Scale::Faster, None);
        check(&format!("0.{}1%", "0".repeat(400)), Scale::Within, None);
        let largest = format!("{}%", LESS_PERCENT_LIMIT.next_down());
        let mut cursor = Cursor::new(&largest, &[]).unwrap();
        assert!(amount(&mut cursor, Scale::Less).unwrap() <= MAX_FACTOR);
    }
}
