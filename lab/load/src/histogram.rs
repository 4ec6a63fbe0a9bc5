//! A histogram of nanoseconds: log-linear, of fixed size, without a loss.
//!
//! Values below 256 ns have a bin each. Above, each power of two is cut into 128 bins of equal
//! width, so a bin is at most 1/128 of its values wide. 4352 bins reach to 2^40 ns (18 minutes). A
//! further bin counts what lies beyond. The layout is that of Tene's HdrHistogram, with a power of
//! two of bins; a bin's index follows from the value by two shifts.

use crate::Latency;
use crate::bytes::{Damaged, Reader, put_number};
use std::fmt;

/// The bits that tell the bins of one power of two apart.
const LINEAR_BITS: u32 = 7;
/// The bins of one power of two.
const LINEAR: usize = 1 << LINEAR_BITS;
/// Values are told apart up to this power of two.
const RANGE_BITS: u32 = 40;
/// The bins within the range: `LINEAR` for each power of two from `LINEAR` on, and as many below.
const BINS: usize = ((RANGE_BITS - LINEAR_BITS) as usize + 1) * LINEAR;

/// The first value beyond the range, in nanoseconds.
pub const RANGE_NS: u64 = 1 << RANGE_BITS;

/// The version of the byte form.
const FORM: u64 = 1;

/// Counts of values in nanoseconds. It takes 35 kB, whatever it counts.
#[derive(Clone, PartialEq, Eq)]
pub struct Histogram {
    /// The last one counts what lies beyond the range.
    counts: Box<[u64; BINS + 1]>,
    /// `u64::MAX` before the first value.
    min_ns: u64,
    max_ns: u64,
}

/// A bin that is not empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bin {
    /// Its values, in nanoseconds. The upper bound of the bin beyond the range is `u64::MAX`.
    pub bounds: Latency,
    /// The count of the values in it.
    pub count: u64,
}

impl Histogram {
    /// Makes an empty histogram.
    pub fn new() -> Histogram {
        Histogram { counts: Box::new([0; BINS + 1]), min_ns: u64::MAX, max_ns: 0 }
    }

    /// Counts a value. Cost: two shifts and one addition; no branch depends on the value. A count
    /// stays at the greatest number of 64 bits.
    pub fn add(&mut self, value_ns: u64) {
        let count = &mut self.counts[index(value_ns)];
        *count = count.saturating_add(1);
        self.min_ns = self.min_ns.min(value_ns);
        self.max_ns = self.max_ns.max(value_ns);
    }

