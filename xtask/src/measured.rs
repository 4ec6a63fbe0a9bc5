//! What all data in `docs/measured` has in common.

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::fmt;
use tiebreak_report::markdown::link;

/// Reads data of this schema; `place` is where it lies.
///
/// # Errors
/// It is of another schema, or not what the schema says.
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

/// Says where the data is, as a sentence of a page in a folder of `docs`.
pub fn source(place: &str) -> String {
    let name = place.trim_start_matches("docs/measured/");
    format!("The data is in {}.", link(name, &format!("../measured/{name}")))
}

/// The machine that the data is from.
#[derive(Deserialize)]
pub struct Machine {
    /// The model of its CPU.
    pub cpu: String,
    /// How many of them.
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

/// The versions of the tools that were compared.
#[derive(Deserialize)]
pub struct Tools {
    /// Ours.
    pub tiebreak: String,
    /// The other one.
    pub hyperfine: String,
    /// Of what judged the other one's times.
    pub scipy: String,
}

/// What the neighbour would have used of a CPU of its own, and what it got.
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

/// Tells the median with the least and the most in brackets: `250 (245 to 261)`; none of nothing.
pub fn spread(values: Vec<f64>, decimals: usize) -> Option<String> {
    let least = values.iter().copied().fold(f64::INFINITY, f64::min);
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let middle = median(values)?;
    Some(format!("{middle:.decimals$} ({least:.decimals$} to {most:.decimals$})"))
}

/// Tells so many of how many, and the share with its 95% interval.
pub fn rate(count: usize, of: usize) -> String {
    let Some((low, high)) = wilson(count, of) else {
        return "-".to_owned();
    };
    let share = 100.0 * count as f64 / of as f64;
    format!("{count} of {of}: {share:.1}% ({:.1} to {:.1})", 100.0 * low, 100.0 * high)
}

/// Wilson's score interval (1927) for a share, at 95%; none of nothing.
fn wilson(count: usize, of: usize) -> Option<(f64, f64)> {
    const Z: f64 = 1.959964;
    let (count, of) = (count as f64, of as f64);
    let share = count / of;
    let scale = 1.0 + Z * Z / of;
    let centre = (share + Z * Z / (2.0 * of)) / scale;
    let half = Z / scale * (share * (1.0 - share) / of + Z * Z / (4.0 * of * of)).sqrt();
    (of > 0.0).then_some(((centre - half).max(0.0), (centre + half).min(1.0)))
}

/// The median; of an even count the mean of the two in the middle; none of nothing.
pub fn median(mut values: Vec<f64>) -> Option<f64> {
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
        assert_eq!(median(vec![]), None);
    }

    #[test]
    fn wilson_is_wilson() {
        // 10 of 100: 0.0552 to 0.1744 (Newcombe 1998, method 3, computed again by hand).
        let (low, high) = wilson(10, 100).unwrap();
        assert!((low - 0.05523).abs() < 5e-5 && (high - 0.17437).abs() < 5e-5, "{low} {high}");
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn values_are_told_with_their_ends() {
        assert_eq!(spread(vec![3.0, 1.0, 2.0], 1), Some("2.0 (1.0 to 3.0)".to_owned()));
        assert_eq!(spread(Vec::new(), 1), None);
    }
}
