//! Decimal numbers as typed: shifted and incremented as text, so that `1.02x slower`, `2% slower`
//! and the fraction 0.02 are the same number to the last bit.

/// A plain decimal: digits, and optionally a point with digits after it. No sign, no exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Decimal<'a> {
    whole: &'a str,
    fraction: &'a str,
}

impl<'a> Decimal<'a> {
    /// Reads `12`, `1.5` or `.5`.
    pub fn parse(text: &'a str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let is_plain = whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit());
        let is_there = !fraction.is_empty() && !text.is_empty();
        (is_plain && is_there).then_some(Decimal { whole, fraction })
    }

    /// Returns the nearest `f64`; infinite if the number is too large.
    pub fn value(self) -> f64 {
        self.shifted(0)
    }

    /// Returns the number times `10^exponent`; infinite if that is too large for an `f64`.
    pub fn shifted(self, exponent: i32) -> f64 {
        self.scaled(self.whole, exponent)
    }

    /// Returns the number over 100.
    pub fn hundredth(self) -> f64 {
        self.shifted(-2)
    }

    /// Returns 1 plus the number over 100.
    pub fn one_and_hundredth(self) -> f64 {
        self.scaled(&self.whole_number().saturating_add(100).to_string(), -2)
    }

    /// Returns the number minus 1; `None` if it is below 1.
    pub fn minus_one(self) -> Option<f64> {
        let whole = self.whole_number().checked_sub(1)?;
        Some(self.scaled(&whole.to_string(), 0))
    }

    /// Returns the number with other digits before the point, times `10^exponent`.
    fn scaled(self, whole: &str, exponent: i32) -> f64 {
        let text = format!("0{whole}.{}e{exponent}", self.fraction);
        text.parse().unwrap_or(f64::INFINITY)
    }

    /// Returns the digits before the point; the largest `u64` if they do not fit, which is far
    /// above every limit.
    fn whole_number(self) -> u64 {
        format!("0{}", self.whole).parse().unwrap_or(u64::MAX)
    }
}

/// Writes 100 times a number that is at least 0: `2.5` for 0.025, exactly.
pub fn hundredfold(value: f64) -> String {
    shifted_text(value, 2)
}

/// Writes a number that is at least 0 times `10^exponent`: its shortest digits with the point
/// moved. [`Decimal::shifted`] by the opposite exponent returns it exactly, to the last bit.
pub fn shifted_text(value: f64, exponent: i32) -> String {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let digits = format!("{whole}{fraction}");
    let places = exponent.unsigned_abs() as usize;
    let (digits, point) = if exponent < 0 {
        (format!("{}{digits}", "0".repeat(places)), whole.len())
    } else {
        (format!("{digits:0<0$}", whole.len() + places), whole.len() + places)
    };
    let (whole, fraction) = digits.split_at(point);
    let whole = match whole.trim_start_matches('0') {
        "" => "0",
        digits => digits,
    };
    match fraction.trim_end_matches('0') {
        "" => whole.to_owned(),
        fraction => format!("{whole}.{fraction}"),
    }
}

/// Writes 1 plus a number that is at least 0: `1.025` for 0.025, exactly.
pub fn one_and(value: f64) -> String {
    let text = value.to_string();
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    // Beyond 2^64, 1 more is the same number.
    let whole = match whole.parse::<u64>() {
        Ok(number) => number.saturating_add(1).to_string(),
        Err(_) => whole.to_owned(),
    };
    if fraction.is_empty() { whole } else { format!("{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn only_plain_decimals_are_read() {
        for (text, value) in [("12", 12.0), ("1.5", 1.5), (".5", 0.5), ("007.50", 7.5)] {
            assert_eq!(Decimal::parse(text).map(Decimal::value), Some(value), "{text}");
        }
        for text in ["", ".", "5.", "1.2.3", "1e3", "-1", "+1", "inf", "NaN", "0x10", "1,5"] {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"9".repeat(400)).map(Decimal::value), Some(f64::INFINITY));
    }

    #[test]
    fn shifts_are_exact() {
        let decimal = |text| Decimal::parse(text).unwrap();
        assert_eq!(decimal("7").hundredth(), 0.07);
        assert_eq!(decimal("5").one_and_hundredth(), 1.05);
        assert_eq!(decimal("12.5").one_and_hundredth(), 1.125);
        assert_eq!(decimal("1.02").minus_one(), Some(0.02));
        assert_eq!(decimal("1").minus_one(), Some(0.0));
        assert_eq!(decimal("0.99999999999999999999").minus_one(), None);
        assert_eq!(hundredfold(0.07), "7");
        assert_eq!(hundredfold(0.025), "2.5");
        assert_eq!(hundredfold(0.0), "0");
        assert_eq!(hundredfold(12.0), "1200");
        assert_eq!(hundredfold(0.00001), "0.001");
        assert_eq!(shifted_text(5e6, -6), "5");
        assert_eq!(shifted_text(5_250_000.0, -6), "5.25");
        assert_eq!(shifted_text(12.5, -3), "0.0125");
        assert_eq!(shifted_text(0.5, -1), "0.05");
        assert_eq!(shifted_text(0.0, -9), "0");
        assert_eq!(one_and(0.02), "1.02");
        assert_eq!(one_and(1e300), 1e300.to_string());
    }

    proptest! {
        #[test]
        fn what_is_written_reads_back(value in 0.0..1e9f64) {
            let (percent, above) = (hundredfold(value), one_and(value));
            prop_assert_eq!(Decimal::parse(&percent).map(Decimal::hundredth), Some(value));
            prop_assert_eq!(Decimal::parse(&above).and_then(Decimal::minus_one), Some(value));
            for exponent in -9..=9 {
                let text = shifted_text(value, exponent);
                let back = Decimal::parse(&text).map(|decimal| decimal.shifted(-exponent));
                prop_assert_eq!(back, Some(value), "{} {}", text, exponent);
            }
        }
    }
}
