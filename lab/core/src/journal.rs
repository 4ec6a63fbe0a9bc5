//! The record of a run, as the store keeps it. A verdict is computed from it.

use crate::fingerprint::Fingerprint;
use crate::load::PaceResult;
use crate::plan::{Budget, Plan};
use crate::sample::{BatchTime, Sample};
use crate::sampler::OutputDigest;
use crate::schedule::RoundCoins;
use crate::terms::is_zero;
use crate::transitions::{ByAge, Transitions};
use crate::verdict::{Fault, Verdict};
use crate::warning::Warning;
use serde::{Deserialize, Serialize};

/// The part that is written before the first round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunHeader {
    /// The time of creation, in milliseconds since 1970-01-01 UTC.
    pub created_unix_ms: u64,
    /// The version of tiebreak.
    pub version: String,
    /// The command line that made the run, word by word.
    pub command: Vec<String>,
    /// The folder in which the command was typed.
    pub directory: String,
    /// The plan of the run.
    pub plan: Plan,
    /// The machine.
    pub machine: Fingerprint,
    /// The name of the latest print of this machine in the store, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_print: Option<String>,
    /// The files that make up the contestants, so that a resumed run races the same ones.
    pub files: Vec<FileDigest>,
    /// The key of "run n of this claim": equal for runs of the same claims on the same files.
    pub claim_key: String,
}

/// A file that a run depends on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDigest {
    /// The resolved path.
    pub path: String,
    /// The length of the file in bytes.
    pub bytes: u64,
    /// SHA-256 in hexadecimal. For files over 64 MiB, it covers their length and modification time
    /// instead.
    pub digest: String,
}

/// A finished round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The coins of the attempt that was finished.
    pub coins: RoundCoins,
    /// The time that it waited for quiet before it started.
    pub waited_ns: u64,
    /// The run's own time at the end of the round, over all its sessions.
    pub elapsed_ns: u64,
    /// One sample per entry of the coins' order.
    pub samples: Vec<Sample>,
    /// For a unit of several rounds: the wall times of each contestant's batches, one entry per
    /// sample, in the order of the unit's rounds. Empty if a sample is one batch of known time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<Vec<BatchTime>>,
    /// For servers: the histograms of the latencies of each sample's load, in the byte form of
    /// `tiebreak-load`. Otherwise empty.
    #[serde(with = "crate::hex::list", default, skip_serializing_if = "Vec::is_empty")]
    pub histograms: Vec<Vec<u8>>,
    /// The wealth of the bets after the round, one entry per open claim.
    pub wealth: Vec<Wealth>,
}

/// The wealth of the bets about one claim after a round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Wealth {
    /// The index of the claim in the plan.
    pub claim: usize,
    /// The wealth against "not more than the bar", at the bar.
    #[serde(with = "crate::float")]
    pub evidence_for: f64,
    /// The wealth against "not less than the bar", at the bar.
    #[serde(with = "crate::float")]
    pub evidence_against: f64,
}

/// An event of a run other than its rounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub enum Event {
    /// The outputs of the first round, by contestant; `None` where nothing was captured.
    FirstOutputs {
        /// One entry per contestant.
        outputs: Vec<Option<OutputDigest>>,
    },
    /// A contestant became void in an attempt at this round. The attempt counts as not made.
    Void {
        /// The index of the contestant.
        contestant: usize,
        /// The round in which it happened.
        round: u64,
        /// The attempt at the round that this ended; `None` if it happened before an attempt began.
        attempt: Option<u32>,
        /// The reason.
        fault: Fault,
    },
    /// The run stopped after this many rounds.
    Stopped {
        /// The number of rounds finished.
        rounds: u64,
        /// The reason why it stopped.
        reason: StopReason,
    },
    /// The run was resumed.
    Resumed {
        /// The number of rounds finished at that time.
        rounds: u64,
        /// The number of attempts lost so far.
        lost: u64,
        /// The budget from here on.
        budget: Budget,
    },
    /// The first failure of a contestant whose success a claim is about, for the reader. The sample
    /// itself records the failure.
    FirstFailure {
        /// The index of the contestant.
        contestant: usize,
        /// The round in which it happened.
        round: u64,
        /// What went wrong.
        fault: Fault,
    },
    /// Lines of a stream became evidence: as many as make a block, or any number where each line is
    /// an observation.
    Observed {
        /// The number of lines.
        lines: u64,
        /// The number of them that are successes.
        successes: u64,
        /// The number of runs of failures that begin in these lines. A run that continues from
        /// earlier lines began there.
        failure_runs: u64,
        /// The numbers on the lines, in the unit of the metric, where lines are numbers.
        #[serde(with = "crate::float::list", default, skip_serializing_if = "Vec::is_empty")]
        values: Vec<f64>,
        /// The transitions between lines, if the claim is judged by them. The first line of an
        /// input follows no known line.
        #[serde(default, skip_serializing_if = "Transitions::is_none")]
        transitions: Transitions,
        /// The same transitions by how long a run had lasted; runs of older versions have none.
        #[serde(default, skip_serializing_if = "ByAge::is_none")]
        by_age: Box<ByAge>,
        /// The run's own time when the last of the lines had arrived.
        elapsed_ns: u64,
    },
    /// A block of the messages of a load became evidence: consecutive messages of the schedule, as
    /// many as make an observation.
    Block {
        /// How often they were to arrive, all together; each arrival counts like a line.
        arrivals: u64,
        /// What is known of them, for each claim of the plan.
        tallies: Vec<Tally>,
        /// The run's own time when all of that was known.
        elapsed_ns: u64,
    },
    /// A load whose messages are the stream ended, with all that was seen of it.
    Loaded {
        /// What was seen.
        load: Box<PaceResult>,
    },
    /// Over the claims of several runs together, so many were proven that each can be settled at
    /// this error (e-BH, Wang and Ramdas 2022). Open claims are settled at it, or stay open.
    Relaxed {
        /// The error of one claim.
        #[serde(with = "crate::float")]
        error: f64,
        /// The share of the proven claims that may be wrong on average.
        #[serde(with = "crate::float")]
        false_share: f64,
    },
    /// A warning was given.
    Warned {
        /// The warning.
        warning: Warning,
    },
}

