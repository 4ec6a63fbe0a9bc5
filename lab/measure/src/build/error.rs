//! Why something could not be built.

use std::io;
use std::path::{Path, PathBuf};

/// A contestant or an oracle cannot be built. The text says what would help.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The compiler or the interpreter is not there.
    #[error("{program} is not here{why}; {remedy}")]
    Missing {
        /// The program.
        program: String,
        /// What it said, after a colon, if it is there and fails.
        why: String,
        /// What would bring it.
        remedy: String,
    },
    /// A compiler or a linker failed.
    #[error("'{command}' {status}:\n{output}")]
    Failed {
        /// The command, as one would type it.
        command: String,
        /// How it ended: `failed with status 1`.
        status: String,
        /// The beginning and the end of what it printed.
        output: String,
    },
    /// A cargo package did not leave the library that is needed.
    #[error(
        "the package '{package}' built {found}: a contestant's Cargo.toml needs [lib] with \
         crate-type = [\"staticlib\"], once"
    )]
    Package {
        /// The package's folder.
        package: String,
        /// What it built instead.
        found: String,
    },
    /// The recipe is of a language whose contestants are processes.
    #[error("{language} makes no shared library, which an oracle must be")]
    NoLibrary {
        /// The language.
        language: &'static str,
    },
    /// The user asked to stop.
    #[error("interrupted while building")]
    Interrupted,
    /// Nothing says where builds are kept.
    #[error("nothing says where builds should be kept: set HOME, XDG_CACHE_HOME or TIEBREAK_CACHE")]
    NoCache,
    /// A file or a folder cannot be read or written.
    #[error("{doing} '{path}': {reason}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A program that was found could not be started.
    #[error("starting '{command}': {reason}")]
    Start {
        /// The command.
        command: String,
        /// What the system said.
        reason: io::Error,
    },
}

impl BuildError {
    /// Makes an error of one of the system's about a path.
    pub(super) fn io(
        doing: &'static str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> BuildError + use<> {
        let path = path.to_owned();
        move |reason| BuildError::Io { doing, path, reason }
    }
}
