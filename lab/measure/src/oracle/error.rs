//! Errors of an oracle.

use std::io;
use std::path::PathBuf;

/// Why there is no input or no answer. A contestant is never the cause.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// Its library is not an oracle.
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
        /// The question.
        asked: String,
        /// What went wrong.
        why: String,
        /// What it wrote to standard error, after a semicolon.
        said: String,
    },
    /// The user asked to stop.
    #[error("interrupted while the oracle was at work")]
    Interrupted,
    /// The input file cannot be read.
    #[error("the input '{path}' cannot be read: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// No process or no memory is available.
    #[error("no worker could run the study's oracle: {0}: free memory, or raise the limits")]
    Worker(io::Error),
}
