//! Why an oracle gave nothing.

use std::io;
use std::path::PathBuf;

/// Why there is no input or no answer. None of it is a contestant's fault.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// Its library is no oracle.
    #[error("'{library}' is not an oracle: {why}")]
    Refused {
        /// The library.
        library: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// It failed or crashed.
    #[error(
        "the study's oracle failed on {asked}: {why}{said}: 'tiebreak study show' names its source"
    )]
    Failed {
        /// What it was asked.
        asked: String,
        /// What went wrong.
        why: String,
        /// What it wrote to standard error, after a semicolon.
        said: String,
    },
    /// The user asked to stop.
    #[error("interrupted while the oracle was at work")]
    Interrupted,
    /// A file that is to be the input cannot be read.
    #[error("the input '{path}' cannot be read: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// No process or no memory could be had.
    #[error("no worker could run the study's oracle: {0}: free memory, or raise the limits")]
    Worker(io::Error),
}
