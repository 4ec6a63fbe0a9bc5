//! Verdicts, and what makes a contestant void.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What the evidence says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Proven at the error asked for. Of a question: an order is proven.
    Holds,
    /// The opposite is proven.
    Refuted,
    /// Proven to lie within the resolution of the bar.
    TooClose,
    /// Nothing is proven: the budget ran out, or the run was interrupted.
    Undecided,
    /// A contestant failed or gave a wrong answer, so that nothing can be said.
    Void,
}

impl Verdict {
    /// The word that people read.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Holds => "holds",
            Verdict::Refuted => "refuted",
            Verdict::TooClose => "too close",
            Verdict::Undecided => "undecided",
            Verdict::Void => "void",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// Why a contestant is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "fault")]
pub enum Fault {
    /// It ended with a status that is not success.
    ExitStatus {
        /// The status.
        status: i32,
        /// The last lines that it wrote to standard error, shortened.
        stderr: String,
    },
    /// A signal killed it (not one of ours).
    Signal {
        /// The signal's number.
        signal: i32,
        /// The last lines that it wrote to standard error, shortened.
        stderr: String,
    },
    /// It wrote more than the limit to standard output.
    Flooded {
        /// The limit.
        limit_bytes: u64,
    },
    /// Its output is not what all contestants wrote in the first round.
    OutputChanged {
        /// Bytes of the first round's output.
        expected_bytes: u64,
        /// Bytes of this one.
        got_bytes: u64,
    },
    /// Its output is not what the first contestant wrote in the same round.
    OutputDiffers {
        /// Name of the contestant that it differs from.
        from: String,
    },
    /// The program of `--check` did not accept its output.
    Rejected {
        /// The judge's command.
        judge: String,
        /// The judge's exit status, or 128 + the signal that killed it.
        status: i32,
    },
    /// One of its hooks failed.
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
    CannotStart {
        /// What the system said.
        reason: String,
    },
    /// Its answer is not the oracle's.
    WrongAnswer {
        /// The workload.
        workload: String,
        /// The first item that differs, counted from 1; `None` if only the checksum does.
        item: Option<u64>,
        /// What was expected there, shortened.
        expected: String,
        /// What came, shortened.
        got: String,
    },
    /// It touched memory that is not its own.
    OutOfBounds {
        /// The workload.
        workload: String,
        /// What it did where: `wrote 1 byte past the end of its output`.
        what: String,
    },
    /// It did not come back.
    Hung {
        /// The workload.
        workload: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// It could not be prepared.
    NotPrepared {
        /// The workload.
        workload: String,
    },
    /// It broke the runner protocol, or said of its time what the clock outside contradicts.
    Runner {
        /// The workload.
        workload: String,
        /// What it did, and what would be right.
        what: String,
    },
    /// It did what the contract forbids, or what makes its time say something else than the study
    /// asks.
    Conduct {
        /// The workload.
        workload: String,
        /// What it did, without its subject.
        what: String,
    },
    /// It failed in a run that a claim about its success counts, so that the claims about its other
    /// properties are about nothing.
    FailedRun,
}

impl Fault {
    /// Whether it is the failure of one run, which a claim about success counts as such; a hook
    /// that fails or a program that is gone says nothing about success.
    pub fn is_failed_run(&self) -> bool {
        match self {
            Fault::ExitStatus { .. }
            | Fault::Signal { .. }
            | Fault::Flooded { .. }
            | Fault::OutputChanged { .. }
            | Fault::OutputDiffers { .. }
            | Fault::Rejected { .. }
            | Fault::FailedRun => true,
            Fault::Hook { .. }
            | Fault::CannotStart { .. }
            | Fault::WrongAnswer { .. }
            | Fault::OutOfBounds { .. }
            | Fault::Hung { .. }
            | Fault::NotPrepared { .. }
            | Fault::Runner { .. }
            | Fault::Conduct { .. } => false,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::ExitStatus { status, stderr } => {
                write!(f, "ended with exit status {status}{}", Said(stderr))
            }
            Fault::Signal { signal, stderr } => {
                write!(f, "was killed by signal {signal}{}", Said(stderr))
            }
            Fault::Flooded { limit_bytes } => {
                write!(f, "wrote more than {limit_bytes} bytes to standard output and was ended")
            }
            Fault::OutputChanged { expected_bytes, got_bytes } => write!(
                f,
                "changed its output: {got_bytes} bytes that are not the {expected_bytes} bytes \
                 that all contestants wrote in the first round"
            ),
            Fault::OutputDiffers { from } => write!(f, "wrote another output than {from}"),
            Fault::Rejected { judge, status } => {
                write!(f, "wrote an output that the check '{judge}' rejected (status {status})")
            }
            Fault::Hook { hook, command, status, stderr } => {
                write!(f, "has a failing --{hook} '{command}': status {status}{}", Said(stderr))
            }
            Fault::CannotStart { reason } => write!(f, "could not be started: {reason}"),
            Fault::WrongAnswer { workload, item: Some(item), expected, got } => write!(
                f,
                "answered wrongly on {workload}: item {item} should be '{expected}' and was \
                 '{got}'"
            ),
            Fault::WrongAnswer { workload, item: None, expected, got } => write!(
                f,
                "answered wrongly on {workload}: its checksum should be {expected} and was {got}"
            ),
            Fault::Hung { workload, seconds } => {
                write!(f, "did not come back within {seconds} s, on {workload}, and was ended")
            }
            Fault::NotPrepared { workload } => {
                write!(f, "said that it cannot be prepared for {workload}")
            }
            Fault::OutOfBounds { workload, what }
            | Fault::Runner { workload, what }
            | Fault::Conduct { workload, what } => write!(f, "{what}, on {workload}"),
            Fault::FailedRun => write!(f, "failed in a run, so only its success can be judged"),
        }
    }
}

struct Said<'a>(&'a str);

impl fmt::Display for Said<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.trim() {
            "" => Ok(()),
            said => write!(f, "; it said: {said}"),
        }
    }
}
