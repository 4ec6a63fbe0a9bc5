//! Sizes and times as the pages of caches write them.

/// A size in the largest unit that needs no decimals: `48 KiB`, `6 MiB`, `1536 B`.
pub(super) fn bytes(bytes: u64) -> String {
    let units = [(1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    let unit = units.iter().find(|(size, _)| bytes >= *size && bytes.is_multiple_of(*size));
    match unit {
        Some((size, name)) => format!("{} {name}", bytes / size),
        None => format!("{bytes} B"),
    }
}

/// Nanoseconds with three digits or so: `0.99 ns`, `14.2 ns`, `146 ns`.
pub(super) fn ns(value: f64) -> String {
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
    fn sizes_and_times_are_short() {
        let sizes = [(64, "64 B"), (1536, "1536 B"), (49_152, "48 KiB"), (6 << 20, "6 MiB")];
        for (size, text) in sizes {
            assert_eq!(bytes(size), text);
        }
        for (time, text) in [(0.987, "0.99 ns"), (9.996, "10.0 ns"), (146.4, "146 ns")] {
            assert_eq!(ns(time), text);
        }
    }
}
