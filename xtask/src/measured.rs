//! What all data in `docs/measured` has in common.

use serde::Deserialize;
use std::fmt;

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
}
