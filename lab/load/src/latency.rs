//! The histograms of the bounds of latencies that are known as intervals.

use crate::Latency;
use crate::bytes::{Damaged, Reader, put_number};
use crate::histogram::Histogram;

/// Latencies that are known as intervals: a histogram of their lower bounds and one of their upper
/// bounds. Which belong together is forgotten; the bounds of quantiles do not need it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Latencies {
    lows: Histogram,
    highs: Histogram,
}

impl Latencies {
    /// Makes an empty pair.
    pub fn new() -> Latencies {
        Latencies::default()
    }

    /// Counts a latency.
    pub fn add(&mut self, latency: Latency) {
        let Latency { low_ns, high_ns } = Latency::between(latency.low_ns, latency.high_ns);
        self.lows.add(low_ns);
        self.highs.add(high_ns);
    }

    /// Adds the counts of another pair.
    pub fn merge(&mut self, other: &Latencies) {
        self.lows.merge(&other.lows);
        self.highs.merge(&other.highs);
    }

    /// Returns the count of the latencies.
    pub fn count(&self) -> u64 {
        self.lows.count()
    }

    /// Returns the histogram of the lower bounds: from the actual sends.
    pub fn lows(&self) -> &Histogram {
        &self.lows
    }

    /// Returns the histogram of the upper bounds: from the intended sends.
    pub fn highs(&self) -> &Histogram {
        &self.highs
    }

    /// Returns bounds of the quantile at a share, as [`Histogram::value_at`] defines it; `None` if
    /// there is no latency. If every latency lies between its bounds, a quantile of the latencies
    /// lies between the quantiles of the bounds, so it lies in what this returns.
    pub fn value_at(&self, share: f64) -> Option<Latency> {
        let (low, high) = (self.lows.value_at(share)?, self.highs.value_at(share)?);
        Some(Latency { low_ns: low.low_ns, high_ns: high.high_ns })
    }

    /// Returns the byte form: the length of the first histogram, then both.
    pub fn to_bytes(&self) -> Vec<u8> {
        let lows = self.lows.to_bytes();
        let mut bytes = Vec::new();
        put_number(&mut bytes, lows.len() as u64);
        bytes.extend(lows);
        bytes.extend(self.highs.to_bytes());
        bytes
    }

    /// Reads the byte form.
    ///
    /// # Errors
    /// Fails if these are not the bytes of such a pair: of two histograms of as many values, whose
    /// every quantile is at most that of the other.
    pub fn from_bytes(bytes: &[u8]) -> Result<Latencies, Damaged> {
        let mut reader = Reader::new(bytes);
        let length_bytes = reader.number()?;
        let lows = Histogram::from_bytes(reader.take(length_bytes)?)?;
        let highs = Histogram::from_bytes(reader.rest())?;
        let ordered = lows.min_ns() <= highs.min_ns()
            && lows.max_ns() <= highs.max_ns()
            && lows.cumulated().zip(highs.cumulated()).all(|(low, high)| low >= high);
        if lows.count() != highs.count() || !ordered {
            return Err(reader.damaged("lower bounds that are above the upper bounds"));
        }
        Ok(Latencies { lows, highs })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Words;

    /// Returns latencies with the truth of each, somewhere between its bounds.
    fn drawn(seed: u64, count: u64) -> Vec<(Latency, u64)> {
        let mut words = Words::new(seed);
        let mut draw = || {
            let low_ns = words.exponential() >> 12;
            let late_ns = (words.exponential() >> 10) * (words.next_u64() % 2);
            let truth_ns = low_ns + late_ns * (words.next_u64() % 5) / 4;
            (Latency { low_ns, high_ns: low_ns + late_ns }, truth_ns)
        };
        (0..count).map(|_| draw()).collect()
    }

    fn of(drawn: &[(Latency, u64)]) -> Latencies {
        let mut latencies = Latencies::new();
        drawn.iter().for_each(|(latency, _)| latencies.add(*latency));
        latencies
    }

    #[test]
    fn quantiles_contain_the_truth() {
        let drawn = drawn(1, 1000);
        let latencies = of(&drawn);
        let mut truths: Vec<u64> = drawn.iter().map(|(_, truth_ns)| *truth_ns).collect();
        truths.sort_unstable();
        for (rank, truth) in (1..).zip(truths) {
            let found = latencies.value_at(f64::from(rank) / 1000.0).unwrap();
            assert!((found.low_ns..=found.high_ns).contains(&truth), "{rank}: {truth} {found:?}");
        }
        assert_eq!(latencies.count(), 1000);
        assert_eq!(Latencies::new().value_at(0.5), None);
    }

    #[test]
    fn exchanged_bounds_are_put_in_order() {
        let mut latencies = Latencies::new();
        latencies.add(Latency { low_ns: 9, high_ns: 3 });
        assert_eq!(latencies.value_at(1.0), Some(Latency { low_ns: 3, high_ns: 9 }));
    }

    #[test]
    fn merged_pairs_are_those_of_all_latencies() {
        let (one, other) = (drawn(2, 70), drawn(3, 40));
        let mut merged = of(&one);
        merged.merge(&of(&other));
        assert_eq!(merged, of(&[one, other].concat()));
    }

    #[test]
    fn bytes_round_trip_and_garbage_is_an_error() {
        assert_eq!(Latencies::from_bytes(&Latencies::new().to_bytes()), Ok(Latencies::new()));
        let latencies = of(&drawn(4, 60));
        let bytes = latencies.to_bytes();
        assert_eq!(Latencies::from_bytes(&bytes), Ok(latencies.clone()));
        for length in 0..bytes.len() {
            assert!(Latencies::from_bytes(&bytes[..length]).is_err(), "{length}");
        }
        for at in 0..bytes.len() {
            for bit in 0..8 {
                let mut changed = bytes.clone();
                changed[at] ^= 1 << bit;
                if let Ok(read) = Latencies::from_bytes(&changed) {
                    assert_eq!(read.to_bytes(), changed);
                    let found = read.value_at(0.5);
                    assert!(found.is_none_or(|found| found.low_ns <= found.high_ns));
                }
            }
        }
        // Upper bounds that are below the lower ones: at the ends, in the middle, and too few.
        let of = |values: &[u64]| {
            let mut histogram = Histogram::new();
            values.iter().for_each(|value| histogram.add(*value));
            histogram
        };
        for (lows, highs) in [
            (&[2, 5][..], &[1, 5][..]),
            (&[1, 6][..], &[1, 5][..]),
            (&[1, 5, 9][..], &[1, 3, 9][..]),
            (&[1, 5][..], &[5][..]),
        ] {
            let wrong = Latencies { lows: of(lows), highs: of(highs) };
            assert!(Latencies::from_bytes(&wrong.to_bytes()).is_err(), "{wrong:?}");
        }
    }
}
