//! Why a plan's programs cannot be started.

use crate::words::WordsError;
use std::io;
use std::path::PathBuf;

/// Found before anything runs: what the user typed cannot be started. The text says what to do.
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
    /// There is no such program.
    #[error("'{word}' is not a program: {place} (shell commands such as cd need --shell)")]
    NotFound {
        /// The first word of the command.
        word: String,
        /// Where it was looked for.
        place: String,
    },
    /// There is such a file but it may not be run.
    #[error("'{path}' is not executable: 'chmod +x {path}' makes it so")]
    NotExecutable {
        /// The file.
        path: PathBuf,
    },
    /// A folder is not a program.
    #[error("'{path}' is a directory, not a program")]
    IsDirectory {
        /// The folder.
        path: PathBuf,
    },
    /// The program that is to run the file is missing.
    #[error("'{path}' needs the interpreter '{interpreter}', which is not there or not executable")]
    BadInterpreter {
        /// The file.
        path: PathBuf,
        /// What its first line, or its ELF header, names.
        interpreter: String,
    },
    /// The kernel does not know how to run such a file.
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
        /// What the system said.
        reason: io::Error,
    },
    /// The folder to run in is not there.
    #[error("the directory '{path}' cannot be entered: {reason}")]
    Directory {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        reason: io::Error,
    },
    /// A CPU was asked for that this process may not use.
    #[error("CPU {cpu} is not one of those that may be used here: {allowed}")]
    CpuNotAllowed {
        /// The CPU.
        cpu: usize,
        /// The ones that may be used, as a list.
        allowed: String,
    },
    /// A judge needs an output.
    #[error("a program of --check judges outputs, so the output must be captured, not thrown away")]
    JudgeWithoutOutput,
    /// A command holds a zero byte, which no program can be given.
    #[error("'{command}' holds a zero byte")]
    ZeroByte {
        /// The command with the zero byte shown as a question mark.
        command: String,
    },
    /// The process that starts contestants could not be started.
    #[error("{doing}: {reason}: raise the limits on processes and open files, or free memory")]
    Launcher {
        /// What failed.
        doing: &'static str,
        /// What the system said.
        reason: io::Error,
    },
    /// A contestant that lives in another runtime, or its oracle, cannot be started.
    #[error("runners cannot be started: {what}")]
    Runner {
        /// What is wrong, with what would help.
        what: String,
    },
    /// Contestants that are functions, or their oracle, cannot be started.
    #[error("functions cannot be run: {what}")]
    Worker {
        /// What is wrong, with what would help.
        what: String,
    },
}
