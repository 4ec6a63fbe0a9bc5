//! Claims about the lines of a stream: read, counted, journalled, judged, until the evidence or the
//! stream ends.
//!
//! An observation is a line, or a block of consecutive lines: requests fail in bursts, and evidence
//! line by line would count each failure of a burst as new (rule A12).

use crate::claim_test::ClaimTest;
use crate::error::{LabError, data, usage};
use crate::lines::{Lines, Next, quoted};
use crate::recorder::Recorder;
use crate::referee::Referee;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tiebreak_core::claim::Property;
use tiebreak_core::journal::{Event, Journal, StopReason};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Kind, PlannedClaim};
use tiebreak_core::quantity::parse_duration_ns;
use tiebreak_core::transitions::{ByAge, Walk};
use tiebreak_core::verdict::Verdict;
use tiebreak_core::warning::Warning;

/// Counts are journalled, and shown, at least this often.
const BETWEEN_WRITES: Duration = Duration::from_millis(100);
/// The most numbers that are journalled at once.
const NUMBERS_MAX: usize = 4096;
/// The words on the line of a result that never came: a value above every bar.
const ENDLESS: [&str; 4] = ["timeout", "inf", "+inf", "infinity"];
/// How long a silent stream is waited for before the next check whether the user asked to stop.
const PATIENCE: Duration = Duration::from_millis(50);

/// Reads a stream into one run's evidence.
pub struct Stream<'a> {
    recorder: Recorder<'a>,
    referee: Referee,
    /// The factor from a number to the metric's unit; `None` for lines of 0 and 1.
    scale: Option<f64>,
    /// The claim with all lines that were read, including those that are not journalled yet.
    ahead: ClaimTest,
    /// The number of lines in a block, and what counts as a success.
    block: u64,
    property: Property,
    batch: Batch,
    is_chain: bool,
    /// The position in this input.
    walk: Walk,
    /// The number of lines of this input so far, of any kind.
    lines_read: u64,
    elapsed_before: Duration,
    started: Instant,
    next_write: Instant,
    stop: &'a AtomicBool,
}

/// Lines that were read and are not journalled yet.
#[derive(Default)]
struct Batch {
    lines: u64,
    successes: u64,
    failure_runs: u64,
    values: Vec<f64>,
    by_age: ByAge,
}

