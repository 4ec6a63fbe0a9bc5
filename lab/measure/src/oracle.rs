//! A study's oracle, in its own process: its failure is an error and does not end this process.

use crate::files::{memory_file, sealed};
use crate::wire::message::{Question, Request, Sizes};
use crate::worker_process::{Launch, NoReply, Process, WorkerProgram, absolute, how};
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::BorrowedFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use tiebreak_core::sampler::UnitFailure;
use tiebreak_core::study::{Verification, Workload};

/// How long one answer of an oracle may take.
const TIMEOUT_NS: u64 = 1_800_000_000_000;

/// Why there is no input or no answer. A contestant is never the cause.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// This library is not an oracle. Says why, and what to do.
    #[error("'{0}' is not an oracle: {1}")]
    Refused(PathBuf, String),
    /// It failed on this, or crashed. Says why, with what it wrote to standard error.
    #[error("the study's oracle failed on {0}: {1}; 'tiebreak study show' names its source")]
    Failed(String, String),
    /// The user asked to stop.
    #[error("interrupted while the oracle was at work")]
    Interrupted,
    /// This input file cannot be read, with the error of the system.
    #[error("the input '{0}' cannot be read: {1}")]
    File(PathBuf, io::Error),
    /// No process or no memory is available.
    #[error("no worker could run the study's oracle: {0}: free memory, or raise the limits")]
    Worker(#[from] io::Error),
}

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
    launch: Launch,
    folder: PathBuf,
    /// `None` before the first question and after a failure: the next one starts a process.
    process: Option<Process>,
    /// Whether it works ahead: its process stands still while something is timed.
    is_ahead: bool,
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
    /// What the oracle was asked for; empty for a file of a study without an oracle.
    question: Question,
    /// The checksums that the oracle has given for it, by contract.
    checksums: HashMap<String, u64>,
    /// The same of whole answers.
    answers: HashMap<String, Answer>,
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
            launch: Launch { program: program.clone(), interrupted },
            folder: folder.to_owned(),
            process: None,
            is_ahead: false,
        };
        oracle.process = Some(oracle.started()?);
        Ok(oracle)
    }

    /// Returns another one of the same study, which works ahead: it starts a question when nothing
    /// is timed, and its process stands still while something is.
    pub(crate) fn ahead(&self) -> Oracle {
        let Oracle { object, launch, folder, .. } = self;
        let (object, launch, folder) = (object.clone(), launch.clone(), folder.clone());
        Oracle { object, launch, folder, process: None, is_ahead: true }
    }

    /// Starts its process, if none runs.
    ///
    /// # Errors
    /// As [`Oracle::start`].
    pub(crate) fn start_process(&mut self) -> Result<(), OracleError> {
        if self.process.is_none() {
            self.process = Some(self.started()?);
        }
        Ok(())
    }

    /// Returns the descriptor of its process, if one runs.
    pub(crate) fn process(&self) -> Option<BorrowedFd<'_>> {
        self.process.as_ref().map(Process::descriptor)
    }

    /// Makes the input of a workload from a seed. For a workload with a file, opens and measures
    /// the file, whatever the seed.
    ///
    /// # Errors
    /// Fails if the oracle fails, or if the file cannot be read.
    pub fn input(&mut self, workload: &Workload, seed: u64) -> Result<Input, OracleError> {
        let question = Question {
            workload: text(&workload.name)?,
            distribution: text(&workload.distribution)?,
            size: workload.size,
            seed,
            parts: 1,
            ..Question::default()
        };
        let Some(file) = &workload.file else { return self.make(question) };
        let path = self.folder.join(file);
        let file = File::open(&path).map_err(|reason| OracleError::File(path, reason))?;
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
            workload: text(&verification.name)?,
            distribution: text(&verification.distribution)?,
            size: verification.size,
            part,
            parts: verification.parts,
            ..Question::default()
        })
    }

    /// Returns the answer of a contestant of this contract for an input that this oracle has made
    /// or measured.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn answer(&mut self, input: &Input, contract: &str) -> Result<Answer, OracleError> {
        let text = memory_file()?;
        let checksum = self.checked(input, contract, Some(&text))?;
        Ok(Answer { text, checksum })
    }

    /// Returns the same answer, for which the oracle is asked once.
    ///
    /// # Errors
    /// Fails if the oracle fails.
    pub fn known_answer<'a>(
        &mut self,
        input: &'a mut Input,
        contract: &str,
    ) -> Result<&'a Answer, OracleError> {
        if !input.answers.contains_key(contract) {
            let answer = self.answer(input, contract)?;
            input.checksums.insert(contract.to_owned(), answer.checksum);
            input.answers.insert(contract.to_owned(), answer);
        }
        Ok(&input.answers[contract])
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
        let made = self.measure(question, memory_file()?, true)?;
        Ok(Input { file: sealed(&made.file)?, ..made })
    }

    fn measure(
        &mut self,
        question: Question,
        file: File,
        is_made: bool,
    ) -> Result<Input, OracleError> {
        let [workload, distribution] =
            [&question.workload, &question.distribution].map(|text| text.to_string_lossy());
        let size = question.size;
        let asked = format!("the input of {workload} (distribution '{distribution}', size {size})");
        let request = Request::Input { question: question.clone(), is_made };
        let Sizes { bytes, items, output_bytes } = self.ask(asked, &request, &[&file])?;
        let (checksums, answers) = Default::default();
        Ok(Input { file, bytes, items, output_bytes, question, checksums, answers })
    }

    /// Returns the checksum, and writes the answer to `to`.
    fn checked(
        &mut self,
        input: &Input,
        contract: &str,
        to: Option<&File>,
    ) -> Result<u64, OracleError> {
        let question = Question { contract: text(contract)?, ..input.question.clone() };
        let workload = question.workload.to_string_lossy();
        let asked = format!("the answer of {contract} for {workload}");
        let files: Vec<&File> = [&input.file].into_iter().chain(to).collect();
        let request = Request::Answer { question, input_bytes: input.bytes };
        self.ask(asked, &request, &files)
    }

    fn ask<T: DeserializeOwned>(
        &mut self,
        asked: String,
        request: &Request,
        files: &[&File],
    ) -> Result<T, OracleError> {
        let mut process = match self.process.take() {
            Some(process) => process,
            None => self.started()?,
        };
        if self.is_ahead {
            process.work_ahead()?;
        }
        match process.ask(request, files, TIMEOUT_NS) {
            Ok(reply) => {
                process.work_now();
                self.process = Some(process);
                Ok(reply)
            }
            Err(NoReply::Interrupted) => Err(OracleError::Interrupted),
            Err(NoReply::Lost(error)) => Err(error.into()),
            Err(other) => {
                let why = how(&other) + &process.error_clause();
                Err(OracleError::Failed(asked, why))
            }
        }
    }

    fn started(&self) -> Result<Process, OracleError> {
        let mut process = if self.is_ahead {
            Process::start_ahead(&self.launch, 0, 0)?
        } else {
            Process::start(&self.launch, 0, 0)?
        };
        let request = Request::Oracle(self.object.clone().into());
        let why = match process.ask::<()>(&request, &[], TIMEOUT_NS) {
            Ok(()) => return Ok(process),
            Err(NoReply::Interrupted) => return Err(OracleError::Interrupted),
            Err(NoReply::Lost(error)) => return Err(error.into()),
            Err(NoReply::Trouble(trouble)) => trouble.to_string(),
            Err(other) => format!("it ended the process ({})", how(&other)),
        };
        Err(OracleError::Refused(self.object.clone(), why))
    }
}

impl Input {
    /// Returns the whole answer that a contestant of this contract should give, if the oracle has
    /// been asked for it.
    pub(crate) fn known_answer(&self, contract: &str) -> Option<&Answer> {
        self.answers.get(contract)
    }

    pub(crate) fn sizes(&self) -> Sizes {
        Sizes { bytes: self.bytes, items: self.items, output_bytes: self.output_bytes }
    }

    /// Returns the input of a study without an oracle: a file. It counts as one item.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn of_file(path: &Path) -> Result<Input, OracleError> {
        let opened = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        let (bytes, file) = opened.map_err(|reason| OracleError::File(path.to_owned(), reason))?;
        let (question, checksums, answers) = Default::default();
        Ok(Input { file, bytes, items: 1, output_bytes: 0, question, checksums, answers })
    }
}

/// Returns a text in the form of the C side.
///
/// # Errors
/// Fails if it holds a zero byte.
fn text(text: &str) -> Result<CString, OracleError> {
    CString::new(text).map_err(|error| OracleError::Failed(format!("{text:?}"), error.to_string()))
}
