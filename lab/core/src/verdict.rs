//! Verdicts, and the faults that make a contestant void.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The result of the evidence for a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Proven at the error asked for; for a question, an order is proven.
    Holds,
    /// The opposite is proven.
    Refuted,
    /// Proven to lie within the resolution of the bar.
    TooClose,
    /// Nothing is proven: the budget ran out, or the run was interrupted.
    Undecided,
    /// A contestant failed or gave a wrong answer, so that there is no result.
    Void,
}

names! {
    Verdict:
    Holds = "holds",
    Refuted = "refuted",
    TooClose = "too close",
    Undecided = "undecided",
    Void = "void",
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The reason why a contestant is void.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "fault")]
pub enum Fault {
    /// It ended with a status that is not success.
    #[error("ended with exit status {status}{}", Quoted(.stderr))]
    ExitStatus {
        /// The status.
        status: i32,
        /// The last lines that it wrote to standard error, shortened.
        stderr: String,
    },
    /// A signal killed it (not one of tiebreak's).
    #[error("was killed by signal {signal}{}", Quoted(.stderr))]
    Signal {
        /// The signal's number.
        signal: i32,
        /// The last lines that it wrote to standard error, shortened.
        stderr: String,
    },
    /// It wrote more than the limit to standard output.
    #[error("wrote more than {limit_bytes} bytes to standard output and was ended")]
    Flooded {
        /// The limit in bytes.
        limit_bytes: u64,
    },
    /// Its output differs from the output of all contestants in the first round.
    #[error(
        "changed its output: {got_bytes} bytes that are not the {expected_bytes} bytes that all \
         contestants wrote in the first round"
    )]
    OutputChanged {
        /// The bytes of the first round's output.
        expected_bytes: u64,
        /// The bytes of this output.
        got_bytes: u64,
    },
    /// Its output differs from that of the first contestant in the same round.
    #[error("wrote another output than {from}")]
    OutputDiffers {
        /// The name of the contestant that it differs from.
        from: String,
    },
    /// The program of `--check` did not accept its output.
    #[error("wrote an output that the check '{judge}' rejected (status {status})")]
    Rejected {
        /// The judge's command.
        judge: String,
        /// The judge's exit status, or 128 + the signal that killed it.
        status: i32,
    },
    /// One of its hooks failed.
    #[error("has a failing --{hook} '{command}': status {status}{}", Quoted(.stderr))]
    Hook {
        /// `setup`, `prepare`, `conclude` or `cleanup`.
        hook: String,
        /// The hook's command.
        command: String,
        /// Its exit status, or 128 + the signal that killed it.
        status: i32,
        /// The last lines that it wrote to standard error, shortened.
        stderr: String,
    },
    /// It could be started before, but not now.
    #[error("could not be started: {reason}")]
    CannotStart {
        /// The system's reason.
        reason: String,
    },
    /// Its answer differs from the oracle's.
    #[error("answered wrongly on {workload}: {}", wrong(*.item, .expected, .got))]
    WrongAnswer {
        /// The workload.
        workload: String,
        /// The first item that differs, counted from 1; `None` if only the checksum does.
        item: Option<u64>,
        /// The expected item, shortened.
        expected: String,
        /// The actual item, shortened.
        got: String,
    },
    /// It touched memory that does not belong to it.
    #[error("{what}, on {workload}")]
    OutOfBounds {
        /// The workload.
        workload: String,
        /// What it did and where: `wrote 1 byte past the end of its output`.
        what: String,
    },
    /// It did not return.
    #[error("did not come back within {seconds} s, on {workload}, and was ended")]
    Hung {
        /// The workload.
        workload: String,
        /// The seconds that the laboratory waited.
        seconds: u64,
    },
    /// It could not be prepared.
    #[error("said that it cannot be prepared for {workload}")]
    NotPrepared {
        /// The workload.
        workload: String,
    },
    /// It broke the runner protocol, or reported a time that the clock outside contradicts.
    #[error("{what}, on {workload}")]
    Runner {
        /// The workload.
        workload: String,
        /// What it did, and what would be right.
        what: String,
    },
    /// It did what the contract forbids, or something that makes its time mean something other than
    /// the study asks.
    #[error("{what}, on {workload}")]
    Conduct {
        /// The workload.
        workload: String,
        /// What it did, without its subject.
        what: String,
    },
    /// A server broke a connection under load.
    #[error("{what}, on connection {connection}")]
    Connection {
        /// Which connection, counted from 0.
        connection: u32,
        /// What it did, without its subject.
        what: String,
    },
    /// It is a server that ended, was never ready, broke the protocol or lost messages.
    #[error("{what}{}", Quoted(.stderr))]
    Server {
        /// What it did, without its subject.
        what: String,
        /// The last lines that it wrote, shortened.
        stderr: String,
    },
    /// It failed in a run that a claim about its success counts. So the claims about its other
    /// properties have no object.
    #[error("failed in a run, so only its success can be judged")]
    FailedRun,
}

impl Fault {
    /// Returns whether it is the failure of one run, which a claim about success counts. A failing
    /// hook or a missing program says nothing about success.
    pub fn is_failed_run(&self) -> bool {
        matches!(
            self,
            Fault::ExitStatus { .. }
                | Fault::Signal { .. }
                | Fault::Flooded { .. }
                | Fault::OutputChanged { .. }
                | Fault::OutputDiffers { .. }
                | Fault::Rejected { .. }
                | Fault::Server { .. }
                | Fault::FailedRun
        )
    }
}

/// Describes a wrong answer: an item of it, or its checksum.
fn wrong(item: Option<u64>, expected: &str, got: &str) -> String {
    match item {
        Some(item) => format!("item {item} should be '{expected}' and was '{got}'"),
        None => format!("its checksum should be {expected} and was {got}"),
    }
}

struct Quoted<'a>(&'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => Ok(()),
            stderr => write!(f, "; it said: {stderr}"),
        }
    }
}
