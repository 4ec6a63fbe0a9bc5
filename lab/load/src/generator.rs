//! Runs a load: sockets, threads and time. One thread a CPU that it may use, each with its own
//! connections, its own `epoll` and its own histograms; what they saw is added up at the end.
//!
//! A thread (`thread.rs`) first opens its connections. When all threads have done so, all start at
//! the same time. Then each goes through turns: it takes the messages that are due (`sending.rs`),
//! says and writes them (`connection.rs`, with TLS through `session.rs`), adds to what all have
//! counted (`shared.rs`), sleeps until the next message or an arrival (`system.rs`), and reads and
//! counts what came (`arrivals.rs`, `record.rs`).

mod arrivals;
mod connection;
mod record;
mod sending;
mod session;
mod shared;
mod system;
mod thread;

use crate::conversation::Scenario;
use crate::ledger::Ledger;
use crate::schedule::{End, Rate};
use crate::seen::Account;
use crate::stamp::{LOAD_NS_MAX, MESSAGES_MAX};
use crate::tls::Tls;
use record::Record;
use shared::{EndOnPanic, Over, Shared};
use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicU64};
use std::thread::Builder;
use std::time::Duration;
use thread::Thread;
use tiebreak_core::load::{KernelTls, Spacing};

/// What is asked of a server.
#[derive(Clone, Debug)]
pub struct Load {
    /// Where the server is.
    pub address: SocketAddr,
    /// TLS, if it is spoken there. The handshake is a part of opening a connection.
    pub tls: Option<Tls>,
    /// Decides everything that is random.
    pub seed: u64,
    /// What decides when a message is sent.
    pub pace: Pace,
    /// Where it ends: after so many messages, or so many nanoseconds.
    pub end: End,
    /// The threads that share the connections.
    pub threads: NonZeroU32,
    /// How long is waited for the next connection to be open, and after the schedule's end for the
    /// next arrival of what is still under way, and where a time ends the load no longer than that
    /// again in all; in a closed loop of so many messages, also for any answer.
    pub patience: Duration,
}

/// What decides when a message is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// A schedule, which no answer moves.
    Open {
        /// The messages a second, over all senders.
        rate: Rate,
        /// How they are spread over time.
        spacing: Spacing,
    },
    /// The answers: each sender has at most so many messages under way. A server that stops then
    /// also stops the messages that would have found it stopped.
    Closed {
        /// The messages that a sender may have under way; `None` for as many as the socket takes.
        in_flight: Option<NonZeroU32>,
    },
}

/// What another thread may see of a load that runs, and how it ends it.
#[derive(Debug, Default)]
pub struct Watch {
    /// Set it to end the load soon. What was seen until then is returned.
    pub stop: AtomicBool,
    /// The connections that are open.
    pub open: AtomicU64,
    /// The messages so far that the generator turned to.
    pub sent: AtomicU64,
    /// The arrivals so far.
    pub arrived: AtomicU64,
    /// The arrivals so far of what had already arrived there, and those after a later one.
    pub duplicated: AtomicU64,
    /// See above.
    pub reordered: AtomicU64,
    /// Where the threads report what became of each message, if somebody wants to know.
    pub ledger: Option<Ledger>,
    /// Holds the load back once all connections are open.
    pub hold: Option<Hold>,
}

/// Holds a load back between its last connection and its first message, so that the thread that
/// watches can read what the server has used so far.
#[derive(Debug)]
pub struct Hold {
    watcher: std::thread::Thread,
    is_reached: AtomicBool,
    is_released: AtomicBool,
}

impl Hold {
    /// Makes one that this thread watches: it is unparked when all connections are open.
    pub fn by_this_thread() -> Hold {
        Hold {
            watcher: std::thread::current(),
            is_reached: AtomicBool::new(false),
            is_released: AtomicBool::new(false),
        }
    }

    /// Returns whether the load waits to be released.
    pub fn is_waiting(&self) -> bool {
        self.is_reached.load(SeqCst) && !self.is_released()
    }

    /// Lets the load begin.
    pub fn release(&self) {
        self.is_released.store(true, SeqCst);
    }

    fn is_released(&self) -> bool {
        self.is_released.load(SeqCst)
    }

    fn reach(&self) {
        self.is_reached.store(true, SeqCst);
        self.watcher.unpark();
    }
}

