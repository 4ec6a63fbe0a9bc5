//! When each CPU was last interrupted: the client of `barrierd`.
//!
//! The daemon `barrierd` attaches two small programs to the kernel: one to interrupts, one to
//! context switches. Each run of either executes a full fence on its CPU and then shows the time,
//! in a line of memory that everybody may read. Who has written something and must know that all
//! others will see it, or have already shown what they did before, waits until every CPU has run a
//! program. That disturbs no program: the interrupts come anyway, mostly within a tick (1 to 10
//! ms).
//!
//! ```
//! use std::time::{Duration, Instant};
//! use tiebreak_sync::interrupts::Client;
//!
//! match Client::connect() {
//!     Ok(client) => {
//!         let ticket = client.begin();
//!         // Other work fits in here; `client.poll(&ticket)` asks without waiting.
//!         match client.wait(&ticket, Some(Instant::now() + Duration::from_secs(1))) {
//!             Ok(is_done) => println!("all have passed a fence: {is_done}"),
//!             Err(stale) => println!("{stale}"),
//!         }
//!     }
//!     Err(unavailable) => println!("{unavailable}"),
//! }
//! ```
//!
//! where no daemon runs prints:
//!
//! ```text
//! no barrierd listens at /run/barrierd/socket: No such file or directory (os error 2); start one
//! with `barrierd run`, as root
//! ```
//!
//! # The theorem
//!
//! Let a reader do `store X; load Y`, with nothing in between but the compiler's word not to swap
//! them, on any CPUs of the ticket's set. Let another thread do `store Y; t = begin()`, and once
//! `poll(&t)` is `Ok(true)`, `load X`. Then at least one of them sees the other's store.
//!
//! # The argument
//!
//! Of x86-TSO we need: each CPU's stores become visible to all others in the order of its program;
//! a locked instruction or fence first makes visible what its CPU has stored before; nothing that
//! comes after it is loaded before.
//!
//! 1. Each run of a program exchanges the CPU's word, by a locked instruction. Call that the run's
//!    *fence*. It is on that CPU, between two instructions of whatever was interrupted or switched.
//! 2. `begin` is a full fence, then a look at the clock (or at the counts of all slots). So the
//!    store to Y is visible before the time is read, or the counts are.
//! 3. If a fence lies between X and Y, the reader has a fence, the other has one, and the theorem
//!    is that of store buffering. Every context switch has one, so what remains is X and Y on one
//!    CPU c with no run in between.
//! 4. *The stamp of c is later than the ticket.* The program reads the clock and then executes the
//!    fence, as what it exchanges depends on the time. By *later* we mean by more than clocks of
//!    two CPUs may differ, so the fence came after Y was visible. If X and Y come after the fence,
//!    the load of Y sees the store. If they come before, X was visible at the fence, and so it is
//!    to us, who have seen the fence's result. By the counts, what
//!    we have seen is not the fence but the count's store, which the program does before it. The
//!    count changed after it was looked at, so after Y was visible, and the fence comes
//!    after that: if X and Y come after the fence, the load of Y sees the store. If X and Y come
//!    before the run, X was stored before the count, and stores become visible in their order: who
//!    has seen the count sees X. No clock is needed.
//! 5. *c is idle, seen after the ticket's fence.* The word says so from the fence of the switch to
//!    the idle task until that of the switch away from it, and no reader runs on c in between. X
//!    and Y before the first fence: X was visible at it. After the second: it comes after we saw
//!    the word, so after Y was visible, and the load of Y comes after it.
//! 6. *c is offline*: the daemon saw the slot at a value and then that c was offline; the slot
//!    still has this value. A CPU that comes up switches tasks before it runs any program of a
//!    user, which changes the slot. So it is as in 5. That includes CPUs which never were online.
//! 7. *A thread that owns c checked in*: its locked instruction is as good as a run's fence, after
//!    Y was visible since the word was looked at after that; no other reader runs on c.
//!
//! # What is assumed, and who must hold it
//!
//! - The CPU keeps x86-TSO. On others [`Client::connect`] refuses.
//! - The program on context switches stays attached while its flags are trusted. The daemon alone
//!   keeps it so, and says that it lives by a robust futex in its page, which its thread holds. The
//!   kernel takes the thread's number out of that word when the thread dies by whatever means, in
//!   `exit_mm`, before `exit_files` closes the descriptor that keeps the program attached; a daemon
//!   that ends in order does both in this order too. A client looks at the word after it has looked
//!   at all flags, and x86 loads in order. If the word still names the thread, the program was
//!   attached when the flags were read; if not, the barrier is not complete, whatever they say. A
//!   switch that runs no program has seen the program detached, so it comes after that look. So
//!   what is loaded in the thread that it begins is loaded after Y was visible.
//! - The kernel can write the word. The list by which it finds it, and the word, are in shared
//!   memory that is locked: what kills for want of memory reaps private memory of a process before
//!   its end, and no shared one.
//! - Tickets by the clock: clocks differ by at most the margin. The daemon measures an upper bound
//!   between the CPUs that are online when it starts, and says which were not: their stamps are
//!   not compared. That a CPU which goes and comes back has its old clock, the kernel holds. What
//!   is measured is the clock that processes read; programs in the kernel read one that is
//!   switched over slightly later whenever the kernel corrects its rate, and goes on at the old
//!   rate until then. The margin has 10 us for that: enough for 500 ppm, the most that time daemons
//!   set, over 20 ms. The kernel promises no bound. The daemon withdraws the margin when the kernel
//!   changes its clock, or a CPU that it did not survey comes up; it sees that within a second, 50
//!   ms while somebody waits. Then, and in another time namespace, tickets go by counts.
//! - Tickets by counts: nothing of clocks. Those of [`barrier`](crate::barrier) are of this kind.
//! - What listens is a daemon. Who may write to `/run`, and to the socket's folder there, holds
//!   that: root, or the user of its own under which the system's manager starts the daemon. For
//!   other places see [`Client::connect_to`].
//! - A thread that checks in owns its CPU. The caller of [`CheckIns::attend`] holds that.
//!
//! How long it takes is no matter of safety: if a CPU is silent for 100 ms, or the daemon has
//! ended, [`Client::poll`] says so, and the caller takes another way.

