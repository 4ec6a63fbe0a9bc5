//! A thread of a load: it opens its connections, then sends, writes, waits and reads in turns.
//!
//! `opening.rs` has the connections' beginnings, `hearing.rs` what arrives on them and their ends.
//!
//! The work of a turn is bounded, whatever is due: so writing never starves reading, and the other
//! way round.

mod hearing;
mod opening;

use super::connection::{Buffers, Connection, State, Written};
use super::record::Record;
use super::sending::Sending;
use super::shared::{Over, Shared};
use super::system::{self, Epoll, Ready};
use super::{Load, LoadError};
use crate::conversation::{Heard, Scenario};
use crate::ledger::Outcome;
use crate::schedule::End;
use std::collections::VecDeque;
use std::io;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use tiebreak_core::load::MessageCounts;

/// The connections of a thread that are opened at the same time, at most.
const OPENING_MAX: usize = 100;
/// The messages of a schedule that a turn takes, at most.
const SENDS_A_TURN: usize = 1024;
/// The connections that a turn reads from, at most.
const READS_A_TURN: usize = 64;
/// The connections that a turn writes to, at most: more than those that have to answer what was
/// read, so that answers never keep the schedule waiting.
const WRITES_A_TURN: usize = 2 * READS_A_TURN;
/// The messages that may wait for connections to be free, at most: 24 MB. A thread that has so many
/// turns to the next ones late, and says so.
const WAITING_MAX: usize = 1 << 20;
/// In a closed loop without a limit, a thread that has read all there was looks for more no more
/// often than that, while so many arrivals a connection are still to come that the pause costs the
/// server nothing. Without it, most would be read by a call of their own.
const GATHER: Duration = Duration::from_millis(1);
const GATHER_FROM: u64 = 64;
/// A thread looks at least so often whether the load is over.
const LOOK: Duration = Duration::from_millis(20);
/// And so often whether it starts.
const LOOK_FOR_START: Duration = Duration::from_millis(1);

/// Nanoseconds since the start of the load; 0 before it, and as long as it is unknown.
#[derive(Clone, Copy)]
struct Clock(Option<Instant>);

impl Clock {
    fn now_ns(self) -> u64 {
        self.0.map_or(0, |start| start.elapsed().as_nanos() as u64)
    }

    fn is_set(self) -> bool {
        self.0.is_some()
    }
}

/// A thread, with its connections.
pub(super) struct Thread<'a, S: Scenario> {
    load: &'a Load,
    /// Its number among the threads.
    thread: u32,
    shared: &'a Shared<'a>,
    epoll: Epoll,
    connections: Vec<Connection<S::Conversation>>,
    /// How many all threads have.
    all_connections: u32,
    /// Whether each message arrives once, in its sender's group.
    is_for_sender: bool,
    sending: Sending,
    /// Those without a socket.
    to_connect: VecDeque<usize>,
    /// How many are being opened, and how many are open.
    opening: usize,
    open: usize,
    /// Those that have something to say, each once.
    talkative: VecDeque<usize>,
    /// The messages that wait for their connection to be free.
    waiting: usize,
    /// Whether the last turn may have left something unread.
    has_more_to_read: bool,
    clock: Clock,
    /// When the thread last sent a message or had an answer.
    active_ns: u64,
    /// What the other threads know of the counts.
    told: MessageCounts,
    /// The number below which all messages are that may have been sent, as far as is known here.
    numbers: u64,
    has_sent_all: bool,
    /// Whether all of its messages are acknowledged, or need not be.
    is_acknowledged: bool,
    record: Record,
    /// What is to be reported.
    outcomes: Vec<Outcome>,
    buffers: Buffers,
    heard: Vec<Heard>,
}

impl<'a, S: Scenario> Thread<'a, S> {
    /// Runs a thread to the end of the load. Returns what it has seen, or `None` if it was not
    /// there when the load began.
    pub(super) fn run(
        load: &'a Load,
        scenario: &S,
        shared: &'a Shared<'a>,
        thread: u32,
    ) -> Option<Record> {
        system::sleep_exactly();
        let begun = Thread::new(load, scenario, shared, thread);
        let begun = begun.map_err(|error| LoadError::System("epoll cannot be had", error));
        let result = begun.and_then(|mut thread| {
            if !thread.open_all()? {
                return Ok(None);
            }
            thread.load_all()?;
            Ok(Some(thread.record))
        });
        result.unwrap_or_else(|error| {
            shared.end(Over::Failed(error));
            None
        })
    }

