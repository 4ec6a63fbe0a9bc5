//! A connection to the daemon, and the barriers that are made with it.

use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering, fence};
use std::time::{Duration, Instant};

use super::connect::Connection;
use super::errors::{Stale, Unavailable};
use super::layout::{DEFAULT_SOCKET, MAGIC, VERSION, WAKE_ME, WAKE_ME_VIRTUAL};
use super::mapping::Shared;
use super::progress::{ObservedView, Progress};
use super::sleep::{now_ns, sleep_on};
use super::ticket::{Mark, Ticket, VirtualTicket};
use super::view::{Age, View};
use super::{CheckIns, CpuSet};

/// No sleep is longer, so that a wake-up that does not come is no more than a delay.
const LONGEST_SLEEP_NS: u64 = 5_000_000;

/// A request to be woken is said again after so many sleeps.
const NAPS_PER_REQUEST: u32 = 8;

/// A connection to `barrierd`. One a process is enough: all its methods take `&self`.
///
/// Cost: [`begin`](Self::begin) is a fence and a look at the clock, 30 to 50 ns;
/// [`poll`](Self::poll) reads one cache line a CPU. Neither calls the kernel. It holds one
/// descriptor, its connection, and nothing that outlives the daemon in the kernel.
///
/// After a fork, parent and child may both go on with it.
#[derive(Debug)]
pub struct Client {
    connection: Connection,
    shared: Shared,
    progress: Progress,
    /// The daemon's times are of the time namespace of this process.
    is_clock_shared: bool,
}

impl Client {
    /// Connects to the daemon of this machine.
    ///
    /// # Errors
    ///
    /// There is none, it does not answer, it is of another version, or this is no x86-64.
    pub fn connect() -> Result<Client, Unavailable> {
        Client::connect_to(Path::new(DEFAULT_SOCKET))
    }

    /// Connects to a daemon that listens elsewhere.
    ///
    /// What it says is believed. So the path must be one that only root, or somebody else whom the
    /// program trusts with its memory, can make.
    ///
    /// # Errors
    ///
    /// As for [`connect`](Self::connect).
    pub fn connect_to(path: &Path) -> Result<Client, Unavailable> {
        if cfg!(miri) || !cfg!(all(target_arch = "x86_64", target_os = "linux")) {
            return Err(Unavailable::Architecture);
        }
        let (connection, parts) = Connection::open(path)?;
        let shared = Shared::new(parts.slots.as_fd(), parts.page.as_fd(), parts.cpus)
            .map_err(|source| Unavailable::Mapping { doing: "mapping it", source })?;
        let header = shared.view().header;
        // Relaxed: these were written before the descriptors were sent.
        let namespace = header.time_namespace.load(Ordering::Relaxed);
        let magic = header.magic.load(Ordering::Relaxed);
        let version = header.version.load(Ordering::Relaxed);
        let cpus = header.cpus.load(Ordering::Relaxed) as usize;
        if magic == MAGIC && version != VERSION {
            return Err(Unavailable::Version { path: path.to_path_buf(), version });
        }
        if (magic, cpus) != (MAGIC, parts.cpus) {
            return Err(Unavailable::NotBarrierd { path: path.to_path_buf() });
        }
        let is_clock_shared = time_namespace() == Some(namespace);
        Ok(Client { connection, shared, progress: Progress::default(), is_clock_shared })
    }

    #[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
    pub(super) fn of_parts(connection: Connection, shared: Shared) -> Client {
        Client { connection, shared, progress: Progress::default(), is_clock_shared: true }
    }

    /// Begins a barrier for all CPUs: by the clock where that can be compared with the daemon's,
    /// else by counts.
    pub fn begin(&self) -> Ticket {
        self.begin_ticket(None, None, self.is_clock_shared && self.view().margin_ns().is_some())
    }

    /// Begins a barrier for the threads that run on some CPUs only. The caller must know that none
    /// of them runs elsewhere, at any time from its last store before the barrier on.
    pub fn begin_on(&self, set: &CpuSet) -> Ticket {
        let is_by_clock = self.is_clock_shared && self.view().margin_ns().is_some();
        self.begin_ticket(Some(set.clone()), None, is_by_clock)
    }

    /// Begins a barrier that takes check-ins of threads with a CPU of their own.
    pub fn begin_with(&self, set: Option<&CpuSet>, check_ins: &CheckIns) -> Ticket {
        let is_by_clock = self.is_clock_shared && self.view().margin_ns().is_some();
        self.begin_ticket(set.cloned(), Some(check_ins), is_by_clock)
    }

    /// Begins a barrier that compares counts, not times. It needs no clock at all and can be done
    /// sooner, by the margin; it reads one cache line a CPU now.
    pub fn begin_by_counts(&self) -> Ticket {
        self.begin_ticket(None, None, false)
    }

