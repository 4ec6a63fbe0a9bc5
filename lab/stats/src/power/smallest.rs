//! The smallest difference that a comparison can find on a machine, by replaying the machine's own
//! noise.

use crate::bettor::M3R;
use crate::coins::{Purpose, Seed, Stream};
use crate::eprocess::EProcess;
use crate::observation::LogRatio;
use crate::scale::Past;

/// The share of comparisons that must find a difference for it to count as found.
const SUCCESS_RATE: f64 = 0.9;
/// The streams replayed for each difference that is tried.
const STREAMS: u64 = 200;
/// The number of consecutive rounds that are resampled together, so that bursts of noise stay
/// bursts.
const BLOCK_ROUNDS: usize = 8;
/// The steps of the bisection over differences: a factor of 1.0007 is left of the range.
const STEPS: u32 = 14;
/// The least and the largest difference that are tried, as fractions.
pub const SEARCHED: [f64; 2] = [1e-5, 1.0];

/// The smallest difference that is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Smallest {
    /// The difference as a fraction: 0.02 for 2%.
    pub fraction: f64,
    /// Whether it is only an upper bound: it is the least difference that was tried, and it is
    /// found.
    pub is_bound: bool,
}

/// Returns the smallest difference, as a fraction, that a comparison of `rounds` rounds finds in
/// nine of ten cases at this two-sided error, given the log ratios of one program against itself.
///
/// The sizes of the noise are resampled in blocks and get fair signs, which they have by design
/// when a program is compared with itself. Each candidate difference is added and bet on. Only
/// 0.001% to 100% is tried. Returns `None` if not even 100% is found, or if there is no noise to
/// resample, and a bound if 0.001% is found.
pub fn smallest_difference(noise: &[f64], rounds: u64, error: f64, seed: Seed) -> Option<Smallest> {
    let finite: Vec<f64> = noise.iter().copied().filter(|d| d.is_finite()).collect();
    if finite.len() < BLOCK_ROUNDS {
        return None;
    }
    let finds = |log_fraction: f64| {
        let shift = libm::log1p(libm::exp(log_fraction));
        let found = (0..STREAMS)
            .filter(|stream| finds_shift(&finite, rounds, error / 2.0, shift, seed, *stream))
            .count();
        found as f64 >= SUCCESS_RATE * STREAMS as f64
    };
    let [mut low, mut high] = SEARCHED.map(libm::log);
    if !finds(high) {
        return None;
    }
    if finds(low) {
        return Some(Smallest { fraction: SEARCHED[0], is_bound: true });
    }
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        *(if finds(middle) { &mut high } else { &mut low }) = middle;
    }
    Some(Smallest { fraction: libm::exp(high), is_bound: false })
}

fn finds_shift(
    noise: &[f64],
    rounds: u64,
    error: f64,
    shift: f64,
    seed: Seed,
    stream: u64,
) -> bool {
    let mut coins = Stream::new(seed, Purpose::Simulation, stream, 0);
    let mut past = Past::default();
    let mut bet = EProcess::new(&M3R, 0.0);
    let mut at = 0;
    for round in 0..rounds {
        at = match round as usize % BLOCK_ROUNDS {
            0 => coins.below(noise.len() as u64) as usize,
            _ => (at + 1) % noise.len(),
        };
        let d = shift + coins.sign() * noise[at];
        bet.observe(d, past.scale());
        past.insert(LogRatio::exact(d));
        if bet.value(0) >= 1.0 / error {
            return true;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn less_noise_and_more_rounds_find_less() {
        let seed = Seed::from_text("power");
        let mut coins = Stream::new(seed, Purpose::Simulation, 999, 0);
        let noise: Vec<f64> = (0..400).map(|_| 0.021 * coins.normal()).collect();
        let smallest = |scale: f64, rounds| {
            let noise: Vec<f64> = noise.iter().map(|d| d * scale).collect();
            let found = smallest_difference(&noise, rounds, 0.01, seed).unwrap();
            assert!(!found.is_bound, "{found:?}");
            found.fraction
        };
        // 2.6 (ln 200 + 0.6) (sd / theta)^2 rounds is the median; nine of ten need some more.
        let found = smallest(1.0, 100);
        assert!(found > 0.008 && found < 0.02, "{found}");
        assert!(smallest(0.1, 100) < found / 3.0);
        assert!(smallest(1.0, 1000) < found / 2.0);
        assert_eq!(smallest_difference(&noise, 5, 0.01, seed), None);
        assert_eq!(smallest_difference(&[], 100, 0.01, seed), None);
    }

    #[test]
    fn an_end_of_the_search_is_not_a_finding() {
        let seed = Seed::from_text("power");
        let mut coins = Stream::new(seed, Purpose::Simulation, 999, 0);
        let noise: Vec<f64> = (0..400).map(|_| coins.normal()).collect();
        let found = |scale: f64| {
            let noise: Vec<f64> = noise.iter().map(|d| d * scale).collect();
            smallest_difference(&noise, 200, 0.01, seed)
        };
        let check = |scale: f64, is_bound: Option<bool>| {
            assert_eq!(found(scale).map(|one| one.is_bound), is_bound, "{scale}");
        };
        check(1e-9, Some(true));
        assert_eq!(found(1e-9).unwrap().fraction, 1e-5);
        check(1e-6, Some(true));
        check(1e-3, Some(false));
        check(1e3, None);
    }
}
