//! Why there is no client, and why a barrier does not come to its end.

use std::io;
use std::path::PathBuf;

/// Why this process cannot use the daemon.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The argument for the barrier holds on x86-64 under Linux only.
    #[error("barrierd's barriers are proven for x86-64 Linux only: use another barrier here")]
    Architecture,
    /// Nobody listens at the path.
    #[error("no barrierd listens at {path}: {source}; start one with `barrierd run`, as root")]
    NoDaemon {
        /// The socket's path.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The daemon closed the connection: it serves too many clients.
    #[error("barrierd turned this process away: it has as many clients as it serves")]
    TurnedAway,
    /// Somebody listens and says nothing: a daemon that was stopped, or somebody else.
    #[error("what listens at {path} does not answer: is it a barrierd that was stopped?")]
    Silent {
        /// The socket's path.
        path: PathBuf,
    },
    /// The daemon is of another version.
    #[error(
        "the barrierd at {path} speaks version {version} and this program version {}: start the \
         barrierd that belongs to this program",
        super::layout::VERSION
    )]
    Version {
        /// The socket's path.
        path: PathBuf,
        /// The daemon's.
        version: u32,
    },
    /// Who listens is no daemon.
    #[error("what listens at {path} is not barrierd: give the path of its socket")]
    NotBarrierd {
        /// The socket's path.
        path: PathBuf,
    },
    /// What the daemon sent could not be mapped.
    #[error("what barrierd sent cannot be used: {doing}: {source}")]
    Mapping {
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// Why a barrier does not come to its end by the daemon. The caller goes on by another means, or
/// polls again: a barrier that comes to its end later is as good.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// The daemon has ended or was killed.
    #[error("barrierd has ended: start it again, then connect again")]
    Ended,
    /// The daemon does not do what it was asked for: it was stopped, or gets no CPU.
    #[error("barrierd did not answer for {waited_ns} ns: was it stopped?")]
    Unanswered {
        /// For how long.
        waited_ns: u64,
    },
    /// The kernel interrupts this CPU at no regular times, as it was told to.
    #[error(
        "CPU {cpu} is tickless and was not interrupted for {waited_ns} ns: leave it out of the \
         set if no thread of yours runs there, or let its thread check in"
    )]
    Tickless {
        /// The CPU.
        cpu: usize,
        /// For how long.
        waited_ns: u64,
    },
    /// A CPU was not interrupted for too long.
    #[error("CPU {cpu} was not interrupted for {waited_ns} ns")]
    Silent {
        /// The CPU.
        cpu: usize,
        /// For how long.
        waited_ns: u64,
    },
    /// The daemon has withdrawn the clock on which the ticket was made.
    #[error("the machine's clocks no longer agree: begin again, by counts")]
    Clock,
}