    fn begin_ticket(
        &self,
        set: Option<CpuSet>,
        check_ins: Option<&CheckIns>,
        is_by_clock: bool,
    ) -> Ticket {
        // SeqCst: what the caller has stored is visible before anything below is read: step 2.
        fence(Ordering::SeqCst);
        let began_ns = now_ns();
        let mark =
            if is_by_clock { Mark::Time(began_ns) } else { Mark::Counts(self.view().counts()) };
        let check_ins = check_ins.map(|check_ins| (check_ins.clone(), check_ins.look()));
        Ticket { mark, began_ns, set, check_ins }
    }

    /// Whether the barrier is complete. The first yes counts, and the caller remembers it: a CPU
    /// that was idle when asked about and wakes within the clocks' margin makes a later answer no.
    ///
    /// # Errors
    ///
    /// The daemon has ended: the barrier may be complete, and nothing tells so. Or it is not, and
    /// something is in the way: a CPU was silent for 100 ms.
    pub fn poll(&self, ticket: &Ticket) -> Result<bool, Stale> {
        self.pending(ticket).map(|pending| pending.is_none())
    }

    /// The first CPU for which the barrier is not complete.
    fn pending(&self, ticket: &Ticket) -> Result<Option<usize>, Stale> {
        let view = self.view();
        let pending = view.pending_from(0, ticket);
        // After the flags: they were true if the daemon lives now.
        if self.has_ended() {
            return Err(Stale::Ended);
        }
        let Some(cpu) = pending else { return Ok(None) };
        let age_ns = now_ns().saturating_sub(ticket.began_ns);
        match view.why_pending(cpu, ticket, age_ns) {
            Some(stale) => Err(stale),
            None => Ok(Some(cpu)),
        }
    }

    /// Waits until the barrier is complete, asleep: `Ok(false)` if the deadline came first.
    ///
    /// # Errors
    ///
    /// As for [`poll`](Self::poll).
    pub fn wait(&self, ticket: &Ticket, deadline: Option<Instant>) -> Result<bool, Stale> {
        for naps in 0.. {
            let Some(cpu) = self.pending(ticket)? else { return Ok(true) };
            let word = &self.view().words[cpu].futex;
            // Acquire: a change that comes after this load ends the sleep below.
            let seen = word.load(Ordering::Acquire);
            if naps % NAPS_PER_REQUEST == 0 {
                self.connection.send(WAKE_ME);
            }
            if self.view().pending_from(cpu, ticket) != Some(cpu) {
                continue;
            }
            let Some(at_most_ns) = sleep_ns(deadline) else { return Ok(false) };
            sleep_on(word, seen, at_most_ns);
        }
        Ok(false)
    }

    /// Begins a barrier in the daemon's virtual time: a fence and one load, no clock.
    ///
    /// Virtual time is the number of the daemon's round. A CPU's virtual time is the latest round
    /// after whose begin it certainly passed a fence, so a barrier ends after two rounds, and later
    /// than by the clock. The daemon makes rounds only while somebody waits.
    pub fn begin_virtual(&self) -> VirtualTicket {
        // SeqCst: what the caller has stored is visible before the round is read. A round with a
        // higher number then begins after that.
        fence(Ordering::SeqCst);
        VirtualTicket { round: self.view().header.virtual_time.load(Ordering::Acquire) }
    }

    /// Whether the barrier is complete. If not, this asks the daemon for a round, and looks at the
    /// clock.
    ///
    /// # Errors
    ///
    /// It is not, and something is in the way: the daemon has ended, or virtual time stood still
    /// for 100 ms after a request of this client, as the daemon was stopped or a CPU silent.
    pub fn poll_virtual(&self, ticket: VirtualTicket) -> Result<bool, Stale> {
        if self.is_virtually_done(ticket) {
            return Ok(true);
        }
        let seen = ObservedView::in_view(self.view());
        self.connection.send(WAKE_ME_VIRTUAL);
        if self.has_ended() {
            return Err(Stale::Ended);
        }
        match self.progress.why_pending(self.view(), seen, now_ns()) {
            // What has come since it was asked about counts.
            Some(stale) if !self.is_virtually_done(ticket) => Err(stale),
            Some(_) => Ok(true),
            None => Ok(false),
        }
    }

    fn is_virtually_done(&self, ticket: VirtualTicket) -> bool {
        // Acquire: what the CPUs did before their fences is visible to who has seen the round.
        self.view().header.oldest_virtual_time.load(Ordering::Acquire) > ticket.round
    }