/// What the messages of a block say of one claim.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tally {
    /// The arrivals whose latency is surely at most the bar; for a claim about success, all.
    pub good: u64,
    /// The arrivals whose latency is surely above the bar, and those that never came. The rest are
    /// known neither to be good nor to be bad.
    pub bad: u64,
    /// The runs that begin in this block of messages all of whose arrivals are good.
    pub good_runs: u64,
    /// The same of messages with an arrival that is not good.
    pub other_runs: u64,
    /// Of a claim about a mean: the least that it may be in this block, in the unit of the metric,
    /// what is above the cap counting as the cap.
    #[serde(with = "crate::float", default, skip_serializing_if = "is_zero")]
    pub mean_low: f64,
    /// The most that it may be.
    #[serde(with = "crate::float", default, skip_serializing_if = "is_zero")]
    pub mean_high: f64,
}

/// The reason why a run stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StopReason {
    /// Every claim has its verdict.
    Settled,
    /// The budget is used up.
    Budget,
    /// The user, or a signal, asked it to stop.
    Interrupted,
    /// So many contestants are void that no claim is left.
    Void,
    /// The stream ended.
    Ended,
}

/// A whole run, read back.
#[derive(Clone, Debug, PartialEq)]
pub struct Journal {
    /// The run's name in the store.
    pub id: String,
    /// The part that was written before the first round.
    pub header: RunHeader,
    /// The finished rounds, in order.
    pub rounds: Vec<Round>,
    /// The attempts that began and did not finish, in order. The last one may still be running.
    pub lost: Vec<RoundCoins>,
    /// The events, in order.
    pub events: Vec<Event>,
    /// The verdicts as they were reached, by claim.
    pub verdicts: Vec<RecordedVerdict>,
    /// The hash chain over all of these, in the order in which they were written. Empty in a
    /// journal that was made before chains existed.
    pub chain: Vec<Link>,
}

impl Journal {
    /// Returns the hash of the last link, which stands for the whole journal.
    pub fn chain_head(&self) -> Option<&str> {
        self.chain.last().map(|link| link.hash.as_str())
    }
}

/// A link of the chain over a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The kind of record that was written.
    pub of: Linked,
    /// SHA-256 over the previous hash and the record, in hexadecimal.
    pub hash: String,
}

/// The kind of record that a link of the chain covers. Each kind has its own order, so the kind
/// identifies the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Linked {
    /// The header.
    Header,
    /// The coins of an attempt at a round.
    Coins,
    /// The result of a finished round.
    Round,
    /// An event.
    Event,
    /// A verdict.
    Verdict,
}

/// A verdict as the journal keeps it. `replay` must compute it again, bit for bit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RecordedVerdict {
    /// The index of the claim in the plan.
    pub claim: usize,
    /// The verdict.
    pub verdict: Verdict,
    /// The round after which it was reached.
    pub rounds: u64,
    /// The lower limit: of the log ratio, of the share or of the mean, depending on the claim.
    #[serde(with = "crate::float::option", default)]
    pub low: Option<f64>,
    /// The upper limit of the same quantity.
    #[serde(with = "crate::float::option", default)]
    pub high: Option<f64>,
}
