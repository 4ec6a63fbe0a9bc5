//! Why the programs of a plan cannot be started.

use crate::words::WordsError;
use std::io;
use std::path::PathBuf;

/// What the user typed cannot be started; found before anything runs. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The command is not a list of words.
    #[error("'{command}': {reason}")]
    Words {
        /// The command as it was typed.
        command: String,
        /// What is wrong with it.
        reason: WordsError,
    },
    /// The program does not exist.
    #[error("'{word}' is not a program: {place} (shell commands such as cd need --shell)")]
    NotFound {
        /// The first word of the command.
        word: String,
        /// Where it was looked for.
        place: String,
    },
    /// The file exists but may not be executed.
    #[error("'{path}' is not executable: 'chmod +x {path}' makes it so")]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// The path is a folder.
    #[error("'{path}' is a directory, not a program")]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// The interpreter of the file is missing.
    #[error("'{path}' needs the interpreter '{interpreter}', which is not there or not executable")]
    BadInterpreter {
        /// The file.
        path: PathBuf,
        /// What its first line, or its ELF header, names.
        interpreter: String,
    },
    /// The kernel cannot run a file of this kind.
    #[error(
        "'{path}' is not a program that this machine can run ({found}): a script needs a first \
         line such as '#!/bin/sh'"
    )]
    NotAProgram {
        /// The file.
        path: PathBuf,
        /// What it is instead.
        found: &'static str,
    },
    /// The file for standard input cannot be read.
    #[error("the input '{path}' cannot be read: {reason}")]
    Input {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// The folder to run in does not exist.
    #[error("the directory '{path}' cannot be entered: {reason}")]
    Directory {
        /// The folder.
        path: PathBuf,
        /// The error of the system.
        reason: io::Error,
    },
    /// The plan asks for a CPU that this process may not use.
    #[error("CPU {cpu} is not one of those that may be used here: {allowed}")]
    CpuNotAllowed {
        /// The CPU.
        cpu: usize,
        /// The CPUs that may be used, as a list.
        allowed: String,
    },
    /// The plan has a judge but captures no output.
    #[error("a program of --check judges outputs, so the output must be captured, not thrown away")]
    JudgeWithoutOutput,
    /// A command contains a zero byte, which no argument can contain.
    #[error("'{command}' holds a zero byte")]
    ZeroByte {
        /// The command, with the zero byte shown as a question mark.
        command: String,
    },
    /// The process that starts contestants could not be started.
    #[error("{doing}: {reason}: raise the limits on processes and open files, or free memory")]
    Launcher {
        /// What failed.
        doing: &'static str,
        /// The error of the system.
        reason: io::Error,
    },
    /// A contestant that runs in another runtime, or its oracle, cannot be started.
    #[error("runners cannot be started: {what}")]
    Runner {
        /// What is wrong, and what would help.
        what: String,
    },
    /// Contestants that are functions, or their oracle, cannot be started.
    #[error("functions cannot be run: {what}")]
    Worker {
        /// What is wrong, and what would help.
        what: String,
    },
}
