//! Appending to a journal.

use crate::chain;
use crate::columns::{self, Bits, Float, insert, insert_sample, insert_samples, json};
use crate::error::{At, StoreError, shown};
use crate::id::RunId;
use crate::portable::LineOut;
use crate::store::Store;
use rusqlite::{Transaction, TransactionBehavior, params};
use tiebreak_core::journal::{Event, Linked, RecordedVerdict, Round, RunHeader, Wealth};
use tiebreak_core::schedule::RoundCoins;

impl Store {
    /// Writes a run's header and gives the run its name.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn create_run(&mut self, header: &RunHeader) -> Result<RunId, StoreError> {
        self.write(|transaction| {
            let json = json(header)?;
            let run = RunId::next(transaction, &json)?;
            let sql = "INSERT INTO runs (run, id, created_unix_ms, claim_key, header) \
                       VALUES (?, ?, ?, ?, ?)";
            let created = Bits(header.created_unix_ms);
            let values = params![run.row, run.name, created, header.claim_key, json];
            insert(transaction, sql, values)?;
            chain::begin(transaction, &run, header)?;
            Ok(run)
        })
    }

    /// Writes the coins of an attempt at a round, before the round starts.
    ///
    /// Cost: one commit without fsync, tens of microseconds.
    ///
    /// # Errors
    /// Fails if the file cannot be written, or if it already contains this attempt.
    pub fn begin_attempt(&mut self, run: &RunId, coins: &RoundCoins) -> Result<(), StoreError> {
        self.write(|transaction| {
            let (order, padding) = (json(&coins.order)?, json(&coins.padding_bytes)?);
            let unit = coins.unit.as_ref().map(json).transpose()?;
            let sql = "INSERT INTO attempts (run, round, attempt, primer, contestants, \
                       padding_bytes, unit, load_seed) VALUES (?, ?, ?, ?, ?, ?, ?, ?)";
            let (round, primer) = (Bits(coins.round), columns::primer(coins.primer));
            let seed = coins.load_seed.map(Bits);
            let values = params![run.row, round, coins.attempt, primer, order, padding, unit, seed];
            insert(transaction, sql, values)?;
            chain::extend(transaction, run, Linked::Coins, &LineOut::Coins(coins))
        })
    }

    /// Writes a finished round with its events and the verdicts that it settled, completely or not
    /// at all, before any of it is shown. Its attempt must have begun.
    ///
    /// Cost: one commit without fsync, tens of microseconds and about 100 bytes per sample.
    ///
    /// # Errors
    /// Fails if the file cannot be written, if it already contains the round, if it lacks the
    /// attempt, or if there is not one sample per entry of the order. Then nothing of the round is
    /// written.
    pub fn finish_round(
        &mut self,
        run: &RunId,
        round: &Round,
        events: &[Event],
        verdicts: &[RecordedVerdict],
    ) -> Result<(), StoreError> {
        let coins = &round.coins;
        if coins.order.len() != round.samples.len() {
            let (given, drawn) = (round.samples.len(), coins.order.len());
            let what = format!("round {}: {given} samples for {drawn} drawn", coins.round);
            return Err(StoreError::Refused(shown(&self.path), what));
        }
        self.write(|transaction| {
            let has_batches = !round.batches.is_empty();
            let batches = has_batches.then(|| json(&round.batches)).transpose()?;
            let sql = "INSERT INTO rounds (run, round, attempt, waited_ns, elapsed_ns, batches) \
                       VALUES (?, ?, ?, ?, ?, ?)";
            let (number, attempt) = (Bits(coins.round), coins.attempt);
            let (waited_ns, elapsed_ns) = (Bits(round.waited_ns), Bits(round.elapsed_ns));
            let values = params![run.row, number, attempt, waited_ns, elapsed_ns, batches];
            insert(transaction, sql, values)?;
            let mut statement = transaction.prepare_cached(&insert_samples())?;
            for (position, sample) in round.samples.iter().enumerate() {
                let place = (run.row, coins.round, position, coins.order[position]);
                insert_sample(&mut statement, place, sample)?;
            }
            insert_loads(transaction, run, round)?;
            insert_wealth(transaction, run, round)?;
            chain::extend(transaction, run, Linked::Round, &LineOut::round(round))?;
            events.iter().try_for_each(|event| insert_event(transaction, run, event))?;
            verdicts.iter().try_for_each(|verdict| insert_verdict(transaction, run, verdict))
        })
    }

    /// Writes an event.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn event(&mut self, run: &RunId, event: &Event) -> Result<(), StoreError> {
        self.write(|transaction| insert_event(transaction, run, event))
    }

    /// Writes a verdict. If a resumed run finds out more about a claim, the claim gets another
    /// verdict; the last one counts.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn verdict(&mut self, run: &RunId, reached: &RecordedVerdict) -> Result<(), StoreError> {
        self.write(|transaction| insert_verdict(transaction, run, reached))
    }

    pub(crate) fn write<T>(
        &mut self,
        body: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
    ) -> Result<T, StoreError> {
        // Immediate: a writer waits for another one here, and never fails half-way.
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate);
        let written = transaction.and_then(|transaction| {
            let value = body(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        let value = written.at(&self.path)?;
        self.syncs.pending = true;
        Ok(value)
    }
}

fn insert_event(transaction: &Transaction<'_>, run: &RunId, event: &Event) -> rusqlite::Result<()> {
    let sql = "INSERT INTO events (run, sequence, body) \
               SELECT ?1, coalesce(max(sequence) + 1, 0), ?2 FROM events WHERE run = ?1";
    insert(transaction, sql, params![run.row, json(event)?])?;
    chain::extend(transaction, run, Linked::Event, &LineOut::Event(event))
}

fn insert_verdict(
    transaction: &Transaction<'_>,
    run: &RunId,
    reached: &RecordedVerdict,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO verdicts (run, sequence, claim, verdict, rounds, low, high) \
               SELECT ?1, coalesce(max(sequence) + 1, 0), ?2, ?3, ?4, ?5, ?6 \
               FROM verdicts WHERE run = ?1";
    let (claim, rounds) = (Bits::of(reached.claim), Bits(reached.rounds));
    let [low, high] = [reached.low, reached.high].map(|limit| limit.map(Float));
    let values = params![run.row, claim, reached.verdict.name(), rounds, low, high];
    insert(transaction, sql, values)?;
    chain::extend(transaction, run, Linked::Verdict, &LineOut::Verdict(reached))
}

fn insert_loads(transaction: &Transaction<'_>, run: &RunId, round: &Round) -> rusqlite::Result<()> {
    let sql = "INSERT INTO loads (run, round, position, served, histogram) VALUES (?, ?, ?, ?, ?)";
    for (position, sample) in round.samples.iter().enumerate() {
        let Some(served) = &sample.served else { continue };
        let histogram = round.histograms.get(position).map_or(&[][..], Vec::as_slice);
        let (number, position) = (Bits(round.coins.round), Bits::of(position));
        insert(transaction, sql, params![run.row, number, position, json(served)?, histogram])?;
    }
    Ok(())
}

fn insert_wealth(
    transaction: &Transaction<'_>,
    run: &RunId,
    round: &Round,
) -> rusqlite::Result<()> {
    let sql = "INSERT INTO wealth (run, round, claim, evidence_for, evidence_against) \
               VALUES (?, ?, ?, ?, ?)";
    let number = Bits(round.coins.round);
    for Wealth { claim, evidence_for, evidence_against } in &round.wealth {
        let (evidence_for, evidence_against) = (Float(*evidence_for), Float(*evidence_against));
        let values = params![run.row, number, Bits::of(*claim), evidence_for, evidence_against];
        insert(transaction, sql, values)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
