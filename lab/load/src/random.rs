//! Random numbers of a schedule: the same on every machine, in integers.

use tiebreak_abi::Random;

/// The bits after the point in what [`Words::exponential`] returns.
pub const FRACTION_BITS: u32 = 32;

/// The words of [`Random`], and what is drawn by comparing them.
#[derive(Clone, Debug)]
pub struct Words(Random);

impl Words {
    /// Starts the words of this seed.
    pub fn new(seed: u64) -> Words {
        Words(Random::new(seed))
    }

    /// Returns the next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns an exponentially distributed number of mean 1, in units of 2^-32.
    ///
    /// This is von Neumann's method (1951, "Various techniques used in connection with random
    /// digits"), which only compares. A run of falling uniform numbers that begins with `u` has at
    /// least `n` members with probability `u^(n-1) / (n-1)!`, so an odd number of members with
    /// probability `e^-u`. If it is odd, `u` is the fraction. Otherwise the whole part grows by
    /// one. No logarithm is taken, so no platform rounds it differently. Cost: 4.3 words on
    /// average.
    pub fn exponential(&mut self) -> u64 {
        let mut whole = 0;
        loop {
            let first = self.next_u64();
            let (mut last, mut is_odd) = (first, true);
            loop {
                let word = self.next_u64();
                if word >= last {
                    break;
                }
                (last, is_odd) = (word, !is_odd);
            }
            if is_odd {
                return whole << FRACTION_BITS | first >> (u64::BITS - FRACTION_BITS);
            }
            whole += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Kolmogorov's distance to `1 - e^-x`; it exceeds 1.95 over the root of n once in 1000 seeds.
    #[test]
    fn exponentials_have_their_distribution() {
        let draws = 40_000;
        let mut words = Words::new(1);
        let mut drawn: Vec<f64> = (0..draws)
            .map(|_| words.exponential() as f64 / (1u64 << FRACTION_BITS) as f64)
            .collect();
        drawn.sort_by(f64::total_cmp);
        let distance = (0..).zip(&drawn).map(|(below, x)| {
            let share = 1.0 - (-x).exp();
            let steps = [below, below + 1].map(|rank| f64::from(rank) / f64::from(draws));
            steps.map(|step| (step - share).abs()).into_iter().fold(0.0, f64::max)
        });
        let distance = distance.fold(0.0, f64::max);
        assert!(distance < 1.95 / f64::from(draws).sqrt(), "{distance}");
    }
}
