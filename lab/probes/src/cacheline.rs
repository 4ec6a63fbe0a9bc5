//! The size of a cache line, by several methods.

mod analyse;
pub(crate) mod measure;
pub(crate) mod show;

pub(crate) use analyse::probe;

use crate::figure::{Figure, Unit};
use serde::{Deserialize, Serialize};

/// What the probe of the cache line found.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cacheline {
    /// The answer: bytes of a line; absent if no method that can tell it did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
    /// The method on which the answer rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<LineMethod>,
    /// What each method says, the one on which the answer rests first.
    pub said: Vec<LineAnswer>,
    /// Bytes from the start of a line from which most loads are slow, after that line was loaded
    /// alone: what lies nearer is fetched along with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefetch_reach_bytes: Option<u64>,
    /// What the machine says of itself: `sysfs`, `CPUID`.
    pub advertised: Vec<LineAdvertised>,
    /// Loads after a line was flushed that both had been loaded from, near ones first: slow ones
    /// were flushed with it. Empty where no program may flush.
    pub flushed_together: Vec<FlushPoint>,
    /// Loads after all was flushed and the line was loaded, near ones first: fast ones came with
    /// it. Empty as above.
    pub loaded_together: Vec<FlushPoint>,
    /// Increments by two CPUs at a distance, near ones first; empty without two CPUs that could be
    /// seen to run together.
    pub sharing: Vec<SharingPoint>,
    /// The strided copy, small strides first.
    pub strided: Vec<StridedPoint>,
    /// How much faster the copy is at about twice a stride, by the published rule.
    pub gains: Vec<StridedGain>,
    /// Methods that gave nothing, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<LineMissing>,
}

/// A method that tells how long a line is.
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
    /// What it is called on a page.
    pub fn words(self) -> &'static str {
        ["flushed together", "loaded together", "false sharing", "strided copy"][self as usize]
    }
}

/// What a method says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAnswer {
    /// The method.
    pub method: LineMethod,
    /// Bytes of a line; absent if it cannot be told from what was seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line_bytes: Option<u64>,
}

/// A method that gave nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineMissing {
    /// The method.
    pub method: LineMethod,
    /// Why, in a few words.
    pub why: String,
}

/// What the machine says of itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineAdvertised {
    /// Who says it: `sysfs`, `CPUID`.
    pub source: String,
    /// Bytes of a line.
    pub line_bytes: u64,
}

/// Loads at an offset from the start of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FlushPoint {
    /// Bytes from the start of the line.
    pub offset_bytes: u64,
    /// How many loads were timed.
    pub loads: u64,
    /// How many of them took longer than the threshold between a cache and memory.
    pub slow: u64,
    /// `slow / loads`; 0 until that is computed.
    pub slow_share: f64,
}

/// Increments by two CPUs of two words.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SharingPoint {
    /// Bytes between the two words, the first of which lies at the start of a line.
    pub distance_bytes: u64,
    /// Time of one increment: the median of batches during which the other CPU was seen to run.
    pub increment_ns: f64,
    /// How many batches that were.
    pub batches: u64,
}

/// The copy of every so many bytes of a large array.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StridedPoint {
    /// Bytes from one byte that is copied to the next.
    pub stride_bytes: u64,
    /// Time of one byte that is copied: the median of ten passes over the whole array.
    pub copied_ns: f64,
    /// Bytes passed over, copied or not, in a second.
    pub passed_bytes_per_s: f64,
}

/// The published rule: past twice the line, the copy passes over the array more than 50% faster.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StridedGain {
    /// The length of a line that is tried.
    pub line_bytes: u64,
    /// The stride that is compared with it: one more than twice the line.
    pub stride_bytes: u64,
    /// Bytes passed a second at that stride, over the same at a stride of one line.
    pub ratio: f64,
    /// The first and the third quartile of that ratio in each turn of the two; absent from older
    /// prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quartiles: Option<[f64; 2]>,
}

impl Cacheline {
    /// Whether everything that the machine says of itself is what was measured; absent where
    /// either is.
    pub fn agrees(&self) -> Option<bool> {
        let line = self.line_bytes.filter(|_| !self.advertised.is_empty())?;
        Some(self.advertised.iter().all(|said| said.line_bytes == line))
    }

    /// The gain that the published rule sees for a length of a line.
    pub fn gain(&self, line_bytes: u64) -> Option<&StridedGain> {
        self.gains.iter().find(|gain| gain.line_bytes == line_bytes)
    }

    /// The numbers by which two machines can be compared.
    pub(crate) fn figures(&self) -> Vec<Figure> {
        let fact = |key, words, bytes: Option<u64>| {
            bytes.map(|bytes| Figure::fact(key, words, bytes as f64, Unit::Bytes))
        };
        let line = fact("cache-line", "cache line", self.line_bytes);
        let reach = fact("prefetch-reach", "prefetch reach", self.prefetch_reach_bytes);
        line.into_iter().chain(reach).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agreement_needs_both_sides() {
        let check = |line_bytes, advertised: &[u64], agrees| {
            let said = |line: &u64| LineAdvertised { source: "sysfs".into(), line_bytes: *line };
            let advertised = advertised.iter().map(said).collect();
            let found = Cacheline { line_bytes, advertised, ..Cacheline::default() };
            assert_eq!(found.agrees(), agrees);
            assert_eq!(found.figures().len(), usize::from(line_bytes.is_some()));
        };
        check(None, &[64], None);
        check(Some(64), &[], None);
        check(Some(64), &[64, 64], Some(true));
        check(Some(64), &[64, 128], Some(false));
    }
}
