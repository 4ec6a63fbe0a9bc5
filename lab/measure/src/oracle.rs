//! A study's oracle, in its own process: its failure is an error and does not end this process.
//!
//! Errors of an oracle.

use crate::files::{memory_file, sealed};
use crate::worker::message::{Question, Reply, Request, Sizes};
use crate::workers::process::{NoReply, Patience, Process, WorkerProgram, absolute, how};
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::study::{Verification, Workload};

/// How long one answer of an oracle may take.
const TIMEOUT_NS: u64 = 1_800_000_000_000;

/// A running oracle. Its process ends when this is dropped, and when the thread that started it
/// ends.
#[derive(Debug)]
pub struct Oracle {
    object: PathBuf,
    program: WorkerProgram,
    folder: PathBuf,
    /// `None` after a failure: the next question starts a new process.
    process: Option<Process>,
    interrupted: Option<&'static AtomicBool>,
}

/// An input that all contestants share.
#[derive(Debug)]
pub struct Input {
    /// The file that holds it, and nothing else: usually one in memory. It is open for reading
    /// only, so that no contestant can change what another reads.
    pub file: File,
    /// Its length.
    pub bytes: u64,
    /// The number of items that the study counts in it.
    pub items: u64,
    /// The size of the output buffer that a contestant needs for it; 0 if contestants of this study
    /// need none.
    pub output_bytes: u64,
}

/// The result of a correct contestant for an input.
#[derive(Debug)]
pub struct Answer {
    /// The answer as text, one line an item, in a file in memory.
    pub text: File,
    /// The checksum of each run.
    pub checksum: u64,
}

impl Oracle {
    /// Starts a process that loads this library.
    ///
    /// # Errors
    /// Fails if the library is not an oracle, or if no process can be created.
    pub fn start(library: &Path, program: &WorkerProgram) -> Result<Oracle, OracleError> {
        let mut oracle = Oracle {
            object: absolute(library),
            program: program.clone(),
            folder: PathBuf::new(),
            process: None,
            interrupted: None,
        };
        oracle.process()?;
        Ok(oracle)
    }

    /// Sets the folder of the study, in which the files of workloads are found.
    #[must_use]
    pub fn in_folder(mut self, folder: &Path) -> Oracle {
        self.folder = folder.to_owned();
        self
    }

    /// Sets a flag that interrupts questions. While it is true, a question ends with
    /// [`OracleError::Interrupted`] within a tenth of a second.
    #[must_use]
    pub fn interruptible(mut self, interrupted: &'static AtomicBool) -> Oracle {
        self.interrupted = Some(interrupted);
        self
    }

    /// Makes the input of a workload from a seed. For a workload with a file, opens and measures
    /// the file, whatever the seed.
    ///
    /// # Errors
    /// Fails if the oracle fails, or if the file cannot be read.
    pub fn input(&mut self, workload: &Workload, seed: u64) -> Result<Input, OracleError> {
        let question = of_workload(workload, seed, "");
        match &workload.file {
            None => self.make(question),
            Some(file) => {
                let path = self.folder.join(file);
                let file = File::open(&path);
                let file = file.map_err(|reason| OracleError::File { path, reason })?;
                self.measure(question, file, false)
            }
        }
    }

