//! Facts about a machine.

use crate::prelude::*;
use tiebreak_core::fingerprint::{Fact, Fingerprint};

/// Writes a size in bytes without trailing zeros: `48 KiB`, `7.751 GiB`.
pub fn bytes(count: u64) -> String {
    value_text(Unit::Bytes, count as f64)
}

/// `cpu model: Example CPU 3000`; sizes in a unit of their size.
pub fn text(key: &str, fact: &Fact) -> String {
    format!("{}: {}", name(key, fact), value(key, fact))
}

/// Returns a key in words; the value of a key in bytes has its unit.
pub fn name(key: &str, fact: &Fact) -> String {
    let name = key.strip_suffix("_bytes").filter(|_| matches!(fact, Fact::Number(_)));
    name.unwrap_or(key).replace('_', " ")
}

/// Writes the value of a fact: `7.751 GiB`, `yes`, `KVM`.
pub fn value(key: &str, fact: &Fact) -> String {
    match fact {
        Fact::Number(count) if key.ends_with("_bytes") => bytes(*count),
        Fact::Number(number) => number.to_string(),
        Fact::Flag(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Fact::Text(text) => plain(text),
    }
}

/// Renders every fact on a line, those of the moment after the permanent ones.
pub fn page(machine: &Fingerprint, look: &Look) -> String {
    let mut page = Page::new(*look);
    let (now, always): (Vec<_>, Vec<_>) =
        machine.0.iter().partition(|(key, _)| key.starts_with("now_"));
    for (key, fact) in always.into_iter().chain(now) {
        let value = words(value(key, fact));
        page.labelled(&format!("{}: ", name(key, fact)), &[value]);
    }
    page.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_no_idle_digits() {
        for (count, text) in [
            (0, "0 B"),
            (64, "64 B"),
            (48 << 10, "48 KiB"),
            (1536 << 10, "1.5 MiB"),
            (1000 << 20, "1000 MiB"),
            (8_322_744_320, "7.751 GiB"),
        ] {
            assert_eq!(bytes(count), text);
        }
    }
}
