//! The size of a cache line, by several methods.

mod analyse;
mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Figure, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of the cache line found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cacheline {
    /// The answer: bytes of a line; absent if no method gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// The method on which the answer rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<LineMethod>,
    /// The answer of each method, the most reliable method first.
    pub said: Vec<LineAnswer>,
    /// Offset in bytes from the start of a line from which on most loads are slow, after that line
    /// was loaded alone: nearer bytes are fetched along with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch_reach_bytes: Option<u64>,
    /// The advertised sizes, by `sysfs` and `CPUID`.
    pub advertised: Vec<LineAdvertised>,
    /// Loads at offsets from a line that was loaded and then flushed, near ones first: slow ones
    /// were flushed with it. Empty where no program may flush.
    pub flushed_together: Vec<FlushPoint>,
    /// Loads after everything was flushed and the line was loaded, near ones first: fast ones came
    /// with it. Empty as above.
    pub loaded_together: Vec<FlushPoint>,
    /// Increments by two CPUs at a distance, near ones first; empty without two CPUs that
    /// verifiably ran together.
    pub sharing: Vec<SharingPoint>,
    /// The strided copy, small strides first.
    pub strided: Vec<StridedPoint>,
    /// The gains of the copy at about twice a stride, by the published rule.
    pub gains: Vec<StridedGain>,
    /// Methods without a result, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<LineMissing>,
}

/// A method that measures the length of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LineMethod {
    /// Load two addresses, flush the first, time the second.
    FlushedTogether,
    /// Flush two addresses, load the first, time the second.
    LoadedTogether,
    /// Two CPUs increment two words at a distance.
    Sharing,
    /// The published strided copy.
    Strided,
}

impl LineMethod {
    /// Returns the name on a page.
    pub fn words(self) -> &'static str {
        ["flushed together", "loaded together", "false sharing", "strided copy"][self as usize]
    }
}

/// The answer of a method.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAnswer {
    /// The method.
    pub method: LineMethod,
    /// Bytes of a line; absent if the observations do not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
}

/// A method without a result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineMissing {
    /// The method.
    pub method: LineMethod,
    /// Why, in a few words.
    pub why: String,
}

/// An advertised size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAdvertised {
    /// Its source: `sysfs`, `CPUID`.
    pub source: String,
    /// Bytes of a line.
    pub line_bytes: u64,
}

/// Loads at an offset from the start of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlushPoint {
    /// Bytes from the start of the line.
    pub offset_bytes: u64,
    /// Number of timed loads.
    pub loads: u64,
    /// Number of them that took longer than the threshold between a cache and memory.
    pub slow: u64,
    /// `slow / loads`.
    pub slow_share: f64,
}

/// Increments by two CPUs of two words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharingPoint {
    /// Bytes between the two words, the first of which lies at the start of a line.
    pub distance_bytes: u64,
    /// Time of one increment: the median of batches during which the other CPU was seen to run.
    pub increment_ns: f64,
    /// Number of these batches.
    pub batches: u64,
}

/// The copy of every n-th byte of a large array.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StridedPoint {
    /// Bytes from one copied byte to the next.
    pub stride_bytes: u64,
    /// Time of one copied byte: the median of ten passes over the whole array.
    pub copied_ns: f64,
    /// Bytes passed over per second, copied or not.
    pub passed_bytes_per_s: f64,
    /// The time of one copied byte in each pass, in order of time; passes of two strides that the
    /// rule compares take turns, in drawn order.
    #[serde(skip)]
    pub passes_ns: Vec<f64>,
}

/// A test of the published rule: past twice the line, the copy passes over the array more than 50%
/// faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StridedGain {
    /// The tested length of a line.
    pub line_bytes: u64,
    /// The compared stride: one more than twice the line.
    pub stride_bytes: u64,
    /// Bytes passed per second at that stride, over the same at a stride of one line.
    pub ratio: f64,
    /// The first and the third quartile of that ratio in each turn of the two; absent from older
    /// prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quartiles: Option<[f64; 2]>,
}

impl Cacheline {
    /// Returns whether all advertised sizes are the measured one; `None` where either is absent.
    pub fn agrees(&self) -> Option<bool> {
        let line = self.line_bytes.filter(|_| !self.advertised.is_empty())?;
        Some(self.advertised.iter().all(|one| one.line_bytes == line))
    }

    /// Returns the gain that the published rule sees for a length of a line.
    pub fn gain(&self, line_bytes: u64) -> Option<&StridedGain> {
        self.gains.iter().find(|gain| gain.line_bytes == line_bytes)
    }

    /// Returns the numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let facts = [
            ("cache-line", "cache line", self.line_bytes),
            ("prefetch-reach", "prefetch reach", self.prefetch_reach_bytes),
        ];
        let known = facts.into_iter().filter_map(|(key, words, bytes)| {
            Some(Figure::fact(key, words, bytes? as f64, Unit::Bytes))
        });
        known.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_needs_both_sides() {
        fn check(line_bytes: Option<u64>, advertised: &[u64], agrees: Option<bool>) {
            fn said(line: &u64) -> LineAdvertised {
                LineAdvertised { source: "sysfs".into(), line_bytes: *line }
            }
            let advertised = advertised.iter().map(said).collect();
            let found = Cacheline { line_bytes, advertised, ..Cacheline::default() };
            assert_eq!(found.agrees(), agrees);
            assert_eq!(found.figures().len(), usize::from(line_bytes.is_some()));
        }
        check(None, &[64], None);
        check(Some(64), &[], None);
        check(Some(64), &[64, 64], Some(true));
        check(Some(64), &[64, 128], Some(false));
    }
}