    /// Adds the counts of another histogram. The result is that of counting the values of both, in
    /// any order.
    pub fn merge(&mut self, other: &Histogram) {
        for (count, more) in self.counts.iter_mut().zip(other.counts.iter()) {
            *count = count.saturating_add(*more);
        }
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    /// Returns the count of all values, those beyond the range too. Cost: a pass over the bins.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Returns the count of the values at or above [`RANGE_NS`].
    pub fn beyond(&self) -> u64 {
        self.counts[BINS]
    }

    /// Returns the least value, exactly; `None` if there is no value.
    pub fn min_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.min_ns)
    }

    /// Returns the greatest value, exactly; `None` if there is no value.
    pub fn max_ns(&self) -> Option<u64> {
        (self.min_ns <= self.max_ns).then_some(self.max_ns)
    }

    /// Returns bounds of the quantile at a share: of the least value `v` such that at least this
    /// share of the values is at most `v`. In other words, of the value of rank
    /// `ceil(share * count)`, counted from 1; for shares outside 0 to 1 of the first or the last.
    /// The bounds are those of the value's bin, and at most the least and greatest value. Returns
    /// `None` if there is no value. Cost: two passes over the bins.
    pub fn value_at(&self, share: f64) -> Option<Latency> {
        let count = self.count();
        let rank = rank(share, count);
        let mut reached: u64 = 0;
        let bin = self.bins().find(|bin| {
            reached = reached.saturating_add(bin.count);
            reached >= rank
        })?;
        Some(Latency {
            low_ns: bin.bounds.low_ns.max(self.min_ns),
            high_ns: bin.bounds.high_ns.min(self.max_ns),
        })
    }

    /// Iterates over the bins that are not empty, the smallest values first.
    pub fn bins(&self) -> impl Iterator<Item = Bin> + '_ {
        let filled = self.counts.iter().enumerate().filter(|(_, count)| **count > 0);
        filled.map(|(index, count)| Bin { bounds: bounds(index), count: *count })
    }

    /// Returns how many values are at most those of each bin, for a comparison of two histograms.
    pub(crate) fn cumulated(&self) -> impl Iterator<Item = u64> + '_ {
        self.counts.iter().scan(0u64, |sum, count| {
            *sum = sum.saturating_add(*count);
            Some(*sum)
        })
    }

    /// Returns the byte form: the version, the least value, how much greater the greatest is, and
    /// for each bin that is not empty the number of empty bins before it and its count. An empty
    /// histogram is the version alone. Numbers have 7 bits a byte. Equal histograms have equal
    /// bytes; a thousand latencies of a quiet server take some 200.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, FORM);
        if let Some(min_ns) = self.min_ns() {
            put_number(&mut bytes, min_ns);
            put_number(&mut bytes, self.max_ns - min_ns);
        }
        let mut empty = 0;
        for count in self.counts.iter() {
            if *count == 0 {
                empty += 1;
            } else {
                put_number(&mut bytes, empty);
                put_number(&mut bytes, *count);
                empty = 0;
            }
        }
        bytes
    }

    /// Reads the byte form.
    ///
    /// # Errors
    /// Fails if these are not the bytes of a histogram, with the place of the first fault. What it
    /// returns has exactly these bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<Histogram, Damaged> {
        let mut reader = Reader::new(bytes);
        let mut histogram = Histogram::new();
        if reader.number()? != FORM {
            return Err(reader.damaged("an unknown version"));
        }
        if reader.is_at_end() {
            return Ok(histogram);
        }
        histogram.min_ns = reader.number()?;
        let range_ns = reader.number()?;
        let max_ns = histogram.min_ns.checked_add(range_ns);
        histogram.max_ns = max_ns.ok_or(reader.damaged("a greatest value above 64 bits"))?;
        let (mut next, mut total) = (0u64, 0u64);
        let mut filled = None;
        while !reader.is_at_end() {
            let at = next.saturating_add(reader.number()?);
            let at = usize::try_from(at).ok().filter(|at| *at <= BINS);
            let at = at.ok_or(reader.damaged("a bin beyond the last"))?;
            let count = reader.number()?;
            let sum = total.checked_add(count).filter(|_| count > 0);
            total = sum.ok_or(reader.damaged("an empty bin, or counts above 64 bits"))?;
            histogram.counts[at] = count;
            next = at as u64 + 1;
            filled = Some((filled.map_or(at, |(first, _)| first), at));
        }
        let extremes = (index(histogram.min_ns), index(histogram.max_ns));
        if filled != Some(extremes) {
            return Err(reader.damaged("a least or greatest value that no bin has"));
        }
        Ok(histogram)
    }
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram::new()
    }
}

/// Shows the bins that are not empty, not thousands of zeros.
impl fmt::Debug for Histogram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bins = self.bins().map(|bin| ((bin.bounds.low_ns, bin.bounds.high_ns), bin.count));
        f.debug_map().entries(bins).finish()
    }
}

/// Returns the bin of a value: the power of two above the linear part, then the linear part.
fn index(value_ns: u64) -> usize {
    // The bit keeps the logarithm of small values at the linear part, so that they need no branch.
    let shift = (value_ns | LINEAR as u64).ilog2() - LINEAR_BITS;
    let index = ((shift << LINEAR_BITS) as u64 + (value_ns >> shift)) as usize;
    index.min(BINS)
}

/// Returns the values of a bin.
fn bounds(index: usize) -> Latency {
    if index == BINS {
        return Latency { low_ns: RANGE_NS, high_ns: u64::MAX };
    }
    let shift = (index / LINEAR).saturating_sub(1);
    let linear = index - (shift << LINEAR_BITS);
    let low_ns = (linear as u64) << shift;
    Latency { low_ns, high_ns: low_ns + ((1 << shift) - 1) }
}

/// Returns the rank of the quantile at a share.
fn rank(share: f64, count: u64) -> u64 {
    // A share such as 0.07 is not exact as a float, and neither is its product. Together they are
    // off by at most two half steps of a float, which must not lift 7 of 100 to 8.
    let rank = (share * count as f64 * (1.0 - 2.0 * f64::EPSILON)).ceil();
    (rank as u64).clamp(1, count.max(1))
}

#[cfg(test)]
mod tests;