    /// Makes one part of an input of `study verify`.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn verification(
        &mut self,
        verification: &Verification,
        part: u64,
    ) -> Result<Input, OracleError> {
        self.make(of_verification(verification, part, ""))
    }

    /// Returns the answer of a contestant of this contract for an input of [`Oracle::input`].
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn answer(
        &mut self,
        workload: &Workload,
        seed: u64,
        input: &Input,
        contract: &str,
    ) -> Result<Answer, OracleError> {
        self.answered(of_workload(workload, seed, contract), input)
    }

    /// Returns only the checksum of that answer, without its text.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn checksum(
        &mut self,
        workload: &Workload,
        seed: u64,
        input: &Input,
        contract: &str,
    ) -> Result<u64, OracleError> {
        self.checksummed(of_workload(workload, seed, contract), input, None)
    }

    /// Returns the answer of a contestant of this contract for an input of
    /// [`Oracle::verification`].
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn verified(
        &mut self,
        verification: &Verification,
        part: u64,
        input: &Input,
        contract: &str,
    ) -> Result<Answer, OracleError> {
        self.answered(of_verification(verification, part, contract), input)
    }

    fn make(&mut self, question: Question) -> Result<Input, OracleError> {
        let file = memory_file().map_err(OracleError::Worker)?;
        let made = self.measure(question, file, true)?;
        Ok(Input { file: sealed(&made.file).map_err(OracleError::Worker)?, ..made })
    }

    fn measure(
        &mut self,
        question: Question,
        file: File,
        is_made: bool,
    ) -> Result<Input, OracleError> {
        let asked = format!("the input of {}", question.workload);
        let request = Request::Input { question, is_made };
        match self.ask(&asked, &request, &[&file])? {
            Reply::Sized(Sizes { bytes, items, output_bytes }) => {
                Ok(Input { file, bytes, items, output_bytes })
            }
            other => Err(unexpected(asked, other)),
        }
    }

    fn answered(&mut self, question: Question, input: &Input) -> Result<Answer, OracleError> {
        let text = memory_file().map_err(OracleError::Worker)?;
        let checksum = self.checksummed(question, input, Some(&text))?;
        Ok(Answer { text, checksum })
    }

    fn checksummed(
        &mut self,
        question: Question,
        input: &Input,
        text: Option<&File>,
    ) -> Result<u64, OracleError> {
        let asked = format!("the answer of {} for {}", question.contract, question.workload);
        let request = Request::Answer { question, input_bytes: input.bytes };
        let files: Vec<&File> = [Some(&input.file), text].into_iter().flatten().collect();
        match self.ask(&asked, &request, &files)? {
            Reply::Checksum(checksum) => Ok(checksum),
            other => Err(unexpected(asked, other)),
        }
    }

    fn ask(
        &mut self,
        asked: &str,
        request: &Request,
        files: &[&File],
    ) -> Result<Reply, OracleError> {
        let interrupted = self.interrupted;
        let patience = Patience { interrupted, timeout_ns: TIMEOUT_NS, area: None };
        let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let process = self.process()?;
        let failed = |why: String, said: String| {
            let said = if said.is_empty() { said } else { format!("; it said: {said}") };
            OracleError::Failed { asked: asked.to_owned(), why, said }
        };
        let reply = process.ask(request, &descriptors, &patience);
        let said = process.said();
        match reply {
            Ok(Reply::Failed(why)) => Err(failed(why, said)),
            Ok(reply) => Ok(reply),
            Err(no_reply) => {
                self.process = None;
                Err(match no_reply {
                    NoReply::Interrupted => OracleError::Interrupted,
                    NoReply::Lost(error) => OracleError::Worker(error),
                    other => failed(how(&other), said),
                })
            }
        }
    }

    /// Returns the process, which is started if there is none.
    fn process(&mut self) -> Result<&mut Process, OracleError> {
        let process = match self.process.take() {
            Some(process) => process,
            None => self.started()?,
        };
        Ok(self.process.insert(process))
    }

    fn started(&self) -> Result<Process, OracleError> {
        let mut process = Process::start(&self.program, 0).map_err(OracleError::Worker)?;
        let interrupted = self.interrupted;
        let patience = Patience { interrupted, timeout_ns: TIMEOUT_NS, area: None };
        let refused = |why| OracleError::Refused { library: self.object.clone(), why };
        match process.ask(&Request::Oracle(self.object.clone()), &[], &patience) {
            Ok(Reply::Done) => Ok(process),
            Ok(Reply::Refused(_, refusal)) => Err(refused(refusal.sentence())),
            Ok(other) => Err(unexpected("its library".to_owned(), other)),
            Err(NoReply::Interrupted) => Err(OracleError::Interrupted),
            Err(NoReply::Lost(error)) => Err(OracleError::Worker(error)),
            Err(other) => Err(refused(format!("it ended the process ({})", how(&other)))),
        }
    }
}

impl Input {
    /// Returns the input of a study without an oracle: a file. It counts as one item.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of_file(path: &Path) -> Result<Input, OracleError> {
        let open = || -> io::Result<Input> {
            let file = File::open(path)?;
            let bytes = file.metadata()?.len();
            Ok(Input { file, bytes, items: 1, output_bytes: 0 })
        };
        open().map_err(|reason| OracleError::File { path: path.to_owned(), reason })
    }
}

fn of_workload(workload: &Workload, seed: u64, contract: &str) -> Question {
    Question {
        workload: workload.name.clone(),
        distribution: workload.distribution.clone(),
        contract: contract.to_owned(),
        size: workload.size,
        seed,
        part: 0,
        parts: 1,
    }
}

fn of_verification(verification: &Verification, part: u64, contract: &str) -> Question {
    Question {
        workload: verification.name.clone(),
        distribution: verification.distribution.clone(),
        contract: contract.to_owned(),
        size: verification.size,
        seed: 0,
        part,
        parts: verification.parts,
    }
}

fn unexpected(asked: String, reply: Reply) -> OracleError {
    OracleError::Failed { asked, why: format!("it answered {reply:?}"), said: String::new() }
}

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