    /// Waits until the barrier is complete, asleep: `Ok(false)` if the deadline came first. Without
    /// a deadline it ends as well: by an error if virtual time stands still.
    ///
    /// # Errors
    ///
    /// As for [`poll_virtual`](Self::poll_virtual).
    pub fn wait_virtual(
        &self,
        ticket: VirtualTicket,
        deadline: Option<Instant>,
    ) -> Result<bool, Stale> {
        loop {
            let word: &AtomicU32 = &self.view().header.futex;
            // Acquire: a change that comes after this load ends the sleep below.
            let seen = word.load(Ordering::Acquire);
            if self.poll_virtual(ticket)? {
                return Ok(true);
            }
            let Some(at_most_ns) = sleep_ns(deadline) else { return Ok(false) };
            sleep_on(word, seen, at_most_ns);
        }
    }

    /// What is known of each CPU now, by number. Once the daemon [has ended](Self::has_ended),
    /// that no longer changes.
    pub fn ages(&self) -> Vec<Age> {
        self.view().ages(now_ns())
    }

    /// How many times a program ran on each CPU, by number.
    pub fn events(&self) -> Vec<u64> {
        self.view().counts().into_vec()
    }

    /// How many times each CPU became idle, by number.
    pub fn idle_counts(&self) -> Vec<u64> {
        // Relaxed: for people.
        let slots = self.view().slots.iter();
        slots.map(|slot| slot.idle_count.load(Ordering::Relaxed)).collect()
    }

    /// How many CPUs this machine can have: the highest possible number, plus one.
    pub fn cpus(&self) -> usize {
        self.view().cpus()
    }

    /// The CPUs that the kernel does not interrupt at regular times.
    pub fn tickless(&self) -> CpuSet {
        let words = self.view().words.iter().enumerate();
        words.filter(|(_, words)| words.is_tickless()).map(|(cpu, _)| cpu).collect()
    }

    /// By how much the clocks of two CPUs can differ at most; nothing if barriers go by counts.
    pub fn margin_ns(&self) -> Option<u64> {
        self.view().margin_ns().filter(|_| self.is_clock_shared)
    }

    /// Grows when CPUs come or go, and when the clock loses its standing.
    pub fn generation(&self) -> u64 {
        self.view().header.generation.load(Ordering::Acquire)
    }

    /// The daemon's process, in its own process namespace.
    pub fn daemon_pid(&self) -> u32 {
        // Relaxed: written before the page was handed out.
        self.view().header.pid.load(Ordering::Relaxed)
    }

    /// Whether the daemon has ended. One load.
    pub fn has_ended(&self) -> bool {
        !self.view().header.is_held()
    }

    fn view(&self) -> View<'_> {
        self.shared.view()
    }
}

/// How long to sleep; nothing once the deadline has come.
fn sleep_ns(deadline: Option<Instant>) -> Option<u64> {
    let longest = Duration::from_nanos(LONGEST_SLEEP_NS);
    let left = deadline.map_or(longest, |deadline| deadline.duration_since(Instant::now()));
    (!left.is_zero()).then(|| left.min(longest).as_nanos() as u64)
}

/// The inode of this process's time namespace: 0 where the kernel has none, nothing where it cannot
/// be told.
fn time_namespace() -> Option<u64> {
    match std::fs::metadata("/proc/self/ns/time") {
        Ok(metadata) => Some(metadata.ino()),
        Err(_) => std::fs::metadata("/proc/self/ns").ok().map(|_| 0),
    }
}

#[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
mod tests {
    use super::*;
    use crate::interrupts::made::Daemon;

    #[test]
    fn a_virtual_barrier_does_not_wait_for_ever_for_a_daemon_that_was_stopped() {
        // It keeps the connection and does nothing.
        let daemon = Daemon::new(2);
        let client = daemon.client();
        let ticket = client.begin_virtual();
        assert_eq!(client.poll_virtual(ticket), Ok(false), "it was asked only now");
        let end = Instant::now() + Duration::from_secs(20);
        for _ in 0..2 {
            let result = client.wait_virtual(ticket, Some(end));
            assert!(matches!(result, Err(Stale::Unanswered { .. })), "{result:?}");
        }
    }

    #[test]
    fn an_idle_flag_of_a_daemon_that_has_ended_completes_nothing() {
        let mut daemon = Daemon::new(1);
        let client = daemon.client();
        daemon.idle(0);
        let tickets = [client.begin(), client.begin_by_counts()];
        assert_eq!(tickets.each_ref().map(|ticket| client.poll(ticket)), [Ok(true); 2]);
        daemon.end();
        for ticket in &tickets {
            assert_eq!(client.poll(ticket), Err(Stale::Ended));
            assert_eq!(client.wait(ticket, None), Err(Stale::Ended));
        }
    }
}
