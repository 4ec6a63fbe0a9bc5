//! The chain over a journal. Each link is the hash of one record and of the previous link. So a
//! person who knows the last link, the head, can detect any change.
//!
//! ```text
//! link(0) = SHA-256(line of the header)
//! link(n) = SHA-256(link(n - 1) as 32 bytes, then the line of what was written)
//! ```
//!
//! A line is the output of [`crate::write_lines`], without its end, so anyone can compute the chain
//! from an export. Links follow the order in which the records were written. A field that a later
//! version adds to a journalled type is left out of its line while it has its default; otherwise an
//! old chain would break.

use crate::columns::{self, json};
use crate::id::RunId;
use crate::portable::LineOut;
use rusqlite::{Connection, OptionalExtension, Transaction, params};
use sha2::{Digest, Sha256};
use tiebreak_core::journal::{Journal, Linked, RunHeader};
pub(crate) use tiebreak_core::quantity::hexadecimal;
use tiebreak_core::schedule::RoundCoins;

/// The kinds by their number in the store, which is their place in the enumeration.
const KINDS: [Linked; 5] =
    [Linked::Header, Linked::Coins, Linked::Round, Linked::Event, Linked::Verdict];

pub(crate) fn kind_of(number: i64) -> Option<Linked> {
    KINDS.get(usize::try_from(number).ok()?).copied()
}

/// Returns the hash of a line after the previous hash.
fn hash(before: Option<&[u8]>, line: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    hash.update(before.unwrap_or_default());
    hash.update(line);
    hash.finalize().into()
}

/// Writes the first link of a run.
pub(crate) fn begin(
    transaction: &Transaction<'_>,
    run: &RunId,
    header: &RunHeader,
) -> rusqlite::Result<()> {
    let line = json(&LineOut::header(&run.name, header))?;
    insert(transaction, run, 0, Linked::Header, &hash(None, &line))
}

/// Writes the link of the last record. A run that began without a chain stays without one.
///
/// Cost: a few microseconds, and about 45 bytes of the file.
pub(crate) fn extend(
    transaction: &Transaction<'_>,
    run: &RunId,
    kind: Linked,
    line: &LineOut<'_>,
) -> rusqlite::Result<()> {
    let Some((link, before)) = last(transaction, run)? else { return Ok(()) };
    insert(transaction, run, link + 1, kind, &hash(Some(&before), &json(line)?))
}

/// Returns the last hash of a run's chain.
pub(crate) fn head(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<String>> {
    Ok(last(connection, run)?.map(|(_, hash)| hexadecimal(&hash)))
}

/// Returns the last link of a run's chain: its number and its hash.
fn last(connection: &Connection, run: &RunId) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
    let sql = "SELECT link, hash FROM chain WHERE run = ? ORDER BY link DESC LIMIT 1";
    let mut statement = connection.prepare_cached(sql)?;
    statement.query_row([run.row], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

fn insert(
    transaction: &Transaction<'_>,
    run: &RunId,
    link: i64,
    kind: Linked,
    hash: &[u8; 32],
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO chain (run, link, kind, hash) VALUES (?, ?, ?, ?)";
    columns::insert(transaction, sql, params![run.row, link, kind as i64, hash])
}

/// Describes the first link of a journal's chain that does not match the journal. Returns `None` if
/// all links match, or if there is no chain.
///
/// Cost: a few microseconds per link.
pub fn first_broken_link(journal: &Journal) -> Option<String> {
    if journal.chain.is_empty() {
        return None;
    }
    let mut attempts: Vec<&RoundCoins> =
        journal.rounds.iter().map(|round| &round.coins).chain(&journal.lost).collect();
    attempts.sort_by_key(|coins| (coins.round, coins.attempt));
    let mut lines: [Box<dyn Iterator<Item = LineOut<'_>>>; KINDS.len()] = [
        Box::new(std::iter::once(LineOut::header(&journal.id, &journal.header))),
        Box::new(attempts.into_iter().map(LineOut::Coins)),
        Box::new(journal.rounds.iter().map(LineOut::round)),
        Box::new(journal.events.iter().map(LineOut::Event)),
        Box::new(journal.verdicts.iter().map(LineOut::Verdict)),
    ];
    let mut seen = [0_u64; KINDS.len()];
    let mut before: Option<[u8; 32]> = None;
    for (number, link) in journal.chain.iter().enumerate() {
        let what = describe(link.of, seen[link.of as usize]);
        let Some(line) = lines[link.of as usize].next() else {
            return Some(format!("link {number} is of {what}, which is not there"));
        };
        let Ok(line) = json(&line) else {
            return Some(format!("link {number}: {what} cannot be written again"));
        };
        let hash = hash(before.as_ref().map(|hash| &hash[..]), &line);
        if hexadecimal(&hash) != link.hash {
            return Some(format!("link {number}: {what} is not what was written"));
        }
        before = Some(hash);
        seen[link.of as usize] += 1;
    }
    let extra = lines.iter_mut().position(|left| left.next().is_some())?;
    let what = describe(KINDS[extra], seen[extra]);
    Some(format!("{what} is not in the chain, which ends with link {}", journal.chain.len() - 1))
}

/// Describes the n-th link of its kind, counted from 0.
fn describe(of: Linked, number: u64) -> String {
    match of {
        Linked::Header => "the header".to_owned(),
        Linked::Coins => format!("attempt {number} (its coins)"),
        Linked::Round => format!("round {number}"),
        Linked::Event => format!("event {number}"),
        Linked::Verdict => format!("verdict {number}"),
    }
}

#[cfg(test)]
mod tests;