    fn new(
        load: &'a Load,
        scenario: &S,
        shared: &'a Shared<'a>,
        thread: u32,
    ) -> io::Result<Thread<'a, S>> {
        let mut connections = Vec::new();
        for number in 0..scenario.connections() {
            let group = scenario.group_of(number);
            if group % load.threads == thread {
                connections.push(Connection::new(number, group, scenario.converse(number)));
            }
        }
        let place_of = |number: u32| connections.partition_point(|other| other.number < number);
        let sending = Sending::new(load, scenario, thread, place_of);
        for (sender, connection) in sending.connections().enumerate() {
            connections[connection].sender = Some(sender);
        }
        Ok(Thread {
            load,
            thread,
            shared,
            epoll: Epoll::new(READS_A_TURN)?,
            to_connect: (0..connections.len()).collect(),
            connections,
            all_connections: scenario.connections(),
            is_for_sender: scenario.is_answered() && scenario.arrivals_a_message() == 1,
            sending,
            opening: 0,
            open: 0,
            talkative: VecDeque::new(),
            waiting: 0,
            has_more_to_read: false,
            clock: Clock(None),
            active_ns: 0,
            told: MessageCounts::default(),
            numbers: 0,
            has_sent_all: false,
            is_acknowledged: !scenario.is_acknowledged(),
            record: Record::new(),
            outcomes: Vec::new(),
            buffers: Buffers::default(),
            heard: Vec::new(),
        })
    }

    /// Loads from the start to the end.
    fn load_all(&mut self) -> Result<(), LoadError> {
        let cpu_ns = system::thread_cpu_ns();
        // What was said to open connections is not the load's.
        (self.record.written_bytes, self.record.read_bytes) = (0, 0);
        if self.sending.is_closed() {
            let places: Vec<usize> = self.sending.connections().collect();
            places.into_iter().for_each(|place| self.list(place));
        }
        while !self.shared.is_over() {
            if self.shared.watch.stop.load(Relaxed) {
                self.shared.end(Over::Interrupted);
                break;
            }
            let now_ns = self.clock.now_ns();
            self.take_due(now_ns);
            self.write()?;
            self.tell(now_ns);
            let wait = self.wait(self.clock.now_ns());
            if !wait.is_zero() && self.is_flooding() {
                std::thread::sleep(GATHER);
            }
            self.turn(wait)?;
        }
        let now_ns = self.clock.now_ns();
        self.report(now_ns);
        if !self.is_acknowledged {
            self.record.counts.unacknowledged = self.unacknowledged();
        }
        self.record.cpu_ns = system::thread_cpu_ns().saturating_sub(cpu_ns);
        self.record.punctuality = self.sending.punctuality(now_ns, self.record.counts.sent);
        Ok(())
    }

    /// Returns whether much is to come, whenever it is looked for.
    fn is_flooding(&self) -> bool {
        let is_much = || self.shared.to_come() >= GATHER_FROM * u64::from(self.all_connections);
        self.sending.is_flood() && !self.has_more_to_read && is_much()
    }

    /// Turns to the messages that the schedule wants sent by now.
    fn take_due(&mut self, now_ns: u64) {
        let mut numbers = 0;
        for _ in 0..SENDS_A_TURN {
            // What is taken is written in this turn. Otherwise a thread that cannot keep up would
            // take messages in time, and write them late.
            if self.talkative.len() >= WRITES_A_TURN || self.waiting >= WAITING_MAX {
                break;
            }
            let Some((place, stamp)) = self.sending.take_due(now_ns) else { break };
            self.record.sent(stamp);
            self.active_ns = now_ns;
            numbers = stamp.number + 1;
            self.connections[place].waiting.push_back(stamp);
            self.waiting += 1;
            self.list(place);
        }
        self.announce(numbers);
    }

    /// Lets all threads know that messages below this number may arrive.
    fn announce(&mut self, numbers: u64) {
        if numbers > self.numbers {
            self.numbers = numbers;
            self.shared.announce(numbers);
        }
    }

    /// Reports what has become of messages, where somebody wants to know: all that was heard until
    /// now.
    fn report(&mut self, now_ns: u64) {
        if let Some(ledger) = &self.shared.watch.ledger {
            ledger.report(self.thread, &mut self.outcomes, self.sending.sends(), now_ns);
        }
    }

    /// Adds an outcome to the next report.
    fn note(&mut self, outcome: impl FnOnce() -> Outcome) {
        if self.shared.watch.ledger.is_some() {
            self.outcomes.push(outcome());
        }
    }

    /// Says what the thread has counted since the last time, and whether it or the load is done.
    fn tell(&mut self, now_ns: u64) {
        self.report(now_ns);
        let counts = self.record.counts;
        let told = std::mem::replace(&mut self.told, counts);
        let (sent, arrived) = (counts.sent - told.sent, counts.arrived - told.arrived);
        self.shared.add(sent, arrived, counts.refused - told.refused, now_ns);
        // A closed loop in which nothing happens any more has lost what it waits for.
        let ends_by_count = matches!(self.load.end, End::Sends(_)) && self.sending.is_closed();
        let is_waiting = ends_by_count && !self.has_sent_all;
        if is_waiting && now_ns.saturating_sub(self.active_ns) > self.shared.patience_ns {
            self.sending.give_up();
            self.shared.give_up();
        }
        if !self.has_sent_all && self.sending.is_over(now_ns) {
            self.has_sent_all = true;
            self.shared.sent_all(self.active_ns);
        }
        if !self.is_acknowledged && self.shared.has_arrived() && self.unacknowledged() == 0 {
            self.is_acknowledged = true;
            self.shared.acknowledged();
        }
        self.shared.end_if_done(now_ns);
    }

    /// Returns how many messages of this thread the server has not acknowledged.
    fn unacknowledged(&self) -> u64 {
        self.connections.iter().map(Connection::unacknowledged).sum()
    }

    /// Returns how long there is nothing to do unless something arrives.
    fn wait(&mut self, now_ns: u64) -> Duration {
        if !self.talkative.is_empty() || self.shared.is_over() {
            return Duration::ZERO;
        }
        let next = self.sending.next_at();
        next.map_or(LOOK, |at_ns| Duration::from_nanos(at_ns.saturating_sub(now_ns)).min(LOOK))
    }

    /// Connects what has no socket, waits, and takes what arrived.
    fn turn(&mut self, wait: Duration) -> Result<(), LoadError> {
        while self.opening < OPENING_MAX {
            let Some(place) = self.to_connect.pop_front() else { break };
            self.connect(place)?;
        }
        let found = self.epoll.wait(wait).map_err(system_failed)?;
        self.has_more_to_read = found >= READS_A_TURN;
        if !self.clock.is_set() {
            // Another thread may have started before this one noticed, and its messages arrive.
            self.clock = Clock(self.shared.start());
        }
        for at in 0..found {
            let Ready { key, is_readable, is_writable } = self.epoll.ready(at);
            let connection = &mut self.connections[key];
            match connection.state {
                State::Closed => {}
                State::Connecting if is_writable => self.open(key)?,
                State::Connecting => {}
                State::Securing | State::Opening | State::Open => {
                    if is_writable {
                        self.push(key);
                    }
                    if is_readable {
                        self.read(key)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Puts a connection on the list of those that have something to say, unless it has to wait for
    /// room.
    fn list(&mut self, place: usize) {
        if !self.connections[place].is_blocked {
            self.push(place);
        }
    }

    fn push(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        if !connection.is_listed {
            connection.is_listed = true;
            self.talkative.push_back(place);
        }
    }

    /// Says and writes what there is, once for each connection.
    fn write(&mut self) -> Result<(), LoadError> {
        for _ in 0..self.talkative.len().min(WRITES_A_TURN) {
            let Some(place) = self.talkative.pop_front() else { break };
            self.connections[place].is_listed = false;
            if !matches!(self.connections[place].state, State::Closed | State::Connecting) {
                self.write_to(place).map_err(system_failed)?;
            }
        }
        Ok(())
    }

    /// Says and writes what there is on one connection. Only if the socket does not take it, it is
    /// waited for room.
    fn write_to(&mut self, place: usize) -> io::Result<()> {
        self.say(place);
        let connection = &mut self.connections[place];
        let written = connection.write(&mut self.record.written_bytes);
        let is_blocked = written == Written::Some;
        if connection.is_blocked != is_blocked {
            connection.is_blocked = is_blocked;
            if let Some(socket) = connection.socket() {
                self.epoll.change(socket, place, is_blocked)?;
            }
        }
        if self.can_say(place) {
            self.list(place);
        }
        Ok(())
    }

    /// Returns whether a connection has room for a message, and there is one: it waits, or in a
    /// closed loop the sender is free to send it.
    fn can_say(&self, place: usize) -> bool {
        let connection = &self.connections[place];
        let is_free = connection.sender.is_some_and(|sender| self.sending.is_free(sender));
        let has_more = is_free && self.clock.is_set() || !connection.waiting.is_empty();
        has_more && connection.has_room()
    }

    /// Says the messages that may be said on a connection: those that wait, and in a closed loop
    /// those that its sender is free to send.
    fn say(&mut self, place: usize) {
        let connection = &mut self.connections[place];
        while connection.has_room() {
            let Some(stamp) = connection.waiting.pop_front() else { break };
            self.waiting -= 1;
            connection.say(stamp);
        }
        let sender = connection.sender.filter(|sender| self.sending.is_free(*sender));
        let Some(sender) = sender.filter(|_| self.clock.is_set()) else { return };
        let now_ns = self.clock.now_ns();
        let mut numbers = 0;
        while connection.has_room() {
            let Some(stamp) = self.sending.take_free(sender, now_ns) else { break };
            self.record.sent(stamp);
            self.active_ns = now_ns;
            numbers = stamp.number + 1;
            connection.say(stamp);
        }
        self.announce(numbers);
    }
}

fn system_failed(error: io::Error) -> LoadError {
    LoadError::System("epoll failed", error)
}