impl<'a> Stream<'a> {
    /// Resumes a run of one claim about a stream at the end of its journal.
    ///
    /// # Errors
    /// Fails if the claim is not about a share or a mean of one contestant.
    pub fn new(
        recorder: Recorder<'a>,
        journal: &Journal,
        stop: &'a AtomicBool,
    ) -> Result<Stream<'a>, LabError> {
        let plan = &journal.header.plan;
        let property = match plan.claims.as_slice() {
            [PlannedClaim { claim, right: None, .. }] => claim.statement.property(),
            _ => None,
        };
        let (Some(property), Kind::Stream { scale, is_chain }) = (property, plan.kind) else {
            return usage("a stream is judged by one claim about a share or a mean");
        };
        let referee = Referee::from_journal(journal);
        let now = Instant::now();
        Ok(Stream {
            recorder,
            scale,
            ahead: referee.test(0).clone(),
            block: plan.block_runs,
            property,
            batch: Batch::default(),
            is_chain,
            walk: Walk::default(),
            lines_read: 0,
            elapsed_before: Duration::from_nanos(referee.elapsed_ns),
            referee,
            started: now,
            next_write: now + BETWEEN_WRITES,
            stop,
        })
    }

    /// Reads until the claim is settled, the stream or the budget ends, or the user asks to stop.
    /// Calls `watch` with the referee after each write.
    ///
    /// # Errors
    /// Fails if a line is invalid (what came before it is journalled), the stream cannot be read,
    /// or the journal cannot be written.
    pub fn run(
        mut self,
        input: impl Read + Send + 'static,
        mut watch: impl FnMut(&Referee),
    ) -> Result<(Referee, StopReason), LabError> {
        let mut lines = Lines::of(input);
        let reason = loop {
            if let Some(reason) = self.reason_to_stop() {
                break reason;
            }
            let taken = match lines.next(PATIENCE) {
                Next::Line(line) => self.take(&line),
                Next::Silence => Ok(()),
                Next::End => break StopReason::Ended,
                Next::Broken(what) => Err(what),
            };
            if let Err(what) = taken {
                self.write()?;
                self.finish(StopReason::Interrupted)?;
                return data(format!(
                    "line {}: {what}; what came before is kept, and resume --more goes on with it",
                    self.lines_read
                ));
            }
            if self.is_due() {
                self.write()?;
                watch(&self.referee);
            }
        };
        self.write()?;
        let settled = self.referee.verdict(0) != Verdict::Undecided;
        let reason = if settled { StopReason::Settled } else { reason };
        self.finish(reason)?;
        Ok((self.referee, reason))
    }

    fn reason_to_stop(&self) -> Option<StopReason> {
        if self.referee.verdict(0) != Verdict::Undecided {
            return Some(StopReason::Settled);
        }
        if self.stop.load(Ordering::SeqCst) {
            return Some(StopReason::Interrupted);
        }
        let budget = self.referee.budget;
        let lines = self.referee.rounds + self.batch.lines;
        let is_out = budget.rounds.is_some_and(|most| lines >= most)
            || budget.seconds.is_some_and(|most| self.elapsed().as_secs_f64() >= most);
        is_out.then_some(StopReason::Budget)
    }

    /// Counts a line; skips blank ones and comments.
    fn take(&mut self, line: &[u8]) -> Result<(), String> {
        self.lines_read += 1;
        let text = String::from_utf8_lossy(line);
        // Some programs begin their output with a byte order mark.
        let text = text.trim_start_matches('\u{feff}').trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let (is_success, value) = match self.scale {
            None => (outcome(text)?, None),
            Some(scale) => {
                let metric = self.referee.plan.claims[0].claim.metric;
                let value = number(text, metric, scale, self.property)?;
                let is_above =
                    matches!(self.property, Property::Quantile { bar, .. } if value > bar);
                (!is_above, Some(value))
            }
        };
        let batch = &mut self.batch;
        batch.lines += 1;
        batch.successes += u64::from(is_success);
        batch.failure_runs += u64::from(!is_success && self.walk.last_failed != Some(true));
        batch.values.extend(value);
        self.ahead.observe_line(is_success, value);
        let mut elsewhere = ByAge::default();
        let counts = if self.is_chain { &mut batch.by_age } else { &mut elsewhere };
        self.walk.step(!is_success, counts);
        Ok(())
    }

    /// Returns whether the batch must become evidence now: at the end of each block; line by line
    /// while the evidence may suffice at any of them; or after a long time without a write.
    fn is_due(&self) -> bool {
        let lines = self.batch.lines;
        if self.block > 1 {
            return lines == self.block;
        }
        lines > 0
            && (self.ahead.settled().is_some()
                || self.batch.values.len() >= NUMBERS_MAX
                || Instant::now() >= self.next_write)
    }

    /// Adds the batch to the evidence. It is in the journal before any observer sees it.
    fn write(&mut self) -> Result<(), LabError> {
        let batch = std::mem::take(&mut self.batch);
        self.next_write = Instant::now() + BETWEEN_WRITES;
        if batch.lines == 0 {
            return Ok(());
        }
        if self.block > 1 && batch.lines != self.block {
            let warning = Warning::LeftOver { lines: batch.lines, block: self.block };
            self.recorder.event(&Event::Warned { warning: warning.clone() })?;
            self.referee.warn(warning);
            return Ok(());
        }
        let event = Event::Observed {
            lines: batch.lines,
            successes: batch.successes,
            failure_runs: batch.failure_runs,
            values: batch.values,
            transitions: batch.by_age.sum(),
            by_age: Box::new(batch.by_age),
            elapsed_ns: self.elapsed().as_nanos() as u64,
        };
        self.recorder.event(&event)?;
        self.referee.take_event(&event);
        Ok(())
    }

    fn elapsed(&self) -> Duration {
        self.elapsed_before + self.started.elapsed()
    }

    fn finish(&mut self, reason: StopReason) -> Result<(), LabError> {
        let verdict = self.referee.verdict(0);
        if verdict != Verdict::Undecided || reason != StopReason::Interrupted {
            self.recorder.verdict(&self.referee.record(0))?;
        }
        let rounds = self.referee.rounds;
        self.recorder.event(&Event::Stopped { rounds, reason })?;
        Ok(self.recorder.store.sync()?)
    }
}

/// Parses `1` or `0`.
fn outcome(text: &str) -> Result<bool, String> {
    match text {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => {
            let is_number = text.parse::<f64>().is_ok();
            let hint = if is_number { "; for numbers say --value --below" } else { "" };
            Err(format!("{} is neither 0 nor 1{hint}", quoted(text)))
        }
    }
}

/// Parses a number in the stream's unit, or a time with its own unit, or a word for a result that
/// never came, which is above every bar.
fn number(text: &str, metric: Metric, scale: f64, property: Property) -> Result<f64, String> {
    let is_endless = ENDLESS.iter().any(|word| text.eq_ignore_ascii_case(word));
    let number = match text.parse::<f64>() {
        _ if is_endless => Some(f64::INFINITY),
        Ok(number) => Some(number * scale),
        Err(_) => parse_duration_ns(text).ok().filter(|_| metric == Metric::WallTime),
    };
    let why = match number {
        Some(_) if is_endless && matches!(property, Property::Mean { cap: None, .. }) => {
            "above every bound, and a mean without a cap needs one"
        }
        Some(number) if is_endless || number.is_finite() && number >= 0.0 => return Ok(number),
        Some(_) => "not a finite number of at least 0, nor 'timeout'",
        None => "neither a number nor 'timeout'",
    };
    Err(format!("{} is {why}", quoted(text)))
}
