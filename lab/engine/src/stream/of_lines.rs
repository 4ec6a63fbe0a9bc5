//! The lines of a stream as observations: read, counted, and taken in blocks.
//!
//! An observation is a line, or a block of consecutive lines: requests fail in bursts, and evidence
//! line by line would count each failure of a burst as new (rule A12).

use super::{Observations, Read};
use crate::claim_test::ClaimTest;
use crate::error::{LabError, usage};
use crate::lines::{Lines, Next, quoted};
use crate::referee::Referee;
use std::io;
use std::time::{Duration, Instant};
use tiebreak_core::claim::Property;
use tiebreak_core::journal::{Event, StopReason};
use tiebreak_core::metric::Metric;
use tiebreak_core::plan::{Budget, Kind, PlannedClaim};
use tiebreak_core::quantity::parse_duration_ns;
use tiebreak_core::transitions::{ByAge, Walk};
use tiebreak_core::warning::Warning;

/// Counts are journalled, and shown, at least this often.
const BETWEEN_WRITES: Duration = Duration::from_millis(100);
/// The most numbers that are journalled at once.
const NUMBERS_MAX: usize = 4096;
/// The words on the line of a result that never came: a value above every bar.
const ENDLESS: [&str; 4] = ["timeout", "inf", "+inf", "infinity"];

/// The lines of an input, of which one claim is judged.
pub struct OfLines {
    lines: Lines,
    metric: Metric,
    /// The factor from a number to the metric's unit; `None` for lines of 0 and 1.
    scale: Option<f64>,
    /// The claim with all lines that were read, including those that are not taken yet.
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
    /// The number of lines that were counted so far, those of earlier inputs too.
    counted: u64,
    budget: Budget,
    next_write: Instant,
}

/// Lines that were read and are not taken yet.
#[derive(Default)]
struct Batch {
    lines: u64,
    successes: u64,
    failure_runs: u64,
    values: Vec<f64>,
    by_age: ByAge,
}

impl OfLines {
    /// Reads lines for a run, from where it is.
    ///
    /// # Errors
    /// Fails if the run has not one claim about a share or a mean.
    pub fn new(
        input: impl io::Read + Send + 'static,
        referee: &Referee,
    ) -> Result<OfLines, LabError> {
        let plan = &referee.plan;
        let property = match plan.claims.as_slice() {
            [PlannedClaim { claim, .. }] => claim.statement.property(),
            _ => None,
        };
        let (Some(property), Kind::Stream { scale, is_chain }) = (property, plan.kind) else {
            return usage("a stream is judged by one claim about a share or a mean");
        };
        Ok(OfLines {
            lines: Lines::of(input),
            metric: plan.claims[0].claim.metric,
            scale,
            ahead: referee.test(0).clone(),
            block: plan.block_runs,
            property,
            batch: Batch::default(),
            is_chain,
            walk: Walk::default(),
            lines_read: 0,
            counted: referee.rounds,
            budget: referee.budget,
            next_write: Instant::now() + BETWEEN_WRITES,
        })
    }

    fn is_out_of_budget(&self, elapsed: Duration) -> bool {
        let Budget { rounds, seconds } = self.budget;
        rounds.is_some_and(|most| self.counted >= most)
            || seconds.is_some_and(|most| elapsed.as_secs_f64() >= most)
    }

    /// Counts a line; skips blank ones and comments.
    fn count(&mut self, line: &[u8]) -> Result<(), String> {
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
                let value = number(text, self.metric, scale, self.property)?;
                let is_above =
                    matches!(self.property, Property::Quantile { bar, .. } if value > bar);
                (!is_above, Some(value))
            }
        };
        self.counted += 1;
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
}

impl Observations for OfLines {
    fn read(&mut self, patience: Duration, elapsed: Duration) -> Read {
        if self.is_out_of_budget(elapsed) {
            return Read::End(StopReason::Budget);
        }
        let (counted, otherwise) = match self.lines.next(patience) {
            Next::Line(line) => (self.count(&line), Read::More),
            Next::Silence => (Ok(()), Read::Silence),
            Next::End => return Read::End(StopReason::Ended),
            Next::Broken(what) => (Err(what), Read::Silence),
        };
        match counted {
            Err(what) => Read::Failed(LabError::Data(format!(
                "line {}: {what}; what came before is kept, and resume --more goes on with it",
                self.lines_read
            ))),
            Ok(()) if self.is_due() => Read::Due,
            Ok(()) => otherwise,
        }
    }

    fn take(&mut self, elapsed: Duration) -> Option<Event> {
        let batch = std::mem::take(&mut self.batch);
        self.next_write = Instant::now() + BETWEEN_WRITES;
        if batch.lines == 0 {
            return None;
        }
        if self.block > 1 && batch.lines != self.block {
            let warning = Warning::LeftOver { lines: batch.lines, block: self.block };
            return Some(Event::Warned { warning });
        }
        Some(Event::Observed {
            lines: batch.lines,
            successes: batch.successes,
            failure_runs: batch.failure_runs,
            values: batch.values,
            transitions: batch.by_age.sum(),
            by_age: Box::new(batch.by_age),
            elapsed_ns: elapsed.as_nanos() as u64,
        })
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
