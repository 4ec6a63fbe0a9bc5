//! What arrives on connections is read, understood and counted; and how they end.

use super::super::LoadError;
use super::super::arrivals::Arrival;
use super::super::connection::State;
use super::super::shared::Over;
use super::Thread;
use crate::conversation::{Broken, Heard, Scenario};
use crate::ledger::Outcome;
use crate::stamp::Stamp;
use std::io::{self, ErrorKind};
use std::sync::atomic::Ordering::Relaxed;

impl<S: Scenario> Thread<'_, S> {
    /// Reads once from a connection.
    pub(super) fn read(&mut self, place: usize) -> Result<(), LoadError> {
        let connection = &mut self.connections[place];
        let read = connection.read(&mut self.buffers, &mut self.record.read_bytes);
        let now_ns = self.clock.now_ns();
        if let Some(agreed) = connection.secured(&mut self.heard) {
            self.record.agreed(agreed);
        }
        match read {
            Ok(None) => self.hear(place, now_ns),
            Ok(Some((_, 0))) => self.ended(place, None),
            Ok(Some((length, _))) => {
                let bytes = &mut self.buffers.heard[..length];
                let understood = connection.understand(bytes, &mut self.heard);
                self.hear(place, now_ns)?;
                understood.or_else(|broken| self.broken(place, broken))?;
                if self.connections[place].is_ended() { self.ended(place, None) } else { Ok(()) }
            }
            Err(error) if error.kind() == ErrorKind::InvalidData => {
                self.distrusted(place, error.to_string())
            }
            Err(error) => self.ended(place, Some(error)),
        }
    }

    /// Ends the load because of a connection whose TLS is not that of a server to be trusted.
    fn distrusted(&mut self, place: usize, why: String) -> Result<(), LoadError> {
        if self.clock.is_set() {
            return self.broken(place, Broken(why));
        }
        Err(LoadError::Distrusted { connection: self.connections[place].number, why })
    }

    /// Takes the end of what the server says, or the error that ended it. If it may end, the
    /// connection is made again.
    fn ended(&mut self, place: usize, error: Option<io::Error>) -> Result<(), LoadError> {
        let connection = &mut self.connections[place];
        let ended = connection.end(error.is_some(), &mut self.heard);
        let state = connection.state;
        self.hear(place, self.clock.now_ns())?;
        let why = match (ended, error) {
            (Ok(()), _) if state == State::Open => None,
            (Ok(()), _) => Some("closed the connection before it was open".to_owned()),
            (Err(Broken(why)), None) => Some(why),
            (Err(Broken(why)), Some(error)) => Some(format!("{why} ({error})")),
        };
        if let Some(why) = why {
            return self.broken(place, Broken(why));
        }
        self.connections[place].close();
        self.open -= 1;
        self.shared.watch.open.fetch_sub(1, Relaxed);
        self.record.counts.reconnected += 1;
        self.to_connect.push_back(place);
        Ok(())
    }

    /// Takes what a connection has heard by a read that ended at this time.
    pub(super) fn hear(&mut self, place: usize, now_ns: u64) -> Result<(), LoadError> {
        let end_ns = self.shared.end_ns();
        let mut heard = std::mem::take(&mut self.heard);
        let mut fault = None;
        for what in heard.drain(..) {
            match what {
                Heard::Open => self.opened(place),
                Heard::Arrived(stamp) | Heard::Refused(stamp, _)
                    if !self.was_sent(stamp, now_ns) =>
                {
                    fault = Some("answered a message that was never sent");
                }
                Heard::Arrived(stamp) if self.is_misled(place, stamp) => {
                    fault = Some("sent a message to a connection that it is not for");
                }
                Heard::Arrived(stamp) => self.arrived(place, stamp, now_ns, end_ns),
                Heard::Refused(stamp, code) => {
                    self.record.refused(code, now_ns, end_ns);
                    self.note(|| Outcome::Refused { number: stamp.number });
                    self.settled(place, stamp, now_ns);
                }
            }
        }
        self.heard = heard;
        // It may have to answer, or may say what had to wait.
        if self.connections[place].has_unwritten() || self.can_say(place) {
            self.list(place);
        }
        fault.map_or(Ok(()), |why| self.broken(place, Broken(why.to_owned())))
    }

    /// Returns whether a message that is for its sender's group alone has arrived elsewhere.
    fn is_misled(&self, place: usize, stamp: Stamp) -> bool {
        self.is_for_sender && self.connections[place].group != self.sending.sender_of(stamp).0
    }

    /// Returns whether such a message can have been sent.
    fn was_sent(&mut self, stamp: Stamp, now_ns: u64) -> bool {
        if stamp.number >= self.numbers {
            self.numbers = self.shared.numbers();
        }
        stamp.number < self.numbers
            && stamp.intended_ns <= stamp.actual_ns
            && stamp.actual_ns <= now_ns
    }

    fn arrived(&mut self, place: usize, stamp: Stamp, now_ns: u64, end_ns: u64) {
        let (sender, number) = self.sending.sender_of(stamp);
        match self.connections[place].arrivals.take(sender, number) {
            Arrival::Duplicated => {
                self.record.counts.duplicated += 1;
                self.shared.watch.duplicated.fetch_add(1, Relaxed);
                return;
            }
            Arrival::Reordered => {
                self.record.counts.reordered += 1;
                self.shared.watch.reordered.fetch_add(1, Relaxed);
            }
            Arrival::Latest => {}
        }
        self.record.arrived(stamp, now_ns, end_ns);
        let latency = stamp.latency(now_ns);
        self.note(|| Outcome::Arrived { number: stamp.number, latency });
        self.settled(place, stamp, now_ns);
    }

    /// Lets a sender send more if this was its answer.
    fn settled(&mut self, place: usize, stamp: Stamp, now_ns: u64) {
        self.active_ns = now_ns;
        let (sender, number) = self.sending.sender_of(stamp);
        if self.connections[place].group == sender
            && let Some(place) = self.sending.answered(sender, number)
        {
            self.list(place);
        }
    }

    /// Ends the load because of a connection.
    pub(super) fn broken(&mut self, place: usize, why: Broken) -> Result<(), LoadError> {
        let (connection, Broken(why)) = (self.connections[place].number, why);
        if !self.clock.is_set() {
            return Err(LoadError::Refused { connection, why });
        }
        self.connections[place].close();
        self.shared.end(Over::Broken(connection, why));
        Ok(())
    }
}
