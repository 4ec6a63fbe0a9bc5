//! The lines of the text report.

use super::digits::{rate, scientific};
use tiebreak_lab::stats::classic::{Conclusion, Driver, Progress};

/// The trials that have a line: the first, and then ten for each power of ten.
pub struct Schedule {
    next: u64,
    step: u64,
}

impl Schedule {
    pub fn new() -> Schedule {
        Schedule { next: 1, step: 10 }
    }

    /// Returns whether this trial has a line. Call it once for each trial.
    pub fn is_due(&mut self, n: u64) -> bool {
        if n < self.next {
            return false;
        }
        self.next = (n / self.step + 1).saturating_mul(self.step);
        if self.next == self.step.saturating_mul(10) {
            self.step = self.next;
        }
        true
    }
}

/// Returns trials, share of successes, both ends of the interval, and the level in powers of ten.
pub fn line(driver: &Driver, progress: &Progress) -> String {
    let (low, high) = driver.interval(progress);
    let level = -progress.log_level / std::f64::consts::LN_10;
    let estimate = progress.estimate().unwrap_or_default();
    let numbers = [estimate, low, high, level].map(|number| scientific(number, 3));
    format!("{:>10} {}\n", progress.n, numbers.join(" "))
}

/// Returns the text below the lines.
pub fn summary(driver: &Driver, progress: &Progress) -> String {
    let Progress { n, s, .. } = progress;
    let (low, high) = driver.interval(progress);
    let eps = scientific(driver.eps(), 6);
    let estimate = progress.estimate().map_or_else(|| "?".to_owned(), rate);
    format!(
        "{n} iterations, {s} successes (false positive rate < {eps})\n\
         success rate p ~ {estimate}\n\
         confidence interval [{}, {}]\n{}\n",
        rate(low),
        rate(high),
        conclusion(driver, progress)
    )
}

fn conclusion(driver: &Driver, progress: &Progress) -> String {
    let (low, high) = (rate(driver.low()), rate(driver.high()));
    match driver.conclude(progress) {
        Conclusion::Between => format!("{low} < p < {high}"),
        Conclusion::Above(threshold) => format!("p > {}", rate(threshold)),
        Conclusion::Below(threshold) => format!("p < {}", rate(threshold)),
        Conclusion::Open if low == high => {
            format!("No statistically significant difference from {low}")
        }
        Conclusion::Open => {
            format!("No statistically significant difference from {low} or {high}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_lines_for_each_power_of_ten() {
        let mut schedule = Schedule::new();
        let due: Vec<u64> = (1..=3500).filter(|n| schedule.is_due(*n)).collect();
        let expected = [1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 200, 300, 400, 500, 600, 700];
        assert_eq!(due[..17], expected);
        assert_eq!(due[17..], [800, 900, 1000, 2000, 3000]);
    }
}
