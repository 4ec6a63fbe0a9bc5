//! Which CPUs share a core, as measured.

use serde::{Deserialize, Serialize};

/// Pairs of CPUs that ran the same work alone and at the same time.
///
/// Two threads of one core that both keep its adders busy get about half of them each; two cores do
/// not hinder each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sharing {
    /// The pairs, those that the machine says share a core first.
    pub pairs: Vec<Pair>,
    /// Pairs of CPUs that this process may use, so that it can be said how many were left out.
    pub pairs_possible: usize,
    /// From which slowdown on two CPUs are taken to share a core.
    pub threshold: f64,
}

impl Sharing {
    /// Whether any pair was seen to share a core.
    pub fn is_smt_measured(&self) -> bool {
        self.pairs.iter().any(|pair| pair.shares == Some(true))
    }

    /// The pairs of which measurement and machine say different things.
    pub fn disagreements(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.iter().filter(|pair| {
            let measured = pair.shares.zip(pair.is_advertised);
            measured.is_some_and(|(measured, told)| measured != told)
        })
    }
}

/// A pair of CPUs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pair {
    /// The two CPUs, the lower number first.
    pub cpus: [usize; 2],
    /// Whether the machine says that they share a core; absent if it says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub is_advertised: Option<bool>,
    /// Whether they do, as measured; absent if the rounds disagree: a hypervisor may move them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shares: Option<bool>,
    /// Time of a batch beside the other over its time alone: the median of the rounds.
    pub slowdown: f64,
    /// The share of rounds in which they seemed to share a core.
    pub shared_rounds: f64,
    /// Rounds that count.
    pub rounds: usize,
    /// A batch alone, in nanoseconds: the median of the rounds.
    pub alone_ns: f64,
    /// A batch beside the other, in nanoseconds: the median of the rounds.
    pub together_ns: f64,
    /// Batches that count.
    pub batches: u64,
    /// Batches that do not count: they had a gap, or the other did not run meanwhile.
    pub invalid_batches: u64,
}
