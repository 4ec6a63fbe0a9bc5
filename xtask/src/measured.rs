//! The parts that all data in `docs/measured` has in common.

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;
use std::cell::RefCell;
use tiebreak_report::markdown::link;

/// Renders data of this schema; `place` is its path.
///
/// # Errors
/// Fails if it is of another schema, if `render` does, or if `render` read a field that is missing
/// or of another kind.
pub fn rendered(
    json: &str,
    place: &str,
    schema: &str,
    render: impl FnOnce(Part<'_>) -> Result<String>,
) -> Result<String> {
    let value: Value = serde_json::from_str(json).with_context(|| format!("reading {place}"))?;
    let found = value["schema"].as_str().unwrap_or_default();
    ensure!(found == schema, "{place}: schema {found} instead of {schema}");
    let missing = Missing::default();
    let text = render(Part { value: &value, missing: &missing });
    match missing.into_inner() {
        Some(field) => bail!("{place}: no field '{field}', or one of another kind"),
        None => text,
    }
}

/// The first field that was read and is missing.
type Missing = RefCell<Option<String>>;

/// A part of measured data. Its fields are read by their names, with `/` between those of inner
/// ones.
#[derive(Clone, Copy)]
pub struct Part<'a> {
    value: &'a Value,
    missing: &'a Missing,
}

impl<'a> Part<'a> {
    /// Returns a part of this one; `null` if it is missing.
    pub fn at(self, place: &str) -> Part<'a> {
        if place.is_empty() {
            return self;
        }
        let value = self.value.pointer(&format!("/{place}")).unwrap_or(&Value::Null);
        Part { value, ..self }
    }

    /// Returns a part that must not be missing.
    pub fn part(self, place: &str) -> Part<'a> {
        Part { value: self.required(place, |value| value.is_object().then_some(value)), ..self }
    }

    /// Returns whether this part is missing or `null`.
    pub fn is_null(self) -> bool {
        self.value.is_null()
    }

    /// Returns a number.
    pub fn number(self, place: &str) -> f64 {
        self.required(place, Value::as_f64)
    }

    /// Returns a number that may be `null`.
    pub fn maybe(self, place: &str) -> Option<f64> {
        self.at(place).value.as_f64()
    }

    /// Returns a text.
    pub fn text(self, place: &str) -> &'a str {
        self.required(place, Value::as_str)
    }

    /// Returns a text that may be `null`.
    pub fn maybe_text(self, place: &str) -> Option<&'a str> {
        self.at(place).value.as_str()
    }

    /// Returns whether a condition is true.
    pub fn is(self, place: &str) -> bool {
        self.required(place, Value::as_bool)
    }

    /// Returns the parts of a list.
    pub fn list(self, place: &str) -> impl Iterator<Item = Part<'a>> + Clone + use<'a> {
        let list: &[Value] = self.required(place, |value| value.as_array().map(Vec::as_slice));
        list.iter().map(move |value| Part { value, ..self })
    }

    /// Returns the numbers of a list.
    pub fn numbers(self, place: &str) -> impl Iterator<Item = f64> + Clone + use<'a> {
        self.list(place).map(|part| part.number(""))
    }

    fn required<T: Default>(self, place: &str, kind: impl Fn(&'a Value) -> Option<T>) -> T {
        kind(self.at(place).value).unwrap_or_else(|| {
            self.missing.borrow_mut().get_or_insert(place.to_owned());
            T::default()
        })
    }

    /// Returns the day on which it was measured, and the machine, in words.
    pub fn day_and_machine(self) -> [String; 2] {
        let [cpu, kernel] = ["cpu", "kernel"].map(|fact| self.at("machine").text(fact));
        let cpus = self.number("machine/cpus");
        [self.text("date").to_owned(), format!("{cpu} ({cpus} CPUs, Linux {kernel})")]
    }

    /// Returns the time that a neighbour would have used of a CPU of its own, and the time that it
    /// got, in words.
    pub fn neighbour(self) -> String {
        let of = self.at("neighbour");
        let had = 100.0 * of.number("cpu_seconds") / of.number("wall_seconds");
        let made = 100.0 * of.number("duty");
        format!("made to be busy for {made:.0}% of the time, it had {had:.0}% of the CPU")
    }
}

/// Writes the place of the data, as a sentence of a page in a folder of `docs`.
pub fn source(place: &str) -> String {
    let name = place.trim_start_matches("docs/measured/");
    format!("The data is in {}.", link(name, &format!("../measured/{name}")))
}

/// Writes the median, and the least and the greatest in brackets: `250 (245 to 261)`. Returns
/// `None` without values.
pub fn spread(values: impl IntoIterator<Item = f64>, decimals: usize) -> Option<String> {
    let values: Vec<f64> = values.into_iter().collect();
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = median(values)?;
    Some(format!("{middle:.decimals$} ({least:.decimals$} to {most:.decimals$})"))
}

/// Counts the true ones, and writes their number, the number of all, and the share with its 95%
/// interval.
pub fn rate_of(all: impl IntoIterator<Item = bool>) -> String {
    let all: Vec<bool> = all.into_iter().collect();
    rate(all.iter().filter(|is| **is).count(), all.len())
}

/// Writes a count, the number of all, and the share with its 95% interval.
pub fn rate(count: usize, of: usize) -> String {
    let Some((low, high)) = wilson(count, of) else {
        return "-".to_owned();
    };
    let share = 100.0 * count as f64 / of as f64;
    format!("{count} of {of}: {share:.1}% ({:.1} to {:.1})", 100.0 * low, 100.0 * high)
}

/// Computes Wilson's score interval (1927) for a share, at 95%; `None` for a share of nothing.
fn wilson(count: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959964;
    let (count, of) = (count as f64, of as f64);
    let share = count / of;
    let scale = 1.0 + Z * Z / of;
    let centre = (share + Z * Z / (2.0 * of)) / scale;
    let half = Z / scale * (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt();
    (of > 0.0).then_some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

/// Returns the median, the mean of the two in the middle for an even count; `None` without values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => None,
        n if n % 2 == 1 => Some(values[half]),
        _ => Some((values[half - 1] + values[half]) / 2.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_is_missing_is_named() {
        let read = |json: &str| {
            rendered(json, "here", "s/1", |data| {
                Ok(format!("{} {}", data.number("a/b"), data.numbers("c").count()))
            })
        };
        let json = r#"{"schema": "s/1", "a": {"b": 1}, "c": [1, 2]}"#;
        assert_eq!(read(json).unwrap(), "1 2");
        for (from, to, said) in [
            ("s/1", "s/2", "here: schema s/2 instead of s/1"),
            ("1}", "null}", "here: no field 'a/b', or one of another kind"),
            ("[1, 2]", "{}", "here: no field 'c', or one of another kind"),
        ] {
            assert_eq!(read(&json.replace(from, to)).unwrap_err().to_string(), said);
        }
    }

    #[test]
    fn the_median_of_an_even_count_is_the_mean_of_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
        assert_eq!(median(Vec::new()), None);
    }

    #[test]
    fn wilson_is_wilson() {
        // 10 of 100: 0.0552 to 0.1744 (Newcombe 1998, method 3, computed again by hand).
        let (low, high) = wilson(10, 100).unwrap();
        assert!((low - 0.05523).abs() < 5e-5 && (high - 0.17437).abs() < 5e-5, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn values_are_written_with_their_ends() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0], 1), Some("2.0 (1.0 to 3.0)".to_owned()));
        assert_eq!(spread(Vec::new(), 1), None);
    }
}
