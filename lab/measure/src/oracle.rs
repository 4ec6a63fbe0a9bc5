//! A study's oracle, in its own process: its failure is an error and does not end this process.

use crate::files::{memory_file, sealed};
use crate::wire::message::{Question, Reply, Request, Sizes};
use crate::worker_process::{NoReply, Patience, Process, WorkerProgram, absolute, how};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Verification, Workload};

/// How long one answer of an oracle may take.
const TIMEOUT_NS: u64 = 1_800_000_000_000;

impl From<OracleError> for UnitFailure {
    fn from(error: OracleError) -> UnitFailure {
        match error {
            OracleError::Interrupted => UnitFailure::Interrupted,
            error => UnitFailure::Broken(error.to_string()),
        }
    }
}

/// A running oracle. Its process ends when this is dropped, and when the thread that started it
/// ends.
#[derive(Debug)]
pub struct Oracle {
    object: PathBuf,
    program: WorkerProgram,
    folder: PathBuf,
    /// `None` after a failure: the next question starts a new process.
    process: Option<Process>,
    interrupted: &'static AtomicBool,
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
    /// What the oracle was asked for; `None` for a file of a study without an oracle.
    question: Option<Question>,
    /// The checksums that the oracle has given for it, by contract.
    checksums: HashMap<String, u64>,
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
    /// Starts a process that loads this library. The files of workloads are found in `folder`.
    ///
    /// While `interrupted` is true, a question ends with [`OracleError::Interrupted`] within a
    /// tenth of a second.
    ///
    /// # Errors
    /// Fails if the library is not an oracle, or if no process can be created.
    pub fn start(
        library: &Path,
        folder: &Path,
        program: &WorkerProgram,
        interrupted: &'static AtomicBool,
    ) -> Result<Oracle, OracleError> {
        let mut oracle = Oracle {
            object: absolute(library),
            program: program.clone(),
            folder: folder.to_owned(),
            process: None,
            interrupted,
        };
        oracle.process()?;
        Ok(oracle)
    }

    /// Makes the input of a workload from a seed. For a workload with a file, opens and measures
    /// the file, whatever the seed.
    ///
    /// # Errors
    /// Fails if the oracle fails, or if the file cannot be read.
    pub fn input(&mut self, workload: &Workload, seed: u64) -> Result<Input, OracleError> {
        let question = Question {
            workload: workload.name.clone(),
            distribution: workload.distribution.clone(),
            contract: String::new(),
            size: workload.size,
            seed,
            part: 0,
            parts: 1,
        };
        let Some(file) = &workload.file else { return self.make(question) };
        let path = self.folder.join(file);
        let file = File::open(&path).map_err(|reason| OracleError::File { path, reason })?;
        self.measure(question, file, false)
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
        self.make(Question {
            workload: verification.name.clone(),
            distribution: verification.distribution.clone(),
            contract: String::new(),
            size: verification.size,
            seed: 0,
            part,
            parts: verification.parts,
        })
    }

    /// Returns the answer of a contestant of this contract for an input that this oracle has made
    /// or measured.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn answer(&mut self, input: &Input, contract: &str) -> Result<Answer, OracleError> {
        let text = memory_file().map_err(OracleError::Worker)?;
        let checksum = self.checked(input, contract, Some(&text))?;
        Ok(Answer { text, checksum })
    }

    /// Returns only the checksum of that answer, without its text. The oracle is asked once.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn checksum(&mut self, input: &mut Input, contract: &str) -> Result<u64, OracleError> {
        if let Some(checksum) = input.checksums.get(contract) {
            return Ok(*checksum);
        }
        let checksum = self.checked(input, contract, None)?;
        input.checksums.insert(contract.to_owned(), checksum);
        Ok(checksum)
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
        let request = Request::Input { question: question.clone(), is_made };
        match self.ask(&asked, &request, &[&file])? {
            Reply::Sized(Sizes { bytes, items, output_bytes }) => {
                let (question, checksums) = (Some(question), HashMap::new());
                Ok(Input { file, bytes, items, output_bytes, question, checksums })
            }
            other => Err(unexpected(asked, other)),
        }
    }

    /// Returns the checksum, and writes the answer to `text`.
    fn checked(
        &mut self,
        input: &Input,
        contract: &str,
        text: Option<&File>,
    ) -> Result<u64, OracleError> {
        let question = input.question.clone().unwrap_or_default();
        let asked = format!("the answer of {contract} for {}", question.workload);
        let question = Question { contract: contract.to_owned(), ..question };
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
        let patience = self.patience();
        let descriptors: Vec<_> = files.iter().map(|file| file.as_fd()).collect();
        let process = self.process()?;
        let reply = process.ask(request, &descriptors, &patience);
        let said = process.error_clause();
        let why = match reply {
            Ok(Reply::Failed(why)) => why,
            Ok(reply) => return Ok(reply),
            Err(no_reply) => {
                self.process = None;
                no_reply_error(no_reply)?
            }
        };
        Err(OracleError::Failed { asked: asked.to_owned(), why, said })
    }

    fn patience(&self) -> Patience<'static> {
        Patience { interrupted: self.interrupted, timeout_ns: TIMEOUT_NS, area: None }
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
        let patience = self.patience();
        let refused = |why| OracleError::Refused { library: self.object.clone(), why };
        match process.ask(&Request::Oracle(self.object.clone()), &[], &patience) {
            Ok(Reply::Done) => Ok(process),
            Ok(Reply::Refused(_, refusal)) => Err(refused(refusal.sentence())),
            Ok(other) => Err(unexpected("its library".to_owned(), other)),
            Err(other) => {
                let how = no_reply_error(other)?;
                Err(refused(format!("it ended the process ({how})")))
            }
        }
    }
}

impl Input {
    pub(crate) fn sizes(&self) -> Sizes {
        Sizes { bytes: self.bytes, items: self.items, output_bytes: self.output_bytes }
    }

    /// Returns the input of a study without an oracle: a file. It counts as one item.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of_file(path: &Path) -> Result<Input, OracleError> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, file) =
            opened.map_err(|reason| OracleError::File { path: path.to_owned(), reason })?;
        let (question, checksums) = (None, HashMap::new());
        Ok(Input { file, bytes, items: 1, output_bytes: 0, question, checksums })
    }
}

/// Returns how the process ended, if it or the oracle is the cause.
fn no_reply_error(no_reply: NoReply) -> Result<String, OracleError> {
    match no_reply {
        NoReply::Interrupted => Err(OracleError::Interrupted),
        NoReply::Lost(error) => Err(OracleError::Worker(error)),
        other => Ok(how(&other)),
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