mod check_in;
mod connect;
mod cpu_set;
pub mod layout;
pub mod mapping;
#[cfg(all(test, target_arch = "x86_64", not(any(miri, loom))))]
pub(crate) mod tests;
mod view;

pub use check_in::{Attendance, CheckIns, NotAttended};
pub use cpu_set::{CpuSet, NotCpus};
pub use view::Age;

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::atomic::{Ordering, fence};
use std::time::{Duration, Instant};

use crate::futex;
use connect::Parts;
use layout::{
    DEFAULT_SOCKET, Header, MAGIC, VERSION, WAKE_ME, WAKE_ME_VIRTUAL, now_ns, page_bytes,
    slot_bytes, time_namespace,
};
use mapping::{Access, Mapping};
use view::{ObservedView, Progress, View};

/// Why this process cannot use the daemon.
#[derive(Debug, thiserror::Error)]
pub enum Unavailable {
    /// The argument for the barrier holds on x86-64 under Linux only.
    #[error("barrierd's barriers are proven for x86-64 Linux only: use another barrier here")]
    Architecture,
    /// Nothing listens at the path.
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
        VERSION
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
    /// The kernel interrupts this CPU at no regular times, as configured.
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

/// What was true when a barrier began.
#[derive(Clone, Debug)]
enum Mark {
    /// The time after the fence.
    Time(u64),
    /// The counts of all slots after the fence.
    Counts(Box<[u64]>),
}

/// A barrier that was begun by a [`Client`], and is polled there.
///
/// It may go to other threads, wait in a list, and be polled by several. With the clock it is a
/// number; without, it has one number a CPU on the heap.
#[derive(Clone, Debug)]
#[must_use = "a barrier has no effect until it is polled"]
pub struct Ticket {
    mark: Mark,
    /// On this process's clock. What it is compared with is read there too.
    began_ns: u64,
    /// Nothing stands for all CPUs.
    set: Option<CpuSet>,
    check_ins: Option<(CheckIns, Box<[u64]>)>,
}

impl Ticket {
    /// When it began, on this process's `CLOCK_MONOTONIC`.
    pub fn began_ns(&self) -> u64 {
        self.began_ns
    }