/// Why there was no load.
#[derive(Debug)]
pub enum LoadError {
    /// A connection could not be made.
    Connect {
        /// Where to.
        address: SocketAddr,
        /// Which one, counted from 0.
        connection: u32,
        /// What the system said.
        source: std::io::Error,
    },
    /// A connection was made, and the server refused or broke the conversation before it was open.
    Refused {
        /// Which one, counted from 0.
        connection: u32,
        /// The end of the sentence "the server ...".
        why: String,
    },
    /// The server's TLS is none, or not that of a server to be trusted.
    Distrusted {
        /// On which connection, counted from 0.
        connection: u32,
        /// The end of the sentence "the server ...".
        why: String,
    },
    /// Some connections were not open in time.
    NotOpen {
        /// How many were.
        open: u32,
        /// How many there are to be.
        connections: u32,
        /// How long was waited.
        patience: Duration,
    },
    /// The process may not have as many files as the connections need, and may not raise the limit.
    Files {
        /// The files that are needed.
        needed: u64,
        /// The hard limit.
        limit: u64,
    },
    /// A load has more messages than numbers on them, or takes longer than the times on them.
    TooMuch,
    /// A closed loop waits for answers, and there are none: messages arrive elsewhere.
    Unanswered,
    /// The user asked to stop before the first message.
    Interrupted,
    /// The system refused something else: what, and its words.
    System(&'static str, std::io::Error),
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Connect { address, connection, source } => {
                write!(f, "connection {connection} to {address} could not be made: {source}")?;
                match source.kind() {
                    ErrorKind::ConnectionRefused => write!(f, "; start the server there first"),
                    ErrorKind::AddrNotAvailable => {
                        write!(f, "; give fewer connections than this machine has ports")
                    }
                    _ => Ok(()),
                }
            }
            LoadError::Refused { connection, why } => write!(
                f,
                "before connection {connection} was open, the server {why}; give the address of a \
                 server that speaks this protocol and accepts what was asked for"
            ),
            LoadError::Distrusted { connection, why } => {
                write!(f, "connection {connection} is not open: the server {why}")
            }
            LoadError::NotOpen { open: 0, connections, patience } => write!(
                f,
                "the server takes connections and leaves them unanswered: none of {connections} is \
                 open after {patience:?}; give the address of a server that speaks this protocol"
            ),
            LoadError::NotOpen { open, connections, patience } => write!(
                f,
                "{open} of {connections} connections are open, and no other was within \
                 {patience:?}; give fewer, or wait longer"
            ),
            LoadError::Files { needed, limit } => write!(
                f,
                "this load needs {needed} open files, and the process may have {limit}; raise the \
                 hard limit with 'ulimit -Hn {needed}', or give fewer connections"
            ),
            LoadError::TooMuch => write!(
                f,
                "this load is too long: give at most {MESSAGES_MAX} messages and {} hours",
                LOAD_NS_MAX / 3_600_000_000_000
            ),
            LoadError::Unanswered => f.write_str(
                "no message is answered, so nothing limits how many are under way; give a rate, \
                 or no such limit",
            ),
            LoadError::Interrupted => f.write_str("stopped before the first message"),
            LoadError::System(what, source) => write!(f, "{what}: {source}"),
        }
    }
}

impl std::error::Error for LoadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            LoadError::Connect { source, .. } | LoadError::System(_, source) => Some(source),
            _ => None,
        }
    }
}

/// Loads a server: opens all connections, then sends until the load's end, and waits for what is
/// under way. It blocks until then.
///
/// # Errors
/// Fails if the load could not begin, or the system fails. Whatever the server does after the start
/// is no error, but in [`Account::ending`] and the counts.
pub fn load<S: Scenario>(load: &Load, scenario: &S, watch: &Watch) -> Result<Account, LoadError> {
    check(load, scenario)?;
    system::allow_files(scenario.connections(), load.threads.get())?;
    let shared = Shared::new(load, scenario, watch);
    if let Some(ledger) = &watch.ledger {
        ledger.begin(load.threads);
    }
    let records = std::thread::scope(|scope| {
        let run = |thread: u32| {
            let shared = &shared;
            Builder::new().name(format!("load {thread}")).spawn_scoped(scope, move || {
                let _guard = EndOnPanic(shared);
                Thread::run(load, scenario, shared, thread)
            })
        };
        let mut threads = Vec::new();
        for thread in 0..load.threads.get() {
            match run(thread) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    shared.end(Over::Failed(LoadError::System("no thread can be had", error)));
                }
            }
        }
        let joined = threads
            .into_iter()
            .map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<Record>>()
    });
    match shared.into_over() {
        Over::Failed(error) => Err(error),
        over => Ok(Record::seen(records, over, load.tls.as_ref(), scenario.arrivals_a_message())),
    }
}

/// Asks the kernel whether it could encrypt.
fn kernel_tls() -> KernelTls {
    match system::has_tls() {
        Ok(()) => KernelTls::NotUsed,
        Err(error) => KernelTls::Unavailable { why: error.to_string() },
    }
}

/// Refuses what cannot be loaded, whatever the server.
///
/// # Errors
/// Fails with [`LoadError::TooMuch`], [`LoadError::Unanswered`] or [`LoadError::Files`].
pub fn check<S: Scenario>(load: &Load, scenario: &S) -> Result<(), LoadError> {
    let is_too_much = match load.end {
        End::Sends(sends) => sends > MESSAGES_MAX,
        End::Ns(end_ns) => end_ns > LOAD_NS_MAX,
    };
    let waits = matches!(load.pace, Pace::Closed { in_flight: Some(_) });
    if is_too_much {
        return Err(LoadError::TooMuch);
    }
    if waits && !scenario.is_answered() {
        return Err(LoadError::Unanswered);
    }
    system::files(scenario.connections(), load.threads.get()).map(drop)
}
