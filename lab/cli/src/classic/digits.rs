//! Formats numbers for scripts and for text.

/// Returns 17 significant digits as C's `%.17g` prints them: enough to read the same double back.
pub fn g17(x: f64) -> String {
    let digits = 17;
    if !x.is_finite() {
        return x.to_string().to_lowercase();
    }
    let scientific = format!("{x:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trim = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
    if (-4..digits as i32).contains(&exponent) {
        let decimals = (digits as i32 - 1 - exponent) as usize;
        let fixed = format!("{x:.decimals$}");
        return if decimals == 0 { fixed } else { trim(&fixed) };
    }
    format!("{}{}", trim(mantissa), signed(exponent))
}

/// Returns a text such as `2.500e-2`, with this many decimals.
pub fn scientific(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let sign = if exponent.starts_with('-') { "" } else { "+" };
    format!("{mantissa}e{sign}{exponent}")
}

/// Returns a rate to six digits: `0.223213`, or `2.223495e-7` below 0.1.
pub fn rate(x: f64) -> String {
    if x == 0.0 || x >= 0.1 { format!("{x:.6}") } else { scientific(x, 6) }
}

/// Returns an exponent as C writes it: a sign, and at least two digits.
fn signed(exponent: i32) -> String {
    format!("e{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.abs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seventeen_digits_as_c_prints_them() {
        let check = |x: f64, expected: &str| {
            assert_eq!(g17(x), expected);
            assert_eq!(expected.parse::<f64>().unwrap().to_bits(), x.to_bits(), "{expected}");
        };
        check(0.0, "0");
        check(-0.0, "-0");
        check(1.0, "1");
        check(0.1, "0.10000000000000001");
        check(-17.238559826956475, "-17.238559826956475");
        check(9.992007221626409e-16, "9.9920072216264089e-16");
        check(5.361735618111455e-5, "5.3617356181114549e-05");
        check(1e-4, "0.0001");
        check(693147169.972_553_3, "693147169.97255325");
        check(1e16, "10000000000000000");
        check(123456789012345680.0, "1.2345678901234568e+17");
        check(1e23, "9.9999999999999992e+22");
        check(5e-324, "4.9406564584124654e-324");
        check(1.7976931348623157e308, "1.7976931348623157e+308");
    }

    #[test]
    fn rates_and_levels_as_the_text_prints_them() {
        assert_eq!(scientific(-0.2967, 3), "-2.967e-1");
        assert_eq!(scientific(1.0, 3), "1.000e+0");
        assert_eq!(rate(0.22321314110840665), "0.223213");
        assert_eq!(rate(2.2234953205868331e-7), "2.223495e-7");
        assert_eq!(rate(0.0), "0.000000");
    }
}