    /// Whether its end is found by clocks; if not, by counts.
    pub fn is_by_clock(&self) -> bool {
        matches!(self.mark, Mark::Time(_))
    }
}

/// A barrier that was begun in the daemon's virtual time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[must_use = "a barrier has no effect until it is polled"]
pub struct VirtualTicket {
    round: u64,
}

/// No sleep is longer, so that a wake-up that does not come is no more than a delay.
const LONGEST_SLEEP: Duration = Duration::from_millis(5);

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
    socket: UnixStream,
    slots: Mapping,
    page: Mapping,
    cpus: usize,
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
        let (socket, parts) = connect::open(path)?;
        let mut client = Client::of_parts(socket, parts)
            .map_err(|source| Unavailable::Mapping { doing: "mapping it", source })?;
        let header = client.view().header;
        // Relaxed: these were written before the descriptors were sent.
        let namespace = header.time_namespace.load(Ordering::Relaxed);
        let magic = header.magic.load(Ordering::Relaxed);
        let version = header.version.load(Ordering::Relaxed);
        let cpus = header.cpus.load(Ordering::Relaxed) as usize;
        if magic == MAGIC && version != VERSION {
            return Err(Unavailable::Version { path: path.to_path_buf(), version });
        }
        if (magic, cpus) != (MAGIC, client.cpus) {
            return Err(Unavailable::NotBarrierd { path: path.to_path_buf() });
        }
        client.is_clock_shared = time_namespace() == Some(namespace);
        Ok(client)
    }

    /// Maps what the daemon has sent, to be read.
    fn of_parts(socket: UnixStream, parts: Parts) -> io::Result<Client> {
        let (cpus, page_bytes) = (parts.cpus, page_bytes(parts.cpus));
        let page = File::from(parts.page);
        check_page(&page, page_bytes)?;
        // The kernel refuses to map more of its array than there is.
        let slots = Mapping::new(parts.slots.as_fd(), 0, slot_bytes(cpus), Access::Read)?;
        let page = Mapping::new(page.as_fd(), 0, page_bytes, Access::Read)?;
        let progress = Progress::default();
        Ok(Client { socket, slots, page, cpus, progress, is_clock_shared: true })
    }

    /// Begins a barrier for all CPUs: by the clock where that can be compared with the daemon's,
    /// else by counts.
    pub fn begin(&self) -> Ticket {
        self.begin_ticket(None, None, self.margin_ns().is_some())
    }

    /// Begins a barrier for the threads that run on some CPUs only. The caller must know that none
    /// of them runs elsewhere, at any time from its last store before the barrier on.
    pub fn begin_on(&self, set: &CpuSet) -> Ticket {
        self.begin_ticket(Some(set.clone()), None, self.margin_ns().is_some())
    }

    /// Begins a barrier that takes check-ins of threads with a CPU of their own.
    pub fn begin_with(&self, set: Option<&CpuSet>, check_ins: &CheckIns) -> Ticket {
        self.begin_ticket(set.cloned(), Some(check_ins), self.margin_ns().is_some())
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
                self.send(WAKE_ME);
            }
            if self.view().pending_from(cpu, ticket) != Some(cpu) {
                continue;
            }
            let Some(at_most) = sleep_time(deadline) else { return Ok(false) };
            futex::wait_shared(word, seen, at_most);
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
        self.send(WAKE_ME_VIRTUAL);
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
            let word = &self.view().header.futex;
            // Acquire: a change that comes after this load ends the sleep below.
            let seen = word.load(Ordering::Acquire);
            if self.poll_virtual(ticket)? {
                return Ok(true);
            }
            let Some(at_most) = sleep_time(deadline) else { return Ok(false) };
            futex::wait_shared(word, seen, at_most);
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

    /// Asks the daemon to wake this process. If that fails, it has ended, or it has so many
    /// of these to read that one more says nothing new.
    fn send(&self, message: u8) {
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the kernel reads one byte, which outlives the call. Without a signal: the program
        // may not ignore SIGPIPE.
        unsafe { libc::send(self.socket.as_raw_fd(), (&raw const message).cast(), 1, flags) };
    }

    fn view(&self) -> View<'_> {
        // SAFETY: the mappings are read here. The size of neither can be cut off: the array is the
        // kernel's, the page is sealed. All fields that another process writes are atomics; any
        // bits are valid.
        unsafe {
            View {
                slots: self.slots.slice(0, self.cpus),
                header: &self.page.slice::<Header>(0, 1)[0],
                words: self.page.slice(size_of::<Header>(), self.cpus),
            }
        }
    }
}

/// How long to sleep; nothing once the deadline has come.
fn sleep_time(deadline: Option<Instant>) -> Option<Duration> {
    let left = deadline.map_or(LONGEST_SLEEP, |at| at.duration_since(Instant::now()));
    (!left.is_zero()).then(|| left.min(LONGEST_SLEEP))
}

/// Whether the page is long enough, and sealed so that it stays so.
fn check_page(page: &File, bytes: usize) -> io::Result<()> {
    // SAFETY: numbers only.
    let seals = unsafe { libc::fcntl(page.as_raw_fd(), libc::F_GET_SEALS) };
    if seals < 0 {
        return Err(io::Error::last_os_error());
    }
    if seals & libc::F_SEAL_SHRINK == 0 || page.metadata()?.len() < bytes as u64 {
        return Err(io::Error::other("the page is too short, or may become so"));
    }
    Ok(())
}
