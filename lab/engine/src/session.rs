//! A run from its first line in the journal, or from the end of its journal, to its result.

use crate::engine::Engine;
use crate::error::{LabError, Result};
use crate::recorder::{NOTHING, Recorder};
use crate::referee::Referee;
use crate::resume::{self, NewBudget};
use crate::stream::of_lines::OfLines;
use crate::stream::{Observations, Stream};
use crate::{outcome, replay, revisions};
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::{SystemTime, UNIX_EPOCH};
use tiebreak_core::fingerprint::Fingerprint;
use tiebreak_core::journal::{Event, FileDigest, Journal, RunHeader, StopReason};
use tiebreak_core::plan::{Centre, Kind, Plan};
use tiebreak_core::result::RunResult;
use tiebreak_core::sampler::Sampler;
use tiebreak_core::study::Placements;
use tiebreak_core::warning::Warning;
use tiebreak_machine::fingerprint;
use tiebreak_measure::digest_file;
use tiebreak_store::{RunId, RunLock, Store};

/// A run that only this process may continue.
pub struct Session {
    store: Store,
    run: RunId,
    journal: Journal,
    _lock: RunLock,
}

/// The outcome of an earlier run of a plan.
#[derive(Debug)]
pub enum Earlier {
    /// There is none, or none that can be continued.
    None,
    /// Its claims were raced on these files, but in another way.
    Otherwise,
    /// It can be continued; the plan has its coins and its budget.
    Open(RunId, Box<Plan>),
    /// Its claims are settled.
    Settled(Box<RunResult>),
}

/// The store of runs, and what it records about their origin.
#[derive(Clone, Debug)]
pub struct Book {
    /// The store.
    pub store: PathBuf,
    /// The command line, word by word.
    pub command: Vec<String>,
    /// The machine.
    pub machine: Fingerprint,
}

impl Book {
    /// Returns the book of runs on this machine, for this command line.
    pub fn here(store: PathBuf, command: Vec<String>) -> Book {
        Book { store, command, machine: fingerprint::read() }
    }
}

impl Session {
    /// Journals the plan of a new run; `files` are those that its contestants are made of.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or if the journal cannot be written.
    pub fn begin(book: &Book, plan: Plan, files: &[PathBuf]) -> Result<Session> {
        let mut store = Store::open(&book.store)?;
        let files = digests(files)?;
        let print = store.latest_print(&book.machine)?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let directory = std::env::current_dir().unwrap_or_default();
        let header = RunHeader {
            created_unix_ms: now.as_millis() as u64,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            command: book.command.clone(),
            directory: directory.display().to_string(),
            claim_key: claim_key(&plan, &files),
            plan,
            machine: book.machine.clone(),
            machine_print: print.map(|print| print.to_string()),
            files,
        };
        let before = store.previous_runs(&header.claim_key, None)?;
        let run = store.create_run(&header)?;
        let lock = store.claim_run_lock(&run)?;
        if before > 0 {
            let warning = Warning::Repeated {
                run: before + 1,
                error: header.plan.error,
                is_stream: matches!(header.plan.kind, Kind::Stream { .. }),
            };
            store.event(&run, &Event::Warned { warning })?;
        }
        let journal = store.journal(&run)?;
        Ok(Session { store, run, journal, _lock: lock })
    }

    /// Finds the latest run of this plan, apart from coins and budget, on these files, and returns
    /// its outcome.
    ///
    /// # Errors
    /// Fails if a file or the store cannot be read.
    pub fn earlier(book: &Book, plan: &Plan, files: &[PathBuf]) -> Result<Earlier> {
        let store = Store::open(&book.store)?;
        let Some(run) = store.latest_of(&claim_key(plan, &digests(files)?))? else {
            return Ok(Earlier::None);
        };
        let journal = store.journal(&run)?;
        let made = &journal.header.plan;
        if resume::is_relaxed(&journal) || revisions::gone(made).is_some() {
            return Ok(Earlier::None);
        }
        let same = Plan {
            seed: made.seed.clone(),
            budget: made.budget,
            clock_step_ns: made.clock_step_ns,
            ..plan.clone()
        };
        if *made != same {
            return Ok(Earlier::Otherwise);
        }
        Ok(match replay::last_stop(&journal) {
            Some(StopReason::Settled) => Earlier::Settled(Box::new(replay::result(&journal))),
            Some(StopReason::Void) => Earlier::None,
            _ => Earlier::Open(run, Box::new(journal.header.plan)),
        })
    }

    /// Resumes a run that was killed, interrupted or out of budget, and journals another budget. A
    /// run that was killed continues as if nothing had happened: its journal is what it would have
    /// been without the kill.
    ///
    /// # Errors
    /// Fails if its claims are settled; for another engine, machine or file; if no budget is left;
    /// or if another process runs it.
    pub fn take_up(book: &Book, run: RunId, budget: NewBudget) -> Result<Session> {
        let mut store = Store::open(&book.store)?;
        let lock = store.claim_run_lock(&run)?;
        let mut journal = store.journal(&run)?;
        let budget = resume::budget_of_one(&journal, &book.machine, budget)?;
        if budget != resume::budget_of(&journal) || replay::last_stop(&journal).is_some() {
            let rounds = Referee::from_journal(&journal).rounds;
            let event = Event::Resumed { rounds, lost: journal.lost.len() as u64, budget };
            store.event(&run, &event)?;
            journal.events.push(event);
        }
        Ok(Session { store, run, journal, _lock: lock })
    }

    /// Returns the run's name in the store.
    pub fn id(&self) -> &str {
        &self.journal.id
    }

