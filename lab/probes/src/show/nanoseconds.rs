//! Nanoseconds of a load.

/// Nanoseconds with three digits or so: `0.99 ns`, `14.2 ns`, `146 ns`.
pub(crate) fn ns(value: f64) -> String {
    let decimals = match value {
        value if value < 9.995 => 2,
        value if value < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_short() {
        for (time, text) in [(0.987, "0.99 ns"), (9.996, "10.0 ns"), (146.4, "146 ns")] {
            assert_eq!(ns(time), text);
        }
    }
}
