//! A journal as JSON Lines, one object per line. It can be kept, sent and replayed without a store.
//!
//! The first line is the header with the schema's name. Then come, in the order in which things
//! happened, insofar as the journal records it: `coins` (one per attempt that began), `round` (the
//! result of a finished attempt), `event` and `verdict`. The last line is `chain`, the
//! [chain](crate::chain) over the other lines, if the journal has one. Floats are written so that
//! they are read back bit for bit; infinities are the texts `"inf"` and `"-inf"`.

use crate::check;
use crate::error::StoreError;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use tiebreak_core::journal::{Event, Journal, Link, RecordedVerdict, Round, RunHeader, Wealth};
use tiebreak_core::sample::{BatchTime, Sample};
use tiebreak_core::schedule::RoundCoins;

/// The name of the format. A change that older readers would misread gets a new number.
pub const SCHEMA: &str = "tiebreak/journal/1";

#[derive(Serialize)]
#[serde(tag = "line", rename_all = "snake_case")]
pub(crate) enum LineOut<'a> {
    Header { schema: &'a str, id: &'a str, header: &'a RunHeader },
    Coins(&'a RoundCoins),
    Round(RoundLine<'a>),
    Event(&'a Event),
    Verdict(&'a RecordedVerdict),
    Chain { links: &'a [Link] },
}

impl<'a> LineOut<'a> {
    pub(crate) fn header(id: &'a str, header: &'a RunHeader) -> LineOut<'a> {
        LineOut::Header { schema: SCHEMA, id, header }
    }

    pub(crate) fn round(round: &'a Round) -> LineOut<'a> {
        LineOut::Round(RoundLine {
            round: round.coins.round,
            attempt: round.coins.attempt,
            waited_ns: round.waited_ns,
            elapsed_ns: round.elapsed_ns,
            samples: Cow::from(&round.samples),
            batches: Cow::from(&round.batches),
            histograms: Cow::from(&round.histograms),
            wealth: Cow::from(&round.wealth),
        })
    }
}

/// A round without its coins, which have their own line.
#[derive(Serialize, Deserialize)]
pub(crate) struct RoundLine<'a> {
    round: u64,
    attempt: u32,
    waited_ns: u64,
    elapsed_ns: u64,
    samples: Cow<'a, [Sample]>,
    #[serde(default, skip_serializing_if = "<[_]>::is_empty")]
    batches: Cow<'a, [Vec<BatchTime>]>,
    #[serde(with = "tiebreak_core::hex::list", default, skip_serializing_if = "<[_]>::is_empty")]
    histograms: Cow<'a, [Vec<u8>]>,
    wealth: Cow<'a, [Wealth]>,
}

#[derive(Deserialize)]
#[serde(tag = "line", rename_all = "snake_case")]
enum LineIn {
    Header { id: String, header: Box<RunHeader> },
    Coins(RoundCoins),
    Round(RoundLine<'static>),
    Event(Event),
    Verdict(RecordedVerdict),
    Chain { links: Vec<Link> },
}

/// Writes a journal, one object per line. Cost: about 1 KB per round of two samples.
///
/// # Errors
/// Fails if the writer fails.
pub fn write_lines(journal: &Journal, writer: &mut impl Write) -> io::Result<()> {
    write_line(writer, &LineOut::header(&journal.id, &journal.header))?;
    for line in in_order(journal) {
        write_line(writer, &line)?;
    }
    if journal.chain.is_empty() {
        Ok(())
    } else {
        write_line(writer, &LineOut::Chain { links: &journal.chain })
    }
}

fn write_line(writer: &mut impl Write, line: &LineOut<'_>) -> io::Result<()> {
    serde_json::to_writer(&mut *writer, line)?;
    writer.write_all(b"\n")
}

/// Returns the lines after the header. Each kind keeps its own order. Between kinds, a line comes
/// after the rounds that were finished when it was recorded; at the same place, coins and rounds
/// come first, then verdicts, then events.
fn in_order(journal: &Journal) -> Vec<LineOut<'_>> {
    let mut lines = Vec::new();
    for round in &journal.rounds {
        let place = round.coins.round;
        lines.push((place, 0, round.coins.attempt, LineOut::Coins(&round.coins)));
        lines.push((place, 0, round.coins.attempt, LineOut::round(round)));
    }
    for coins in &journal.lost {
        lines.push((coins.round, 0, coins.attempt, LineOut::Coins(coins)));
    }
    let mut place = 0;
    for verdict in &journal.verdicts {
        place = verdict.rounds.saturating_sub(1).max(place);
        lines.push((place, 1, 0, LineOut::Verdict(verdict)));
    }
    place = 0;
    for event in &journal.events {
        place = last_round_before(event).unwrap_or(place).max(place);
        lines.push((place, 2, 0, LineOut::Event(event)));
    }
    // The sort is stable: lines with the same place stay in the order of the journal.
    lines.sort_by_key(|(round, kind, attempt, _)| (*round, *kind, *attempt));
    lines.into_iter().map(|(_, _, _, line)| line).collect()
}

fn last_round_before(event: &Event) -> Option<u64> {
    match event {
        Event::Void { round, .. } | Event::FirstFailure { round, .. } => Some(*round),
        Event::Stopped { rounds, .. } | Event::Resumed { rounds, .. } => {
            Some(rounds.saturating_sub(1))
        }
        Event::FirstOutputs { .. }
        | Event::Warned { .. }
        | Event::Observed { .. }
        | Event::Block { .. }
        | Event::Loaded { .. }
        | Event::Relaxed { .. } => None,
    }
}

/// Reads a journal that [`write_lines`] wrote; it is equal to the original.
///
/// # Errors
/// Fails at the first invalid line, with its number. Every index in the journal is checked.
pub fn read_lines(reader: impl BufRead) -> Result<Journal, StoreError> {
    let mut lines = (1..).zip(reader.lines());
    let first = lines.next().map(|(_, line)| line).transpose();
    let first =
        first.map_err(|error| StoreError::BadLine(1, error.to_string()))?.unwrap_or_default();
    let mut journal = header(&first)?;
    let mut open = BTreeMap::new();
    for (number, line) in lines {
        let text = line.map_err(|error| error.to_string());
        let added = text.and_then(|text| match text.trim() {
            "" => Ok(()),
            _ => {
                let line = serde_json::from_str(&text).map_err(|error| said(&error))?;
                add(&mut journal, &mut open, line)
            }
        });
        added.map_err(|what| StoreError::BadLine(number, what))?;
    }
    journal.lost = open.into_values().collect();
    Ok(journal)
}

/// Describes the error and its column, without the line: to `serde_json`, every line is line 1.
fn said(error: &serde_json::Error) -> String {
    let (text, column) = (error.to_string(), error.column());
    match text.strip_suffix(&format!(" at line {} column {column}", error.line())) {
        Some(what) => format!("{what} (column {column})"),
        None => text,
    }
}

fn header(text: &str) -> Result<Journal, StoreError> {
    #[derive(Deserialize)]
    struct Schema {
        schema: String,
    }
    let wanted = |error: serde_json::Error| {
        let what = format!("a header with \"schema\": \"{SCHEMA}\" should stand here");
        StoreError::BadLine(1, format!("{what}: {}", said(&error)))
    };
    let Schema { schema } = serde_json::from_str(text).map_err(wanted)?;
    if schema != SCHEMA {
        return Err(StoreError::OtherSchema(schema, SCHEMA));
    }
    let LineIn::Header { id, header } = serde_json::from_str(text).map_err(wanted)? else {
        return Err(StoreError::BadLine(1, "this is not a header".to_owned()));
    };
    check::plan(&header.plan).map_err(|what| StoreError::BadLine(1, what))?;
    let (rounds, lost, events) = (Vec::new(), Vec::new(), Vec::new());
    let (verdicts, chain) = (Vec::new(), Vec::new());
    Ok(Journal { id, header: *header, rounds, lost, events, verdicts, chain })
}

type OpenAttempts = BTreeMap<(u64, u32), RoundCoins>;

fn add(journal: &mut Journal, open: &mut OpenAttempts, line: LineIn) -> Result<(), String> {
    let plan = &journal.header.plan;
    match line {
        LineIn::Header { .. } => return Err("a second header".to_owned()),
        LineIn::Coins(coins) => {
            check::coins(plan, &coins)?;
            let place = (coins.round, coins.attempt);
            if open.insert(place, coins).is_some() {
                return Err(format!("attempt {} at round {} again", place.1, place.0));
            }
        }
        LineIn::Round(line) => {
            let RoundLine { round, attempt, waited_ns, elapsed_ns, .. } = line;
            let coins = open.remove(&(round, attempt)).ok_or_else(|| {
                format!(
                    "round {round}, attempt {attempt}, comes without its coins in a line before it"
                )
            })?;
            let samples = line.samples.into_owned();
            let (batches, wealth) = (line.batches.into_owned(), line.wealth.into_owned());
            let histograms = line.histograms.into_owned();
            let round =
                Round { coins, waited_ns, elapsed_ns, samples, batches, histograms, wealth };
            check::round(plan, journal.rounds.len(), &round)?;
            journal.rounds.push(round);
        }
        LineIn::Event(event) => {
            check::event(plan, &event)?;
            journal.events.push(event);
        }
        LineIn::Verdict(verdict) => {
            check::verdict(plan, &verdict)?;
            journal.verdicts.push(verdict);
        }
        LineIn::Chain { links } => journal.chain = links,
    }
    Ok(())
}

#[cfg(test)]
mod tests;
