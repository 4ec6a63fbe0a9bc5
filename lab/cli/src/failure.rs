//! The end of a command without a result: a text and an exit code.

use crate::exit;
use tiebreak_lab::error::{Blame, LabError};
use tiebreak_lab::measure::StartError;
use tiebreak_lab::store::StoreError;

/// An error, printed after `error: `, once.
#[derive(Debug)]
pub struct Failure {
    /// What is wrong, and what would be right.
    pub text: String,
    /// The exit code.
    pub code: u8,
}

impl Failure {
    /// Returns an error in the command line.
    pub fn usage(text: impl Into<String>) -> Failure {
        Failure { text: text.into(), code: exit::USAGE }
    }

    /// Returns an error about a file that cannot be used.
    pub fn data(text: impl Into<String>) -> Failure {
        Failure { text: text.into(), code: exit::DATA }
    }
}

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        let code = match error.blame() {
            Blame::Usage => exit::USAGE,
            Blame::Data => exit::DATA,
            Blame::Machine => exit::OPEN,
            Blame::Tool => exit::TOOL,
            Blame::User => exit::INTERRUPTED,
        };
        let text = match &error {
            LabError::Claim(claim) => claim.render(false),
            _ => error.to_string(),
        };
        Failure { text, code }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        LabError::from(error).into()
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        LabError::from(error).into()
    }
}
