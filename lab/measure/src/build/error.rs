//! Why something could not be built.

use std::io;
use std::path::{Path, PathBuf};

/// Why a contestant or an oracle cannot be built. The text says what would help.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The compiler or the interpreter is not installed.
    #[error("{program} is not here{why}; {remedy}")]
    Missing {
        /// The program.
        program: String,
        /// What it printed, after a colon, if it exists but fails.
        why: String,
        /// How to get it, as a clause.
        remedy: String,
    },
    /// A compiler or a linker failed.
    #[error("'{command}' {status}:\n{output}")]
    Failed {
        /// The command, as it would be typed.
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
    /// The recipe's language is one whose contestants are processes.
    #[error("{language} makes no shared library, which an oracle must be")]
    NoLibrary {
        /// The language.
        language: &'static str,
    },
    /// The user asked to stop.
    #[error("interrupted while building")]
    Interrupted,
    /// No environment variable says where to keep builds.
    #[error("nothing says where builds should be kept: set HOME, XDG_CACHE_HOME or TIEBREAK_CACHE")]
    NoCache,
    /// A file or a folder cannot be read or written.
    #[error("{doing} '{path}': {reason}")]
    Io {
        /// What was tried.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// A program that was found could not be started.
    #[error("starting '{command}': {reason}")]
    Start {
        /// The command.
        command: String,
        /// The error of the system.
        reason: io::Error,
    },
}

impl BuildError {
    /// Says that the linker of every language is missing.
    pub(super) fn no_cc() -> BuildError {
        BuildError::Missing {
            program: "cc".to_owned(),
            why: String::new(),
            remedy: "'apt-get install gcc' brings it".to_owned(),
        }
    }

    /// Converts an error of the system about a path.
    pub(super) fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> BuildError + use<> {
        let path = path.to_owned();
        move |reason| BuildError::Io { doing, path: path.clone(), reason }
    }
}
