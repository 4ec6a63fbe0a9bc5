//! Claims about observations that are no rounds, such as the lines of a stream: journalled and
//! judged as they come, until the evidence or the observations end.

pub mod of_lines;

use crate::error::{LabError, usage};
use crate::recorder::Recorder;
use crate::referee::Referee;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiebreak_core::journal::{Event, Journal, StopReason};
use tiebreak_core::plan::Kind;
use tiebreak_core::verdict::Verdict;

/// How long a silent stream is waited for before the next check whether the user asked to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Where observations come from.
pub trait Observations {
    /// Waits for more, at most so long. `elapsed` is the run's own time now.
    fn read(&mut self, patience: Duration, elapsed: Duration) -> Read;

    /// Takes what has become evidence, as an event of the journal, at this time of the run. When no
    /// more is read, it is asked until there is nothing left.
    fn take(&mut self, elapsed: Duration) -> Option<Event>;

    /// Ends for this reason, and returns what the journal should have of that.
    fn end(&mut self, _reason: StopReason) -> Option<Event> {
        None
    }
}

/// The result of a wait for observations.
#[derive(Debug)]
pub enum Read {
    /// Some came, and there is nothing to take yet.
    More,
    /// There is something to take.
    Due,
    /// None came within the time.
    Silence,
    /// There are no more, for this reason.
    End(StopReason),
    /// What came is wrong, or nothing can come; nothing more is read.
    Failed(LabError),
}

/// Turns observations into one run's evidence.
pub struct Stream<'a> {
    recorder: Recorder<'a>,
    referee: Referee,
    elapsed_before: Duration,
    started: Instant,
    stop: &'a AtomicBool,
}

impl<'a> Stream<'a> {
    /// Resumes a run of claims about a stream at the end of its journal.
    ///
    /// # Errors
    /// Fails if a claim is not about a share or a mean of one contestant.
    pub fn new(
        recorder: Recorder<'a>,
        journal: &Journal,
        stop: &'a AtomicBool,
    ) -> Result<Stream<'a>, LabError> {
        let plan = &journal.header.plan;
        let are_of_one = plan
            .claims
            .iter()
            .all(|planned| planned.right.is_none() && planned.claim.statement.property().is_some());
        if !are_of_one || !matches!(plan.kind, Kind::Stream { .. }) {
            return usage("a stream is judged by claims about a share or a mean");
        }
        let referee = Referee::from_journal(journal);
        Ok(Stream {
            recorder,
            elapsed_before: Duration::from_nanos(referee.elapsed_ns),
            referee,
            started: Instant::now(),
            stop,
        })
    }

    /// Returns the evidence of earlier sessions.
    pub fn referee(&self) -> &Referee {
        &self.referee
    }

    /// Reads until all claims are settled, the observations end, or the user asks to stop. Calls
    /// `watch` with the referee after each write, and while nothing comes.
    ///
    /// # Errors
    /// Fails if an observation is wrong (what came before it is journalled), or the journal cannot
    /// be written.
    pub fn run(
        mut self,
        source: &mut dyn Observations,
        mut watch: impl FnMut(&Referee),
    ) -> Result<(Referee, StopReason), LabError> {
        let reason = loop {
            if let Some(reason) = self.reason_to_stop() {
                break reason;
            }
            match source.read(PATIENCE, self.elapsed()) {
                Read::More => {}
                Read::Due => {
                    self.take(source)?;
                    watch(&self.referee);
                }
                Read::Silence => watch(&self.referee),
                Read::End(reason) => break reason,
                Read::Failed(error) => {
                    self.take_all(source)?;
                    self.finish(StopReason::Interrupted)?;
                    return Err(error);
                }
            }
        };
        self.take_all(source)?;
        let is_over = self.is_settled() && reason != StopReason::Void;
        let reason = if is_over { StopReason::Settled } else { reason };
        if let Some(event) = source.end(reason) {
            self.write(&event)?;
        }
        self.finish(reason)?;
        Ok((self.referee, reason))
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        if self.is_settled() {
            return Some(StopReason::Settled);
        }
        self.stop.load(Ordering::SeqCst).then_some(StopReason::Interrupted)
    }

    fn is_settled(&self) -> bool {
        self.claims().all(|claim| self.referee.verdict(claim) != Verdict::Undecided)
    }

    fn claims(&self) -> std::ops::Range<usize> {
        0..self.referee.plan.claims.len()
    }

    /// Takes all that is left, unless the claims are settled.
    fn take_all(&mut self, source: &mut dyn Observations) -> Result<(), LabError> {
        while !self.is_settled() && self.take(source)? {}
        Ok(())
    }

    /// Adds an event to the evidence. It is in the journal before any observer sees it. Returns
    /// whether there was one.
    fn take(&mut self, source: &mut dyn Observations) -> Result<bool, LabError> {
        let event = source.take(self.elapsed());
        event.as_ref().map_or(Ok(()), |event| self.write(event))?;
        Ok(event.is_some())
    }

    fn write(&mut self, event: &Event) -> Result<(), LabError> {
        self.recorder.event(event)?;
        self.referee.take_event(event);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.elapsed_before + self.started.elapsed()
    }

    fn finish(&mut self, reason: StopReason) -> Result<(), LabError> {
        for claim in self.claims() {
            let verdict = self.referee.verdict(claim);
            if verdict != Verdict::Undecided || reason != StopReason::Interrupted {
                self.recorder.verdict(&self.referee.record(claim))?;
            }
        }
        let rounds = self.referee.rounds;
        self.recorder.event(&Event::Stopped { rounds, reason })?;
        Ok(self.recorder.store.sync()?)
    }
}
