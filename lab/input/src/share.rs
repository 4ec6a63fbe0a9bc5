//! Shares: `98%`, `98 percent`, and percentiles: `p99`.

use crate::amount::number_and_unit;
use crate::cursor::Cursor;
use crate::decimal::{Decimal, hundredfold};
use crate::error::{ClaimError, Problem};
use std::ops::Range;

/// A share, and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Share {
    /// The value, above 0 and below 1.
    pub(crate) value: f64,
    pub(crate) span: Range<usize>,
}

/// Reads a share, above 0% and below 100%.
pub(crate) fn share(cursor: &mut Cursor<'_>) -> Result<Share, ClaimError> {
    let (number, name) = number_and_unit(cursor.ahead(0).map_or("", |token| token.raw));
    let digits = number.strip_prefix('-').unwrap_or(number);
    let Some(decimal) = Decimal::parse(digits) else {
        return Err(not_a_share(cursor, None));
    };
    let is_percent = |name: &str| name == "%" || name.eq_ignore_ascii_case("percent");
    let words = if is_percent(name) {
        1
    } else if name.is_empty() && (cursor.is_word(1, "%") || cursor.is_word(1, "percent")) {
        2
    } else {
        return Err(not_a_share(cursor, Some(decimal).filter(|_| name.is_empty())));
    };
    let value = decimal.hundredth();
    if digits != number || !is_share(value) {
        let expected = vec!["a share above 0% and below 100%".to_owned()];
        return Err(cursor.error_about(words, Problem::OutOfRange, expected));
    }
    let span = cursor.span(words);
    cursor.skip(words);
    Ok(Share { value, span })
}

/// Reads a percentile, `p99` for the share 0.99; `None` if the next word is not one.
pub(crate) fn percentile(cursor: &mut Cursor<'_>) -> Option<Result<f64, ClaimError>> {
    let decimal = cursor.ahead(0)?.raw.strip_prefix(['p', 'P']).and_then(Decimal::parse)?;
    let value = decimal.hundredth();
    if !is_share(value) {
        let expected = vec!["a percentile above p0 and below p100".to_owned()];
        return Some(Err(cursor.error(Problem::OutOfRange, expected)));
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
    cursor.error(Problem::NotAShare, expected).suggest(meant.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Result<f64, &str>) {
        let mut cursor = Cursor::new(text, &[]).unwrap();
        let read = share(&mut cursor).map(|share| share.value);
        assert_eq!(read.map_err(|error| error.to_string()), expected.map_err(str::to_owned));
        assert_eq!(cursor.ahead(0).is_none(), expected.is_ok(), "{text} is read to its end");
    }

    #[test]
    fn shares_are_percentages_between_none_and_all() {
        for text in ["98%", "98 %", "98percent", "98 PERCENT", "098.0%"] {
            check(text, Ok(0.98));
        }
        check("99.9%", Ok(0.999));
        check(".1%", Ok(0.001));
        let range = |word: &str| {
            format!("'{word}' is out of range: expected a share above 0% and below 100%")
        };
        let ones = format!("99.{}%", "9".repeat(30));
        check(&ones, Err(&range(&ones)));
        for text in ["0%", "100%", "-98%", "150%", "0 percent"] {
            check(text, Err(&range(text)));
        }
        let plain = "is not a share: expected a share such as 98%";
        for text in ["x", "98x", "1e1%", "NaN%", "200"] {
            check(text, Err(&format!("'{text}' {plain}")));
        }
        check("0.98", Err("'0.98' is not a share; did you mean '98%'?"));
        check("98", Err("'98' is not a share; did you mean '98%'?"));
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
}
