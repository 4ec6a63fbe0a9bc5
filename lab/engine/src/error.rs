//! Errors of the laboratory, and whose fault each is.

use std::fmt::Display;
use std::path::Path;
use thiserror::Error;
use tiebreak_input::study_folder::StudyErrors;
use tiebreak_input::{ClaimError, FileErrors};
use tiebreak_measure::StartError;
use tiebreak_store::StoreError;

/// An error of the laboratory. Its text says what would be right.
///
/// A kind that a caller treats in its own way has a variant; for all others only [`Blame`] matters.
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
    /// A file of claims is wrong.
    #[error("{}", .0.render(false))]
    File(Box<FileErrors>),
    /// The folder of a study is wrong.
    #[error("{}", .0.render(false))]
    Folder(#[from] Box<StudyErrors>),
    /// Something that the request names cannot be used: a file, a run, a study, a revision.
    #[error("{0}")]
    Data(String),
    /// The machine does not measure what a claim is about, or lacks what a study is built with.
    #[error("{0}")]
    NotMeasured(String),
    /// A run failed, and no contestant is at fault.
    #[error("{0}")]
    Broken(String),
    /// The user interrupted before anything was raced.
    #[error("interrupted before the race began")]
    Interrupted,
    /// The user interrupted before the first permutation was drawn.
    #[error("interrupted before the first permutation was drawn")]
    NoPermutation,
    /// The user interrupted before the first message was sent.
    #[error("interrupted before the first message was sent")]
    NoMessage,
    /// An error, and on a further line what to know or to do.
    #[error("{0}\n{1}")]
    Noted(Box<LabError>, String),
}

/// The result of what can fail in the laboratory.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

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
        LabError::Noted(Box::new(self), note.into())
    }

    /// Returns whose fault it is.
    pub fn blame(&self) -> Blame {
        match self {
            LabError::Noted(error, _) => error.blame(),
            LabError::Claim(_) | LabError::Usage(_) => Blame::Usage,
            LabError::NotMeasured(_) => Blame::Machine,
            LabError::Store(StoreError::Refused { .. } | StoreError::Sqlite { .. })
            | LabError::Broken(_) => Blame::Tool,
            LabError::Interrupted | LabError::NoPermutation | LabError::NoMessage => Blame::User,
            LabError::Start(_)
            | LabError::Store(_)
            | LabError::File(_)
            | LabError::Folder(_)
            | LabError::Data(_) => Blame::Data,
        }
    }

    /// Returns the error of a file in the request that cannot be read.
    pub(crate) fn unreadable(path: &Path, error: impl Display) -> LabError {
        LabError::Data(format!("cannot read {}: {error}", path.display()))
    }
}

/// Returns an error about an impossible request.
pub(crate) fn usage<T>(text: impl Into<String>) -> Result<T, LabError> {
    Err(LabError::Usage(text.into()))
}

/// Returns an error about an impossible request, unless the condition is met.
pub(crate) fn require(is_met: bool, otherwise: impl Into<String>) -> Result<(), LabError> {
    if is_met { Ok(()) } else { usage(otherwise) }
}

/// Returns an error about something that the request names.
pub(crate) fn data<T>(text: impl Into<String>) -> Result<T, LabError> {
    Err(LabError::Data(text.into()))
}