    /// Journals what is known of a new run before its first round.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub fn event(&mut self, event: Event) -> Result<()> {
        self.store.event(&self.run, &event)?;
        self.journal.events.push(event);
        Ok(())
    }

    /// Returns the run's result before its next round.
    pub fn result_so_far(&self) -> RunResult {
        replay::result(&self.journal)
    }

    /// Runs to the end. Calls `watch` after every round with a function that returns the result so
    /// far.
    ///
    /// # Errors
    /// Fails if the journal cannot be written, or if the machine fails.
    pub fn go(
        mut self,
        sampler: &mut dyn Sampler,
        stop: &AtomicBool,
        mut watch: impl FnMut(&dyn Fn() -> RunResult),
    ) -> Result<RunResult> {
        let (recorder, journal) = self.split();
        let engine = Engine::new(recorder, journal, sampler, stop);
        let (referee, reason) =
            engine.run(|referee| watch(&|| outcome::result(referee, journal, None, false)))?;
        self.conclude(referee, reason)
    }

    /// Reads a stream to its end, or until the claim is settled, and calls `watch` from time to
    /// time as [`Session::go`] does.
    ///
    /// # Errors
    /// Fails if a line is invalid, the stream cannot be read, or the journal cannot be written.
    pub fn read(
        self,
        input: impl Read + Send + 'static,
        stop: &AtomicBool,
        watch: impl FnMut(&dyn Fn() -> RunResult),
    ) -> Result<RunResult> {
        self.observe(|referee| OfLines::new(input, referee), stop, watch)
    }

    /// Takes observations to their end, or until the claims are settled, and calls `watch` as
    /// [`Session::go`] does. `begin` returns where they come from, and gets the evidence so far.
    ///
    /// # Errors
    /// Fails if they cannot begin, one of them is wrong, or the journal cannot be written.
    pub(crate) fn observe<S: Observations>(
        mut self,
        begin: impl FnOnce(&Referee) -> Result<S>,
        stop: &AtomicBool,
        mut watch: impl FnMut(&dyn Fn() -> RunResult),
    ) -> Result<RunResult> {
        let (recorder, journal) = self.split();
        let stream = Stream::new(recorder, journal, stop)?;
        let mut source = begin(stream.referee())?;
        let (referee, reason) = stream.run(&mut source, |referee| {
            watch(&|| outcome::result(referee, journal, None, false));
        })?;
        self.conclude(referee, reason)
    }

    /// Returns the plan.
    pub(crate) fn plan(&self) -> &Plan {
        &self.journal.header.plan
    }

    /// Returns what writes the journal, and the journal as it was at the start or the resumption.
    pub(crate) fn split(&mut self) -> (Recorder<'_>, &Journal) {
        let recorder =
            Recorder { store: &mut self.store, run: self.run.clone(), before_commit: NOTHING };
        (recorder, &self.journal)
    }

    /// Returns the result of a run that has ended, with warnings about files that have changed
    /// since its start.
    ///
    /// # Errors
    /// Fails if the journal cannot be written.
    pub(crate) fn conclude(
        &mut self,
        mut referee: Referee,
        reason: StopReason,
    ) -> Result<RunResult> {
        for file in self.journal.header.files.iter().filter(|file| resume::has_changed(file)) {
            let event = Event::Warned { warning: Warning::FileChanged { path: file.path.clone() } };
            self.store.event(&self.run, &event)?;
            referee.take_event(&event);
        }
        let result = outcome::result(&referee, &self.journal, Some(reason), true);
        Ok(RunResult { chain_head: self.store.chain_head(&self.run)?, ..result })
    }
}

/// Returns the digests of the files that a run depends on.
fn digests(paths: &[PathBuf]) -> Result<Vec<FileDigest>> {
    let digests = paths.iter().map(|path| {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.clone());
        digest_file(&absolute).map_err(|error| LabError::unreadable(path, error))
    });
    digests.collect()
}

/// Returns a name for "these claims about these commands and files": runs that share it repeat each
/// other.
fn claim_key(plan: &Plan, files: &[FileDigest]) -> String {
    let mut words: Vec<&str> = Vec::new();
    for planned in &plan.claims {
        words.extend([&planned.claim.text, planned.claim.metric.key()]);
    }
    for contestant in &plan.contestants {
        words.extend([&*contestant.name, &contestant.command, &contestant.workload]);
    }
    // Claims about means are separate claims, whatever the cap: trying one cap after another asks
    // the same again.
    if plan.centre == Centre::Mean {
        words.push("mean");
    }
    // For functions, the same words are another claim if something else is drawn.
    let placements = plan.functions.as_ref().map(|functions| functions.placements);
    let reused = placements.filter(|one| *one != Placements::Fresh).map(|one| format!("{one:?}"));
    words.extend(placements.map(|_| plan.scope.name()));
    words.extend(reused.as_deref());
    // Worktrees lie elsewhere in each run, and the commit also identifies their content.
    let placed = plan.contestants.iter().filter(|each| each.directory.is_some());
    words.extend(placed.flat_map(|each| &each.parameters).map(|(_, value)| value.as_str()));
    words.extend(plan.servers.iter().map(|servers| servers.load.as_str()));
    for file in files {
        let mut folders = plan.contestants.iter().filter_map(|each| each.directory.as_deref());
        let within = folders.find_map(|folder| file.path.strip_prefix(folder));
        words.extend([within.unwrap_or(&file.path), &file.digest]);
    }
    let mut hash = Sha256::new();
    for word in words {
        hash.update((word.len() as u64).to_le_bytes());
        hash.update(word);
    }
    hash.finalize().iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
