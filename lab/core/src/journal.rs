//! The record of a run, as the store keeps it and as a verdict is computed from it.

use crate::fingerprint::Fingerprint;
use crate::plan::{Budget, Plan};
use crate::sample::{BatchTime, Sample};
use crate::sampler::OutputDigest;
use crate::schedule::RoundCoins;
use crate::transitions::{ByAge, Transitions};
use crate::verdict::{Fault, Verdict};
use crate::warning::Warning;
use serde::{Deserialize, Serialize};

/// What is written before the first round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// Milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The version of tiebreak.
    pub version: String,
    /// The command line, word by word, that made the run.
    pub command: Vec<String>,
    /// The folder in which it was typed.
    pub directory: String,
    /// What was planned.
    pub plan: Plan,
    /// The machine.
    pub machine: Fingerprint,
    /// The name of the latest print of this machine in the store, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_print: Option<String>,
    /// The files that the contestants are made of, so that a resumed run races the same ones.
    pub files: Vec<FileDigest>,
    /// Equal for runs of the same claims on the same files: the key of "run n of this claim".
    pub claim_key: String,
}

/// A file that a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The path as it was resolved.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// SHA-256 in hexadecimal; of files over 64 MiB, of their length and time of change instead.
    pub digest: String,
}

/// A finished round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// What was drawn for the attempt that was finished.
    pub coins: RoundCoins,
    /// How long it waited for quiet before it started.
    pub waited_ns: u64,
    /// The run's own time at the end of the round, over all its sessions.
    pub elapsed_ns: u64,
    /// One sample an entry of the coins' order.
    pub samples: Vec<Sample>,
    /// Of a unit of several rounds: the wall times of each contestant's batches, one entry for each
    /// sample, in the order of the unit's rounds. Empty if a sample is one batch of known time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Vec<BatchTime>>,
    /// One entry an open claim: what the bets had won after the round.
    pub wealth: Vec<Wealth>,
}

/// What the bets about one claim had won after a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wealth {
    /// Index of the claim in the plan.
    pub claim: usize,
    /// Against "not more than the bar", at the bar.
    #[serde(with = "crate::float")]
    pub evidence_for: f64,
    /// Against "not less than the bar", at the bar.
    #[serde(with = "crate::float")]
    pub evidence_against: f64,
}

/// Something that happened in a run beside its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The outputs of the first round, by contestant; `None` where nothing was captured.
    FirstOutputs {
        /// One entry a contestant.
        outputs: Vec<Option<OutputDigest>>,
    },
    /// A contestant became void in an attempt at this round, which counts as not made.
    Void {
        /// Index of the contestant.
        contestant: usize,
        /// The round in which it happened.
        round: u64,
        /// The attempt at it that this ended; `None` if it happened before one was begun.
        attempt: Option<u32>,
        /// Why.
        fault: Fault,
    },
    /// The run stopped after this many rounds.
    Stopped {
        /// Rounds finished.
        rounds: u64,
        /// Why it stopped.
        reason: StopReason,
    },
    /// The run went on.
    Resumed {
        /// Rounds finished at that time.
        rounds: u64,
        /// Attempts lost so far.
        lost: u64,
        /// The budget from here on.
        budget: Budget,
    },
    /// The first failure of a contestant whose success a claim is about: what it said, for the
    /// reader. The failure itself is the sample's.
    FirstFailure {
        /// Index of the contestant.
        contestant: usize,
        /// The round in which it happened.
        round: u64,
        /// What went wrong.
        fault: Fault,
    },
    /// Lines of a stream became evidence: as many as make a block, or any number where each line is
    /// an observation.
    Observed {
        /// How many lines.
        lines: u64,
        /// How many of them are successes.
        successes: u64,
        /// Runs of failures that begin in these lines (a run that goes on from earlier ones began
        /// there).
        failure_runs: u64,
        /// The numbers on the lines, where they are numbers: in the unit of the metric.
        #[serde(with = "crate::float::list", default, skip_serializing_if = "Vec::is_empty")]
        values: Vec<f64>,
        /// What came after what, if that is what the claim is judged by: of the first line of an
        /// input it is not known what came before.
        #[serde(default, skip_serializing_if = "Transitions::is_none")]
        transitions: Transitions,
        /// The same by how long a run had lasted; runs of older versions have none.
        #[serde(default, skip_serializing_if = "ByAge::is_none")]
        by_age: Box<ByAge>,
        /// The run's own time when the last of them had come.
        elapsed_ns: u64,
    },
    /// Of the claims of several runs together, as many were proven as let each be settled at this
    /// error (e-BH, Wang and Ramdas 2022): the claims that are open are settled at it, or stay so.
    Relaxed {
        /// The error of one claim.
        #[serde(with = "crate::float")]
        error: f64,
        /// Of all that is said to be proven, the share that may be wrong on average.
        #[serde(with = "crate::float")]
        false_share: f64,
    },
    /// Something worth saying.
    Warned {
        /// What.
        warning: Warning,
    },
}

/// Why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Every claim has its verdict.
    Settled,
    /// The budget is used up.
    Budget,
    /// The user, or a signal, asked to stop.
    Interrupted,
    /// So many contestants are void that no claim is left.
    Void,
    /// The stream came to its end.
    Ended,
}

/// A whole run, read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// Its name in the store.
    pub id: String,
    /// What was written before the first round.
    pub header: RunHeader,
    /// Finished rounds, in order.
    pub rounds: Vec<Round>,
    /// Attempts that were begun and not finished, in order. The last one may still be running.
    pub lost: Vec<RoundCoins>,
    /// Events, in order.
    pub events: Vec<Event>,
    /// The verdicts as they were reached, by claim.
    pub verdicts: Vec<RecordedVerdict>,
    /// The hash chain over all of these, in the order in which they were written; empty in a
    /// journal that was made before there was one.
    pub chain: Vec<Link>,
}

impl Journal {
    /// The hash of the last link: it stands for the whole journal.
    pub fn chain_head(&self) -> Option<&str> {
        self.chain.last().map(|link| link.hash.as_str())
    }
}

/// A link of the chain over a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// What was written.
    pub of: Linked,
    /// SHA-256 over the hash before it and what was written, in hexadecimal.
    pub hash: String,
}

/// What a link of the chain is about. Each kind has its own order, so the kind says which one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Linked {
    /// The header.
    Header,
    /// The coins of an attempt at a round.
    Coins,
    /// What a finished round gave.
    Round,
    /// An event.
    Event,
    /// A verdict.
    Verdict,
}

/// A verdict as the journal keeps it: `replay` must give it again, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// Index of the claim in the plan.
    pub claim: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The round after which it was reached.
    pub rounds: u64,
    /// The lower limit: of the log ratio, of the share or of the mean, as the claim has it.
    #[serde(with = "crate::float::option", default)]
    pub low: Option<f64>,
    /// The upper limit of the same.
    #[serde(with = "crate::float::option", default)]
    pub high: Option<f64>,
}
