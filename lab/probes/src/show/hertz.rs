//! Cycles a second.

/// Writes cycles a second with three or four digits: `4.31 GHz`, `812 MHz`.
pub(crate) fn hertz(value: f64) -> String {
    match value {
        v if !v.is_finite() => "-".to_owned(),
        v if v >= 1e9 => format!("{:.2} GHz", v / 1e9),
        v if v >= 1e6 => format!("{:.0} MHz", v / 1e6),
        v => format!("{v:.0} Hz"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_of_the_size() {
        let texts = [4.312e9, 8.12e8, 50.0, f64::NAN].map(hertz);
        assert_eq!(texts, ["4.31 GHz", "812 MHz", "50 Hz", "-"]);
    }
}
