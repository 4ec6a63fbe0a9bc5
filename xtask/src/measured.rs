//! The parts that all data in `docs/measured` has in common.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use tiebreak_report::markdown::link;

/// Reads data of this schema; `place` is its path.
///
/// # Errors
/// Fails if it is of another schema, or is not what the schema says.
pub fn read<T: DeserializeOwned>(json: &str, place: &str, schema: &str) -> Result<T> {
    #[derive(Deserialize)]
    struct Envelope {
        schema: String,
    }
    let reading = || format!("reading {place}");
    let found: Envelope = serde_json::from_str(json).with_context(reading)?;
    ensure!(found.schema == schema, "{place}: schema {} instead of {schema}", found.schema);
    serde_json::from_str(json).with_context(reading)
}

/// Writes the place of the data, as a sentence of a page in a folder of `docs`.
pub fn source(place: &str) -> String {
    let name = place.trim_start_matches("docs/measured/");
    format!("The data is in {}.", link(name, &format!("../measured/{name}")))
}

/// Measured data: the fields that all of it has, and those of one kind.
#[derive(Deserialize)]
pub struct Data<T> {
    /// The day on which it was measured.
    pub date: String,
    /// The machine on which it was measured.
    pub machine: Machine,
    /// The versions of the tools that were measured, by name.
    #[serde(default)]
    pub tools: BTreeMap<String, String>,
    #[serde(default)]
    settings: Value,
    /// The fields that only this kind of data has.
    #[serde(flatten)]
    pub of: T,
}

impl<T> Data<T> {
    /// Returns the settings at these places: names, with `/` between those of inner ones.
    ///
    /// # Errors
    /// Fails if one is missing or is not a number.
    pub fn settings<const N: usize>(&self, places: [&str; N]) -> Result<[f64; N]> {
        let mut numbers = [0.0; N];
        for (number, place) in numbers.iter_mut().zip(places) {
            let found = self.settings.pointer(&format!("/{place}")).and_then(Value::as_f64);
            *number = found.with_context(|| format!("the data has no setting '{place}'"))?;
        }
        Ok(numbers)
    }

    /// Returns the version of a tool.
    ///
    /// # Errors
    /// Fails if it is missing.
    pub fn tool(&self, name: &str) -> Result<&str> {
        let version = self.tools.get(name).map(String::as_str);
        version.with_context(|| format!("the data has no version of '{name}'"))
    }
}

/// The machine that the data is from.
#[derive(Deserialize)]
pub struct Machine {
    /// The model of its CPU.
    pub cpu: String,
    /// The number of its CPUs.
    pub cpus: u32,
    /// The version of Linux.
    pub kernel: String,
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Machine { cpu, cpus, kernel } = self;
        write!(f, "{cpu} ({cpus} CPUs, Linux {kernel})")
    }
}

/// The time that a neighbour would have used of a CPU of its own, and the time that it got.
#[derive(Deserialize)]
pub struct Neighbour {
    duty: f64,
    cpu_seconds: f64,
    wall_seconds: f64,
}

impl fmt::Display for Neighbour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (made, had) = (100.0 * self.duty, 100.0 * self.cpu_seconds / self.wall_seconds);
        write!(f, "made to be busy for {made:.0}% of the time, it had {had:.0}% of the CPU")
    }
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
