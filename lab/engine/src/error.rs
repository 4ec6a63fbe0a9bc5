//! Errors of the laboratory, and whose fault each is.

use std::path::PathBuf;
use thiserror::Error;
use tiebreak_input::study_folder::StudyErrors;
use tiebreak_input::{ClaimError, FileErrors};
use tiebreak_measure::StartError;
use tiebreak_store::StoreError;

/// An error of the laboratory. Its text says what would be right.
#[derive(Debug, Error)]
pub enum LabError {
    /// A claim sentence is wrong.
    #[error("{0}")]
    Claim(ClaimError),
    /// The request cannot become a plan.
    #[error("{0}")]
    Usage(String),
    /// A program, a file or a CPU in the request cannot be used.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The journal cannot be used.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file in the request cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The run cannot be resumed.
    #[error("run {id} cannot be resumed: {why}")]
    Resume {
        /// The run.
        id: String,
        /// Why, and what to do instead.
        why: String,
    },
    /// The journal differs from what its seed and samples give.
    #[error(
        "run {id} does not replay: for {what} the journal has {recorded}, its seed and samples \
         give {replayed}; the file was changed, or this is a defect of tiebreak"
    )]
    Replay {
        /// The run.
        id: String,
        /// What differs.
        what: String,
        /// What the journal has.
        recorded: String,
        /// What its seed and samples give.
        replayed: String,
    },
    /// A link of the chain over the journal is broken.
    #[error(
        "the chain of run {id} is broken: {what}; the journal was changed after it was written"
    )]
    Chain {
        /// The run.
        id: String,
        /// The first link that is broken.
        what: String,
    },
    /// A later version of the engine made the journal.
    #[error(
        "run {id} was judged by version {theirs} of the engine, and this is version {ours}: replay \
         it with tiebreak {made_by}"
    )]
    OtherEngine {
        /// The run.
        id: String,
        /// The engine that made it.
        theirs: u32,
        /// This engine.
        ours: u32,
        /// The version of tiebreak that made it.
        made_by: String,
    },
    /// The machine does not measure what a claim is about.
    #[error("'{claim}' cannot be settled here: this machine does not measure {metric}")]
    NotMeasured {
        /// The claim.
        claim: String,
        /// The metric's name.
        metric: &'static str,
    },
    /// A line of a stream is invalid.
    #[error("line {line}: {what}; what came before is kept, and resume --more goes on with it")]
    Stream {
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it, and what would be right.
        what: String,
    },
    /// A revision in the request is not in the repository, or cannot be used.
    #[error("the revision '{revision}' cannot be raced: {why}")]
    Revision {
        /// The revision, as the user named it.
        revision: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// A git command failed.
    #[error("cannot {doing}: {message}")]
    Git {
        /// The purpose of the command.
        doing: String,
        /// Its message.
        message: String,
    },
    /// The command that builds a revision failed.
    #[error(transparent)]
    Build(#[from] Box<FailedBuild>),
    /// A file of numbers contains something else.
    #[error("{place}: {what}")]
    Numbers {
        /// The file, and the line, counted from 1.
        place: String,
        /// What is wrong there, and what would be right.
        what: String,
    },
    /// A program that computes a statistic breaks its protocol.
    #[error("the statistic '{command}' {why}")]
    Statistic {
        /// Its command.
        command: String,
        /// What it did, and what it must do.
        why: String,
    },
    /// A study cannot be raced.
    #[error("the study {study} cannot be raced: {why}")]
    Study {
        /// Its name.
        study: String,
        /// What is wrong with it, and what to do.
        why: String,
    },
    /// The study does not exist.
    #[error("there is no study '{name}'{known}: 'tiebreak study new {name}' makes one")]
    NoStudy {
        /// The study, as the user named it.
        name: String,
        /// The existing studies, in words.
        known: String,
    },
    /// The user interrupted before anything was raced.
    #[error("interrupted before the race began")]
    Interrupted,
    /// A run failed, and no contestant is at fault.
    #[error("{0}")]
    Broken(String),
    /// A file of claims is wrong.
    #[error("{}", .0.render(false))]
    File(Box<FileErrors>),
    /// The folder of a study is wrong.
    #[error("{}", .0.render(false))]
    Folder(#[from] Box<StudyErrors>),
    /// Something that the request names cannot be used.
    #[error("{0}")]
    Data(String),
    /// The user interrupted before the first permutation was drawn.
    #[error("interrupted before the first permutation was drawn")]
    NoPermutation,
    /// An error, and on a further line what to know or to do.
    #[error("{error}\n{note}")]
    Noted {
        /// The error.
        error: Box<LabError>,
        /// The further line.
        note: String,
    },
}

/// Whose fault an error is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The words of the command line or of a claim.
    Usage,
    /// The data or programs that they name.
    Data,
    /// The machine lacks what the request needs; nothing is at fault.
    Machine,
    /// The machine fails, or tiebreak does.
    Tool,
    /// The user asked to stop; nothing is at fault.
    User,
}

impl LabError {
    /// Returns the text for people. In files of claims and in studies it points at the place of
    /// each error, in colour if the terminal has it.
    pub fn render(&self, color: bool) -> String {
        match self {
            LabError::Claim(error) => error.render(false),
            LabError::File(errors) => errors.render(color),
            LabError::Folder(errors) => errors.render(color),
            _ => self.to_string(),
        }
    }

    /// Adds a line to the error.
    #[must_use]
    pub fn noted(self, note: impl Into<String>) -> LabError {
        LabError::Noted { error: Box::new(self), note: note.into() }
    }

    /// Returns whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            LabError::Noted { error, .. } => error.blame(),
            LabError::NoPermutation => Blame::User,
            LabError::File(_) | LabError::Folder(_) | LabError::Data(_) => Blame::Data,
            LabError::Claim(_) | LabError::Usage(_) => Blame::Usage,
            LabError::NotMeasured { .. } => Blame::Machine,
            LabError::Store(StoreError::Refused { .. } | StoreError::Sqlite { .. })
            | LabError::Broken(_) => Blame::Tool,
            LabError::Interrupted => Blame::User,
            // Everything else is about files, journals or programs in the request.
            _ => Blame::Data,
        }
    }
}

/// The command that builds a revision failed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error(
    "the build of {name} ({commit}) failed with status {status}:\n{output}\n\
     to make it again: {again}"
)]
pub struct FailedBuild {
    /// `base` or `head`.
    pub name: &'static str,
    /// The first digits of its commit.
    pub commit: String,
    /// The exit status, or 128 + the signal.
    pub status: i32,
    /// The last lines of its output.
    pub output: String,
    /// The command that repeats the build, as a line for a shell.
    pub again: String,
}

/// Returns an error about an impossible request.
pub(crate) fn usage<T>(text: String) -> Result<T, LabError> {
    Err(LabError::Usage(text))
}
