//! The loop: sleeps until a CPU has passed what somebody waits for, then says so.

use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::path::Path;
use std::time::Duration;

use tiebreak_sync::interrupts::CpuSet;
use tiebreak_sync::interrupts::layout::{Hello, VERSION, now_ns};

use crate::checked;
use crate::kernel::{Kernel, Refused};
use crate::machine::Machine;
use crate::page::Page;
use crate::server::{Requests, Server};
use crate::signals::Signals;
use crate::survey::{Survey, survey};

/// No two rounds are closer together, and no two greetings of clients: they cannot keep the daemon
/// busier than that.
const STEP_NS: u64 = 100_000;

/// While somebody waits, a round at least so often, whatever the kernel reports.
const ROUND_MS: i32 = 10;

/// While there are clients, a look at the lists of CPUs and at the clock so often.
const LOOK_MS: i32 = 1000;

/// While the daemon has something to do, such looks are as close together as this, whatever wakes
/// it; not closer.
const LOOK_NS: u64 = 50_000_000;

/// A client that still waits asks again well within this time; else it has given up.
const GIVEN_UP_NS: u64 = 200_000_000;

/// Where the system's lists are.
pub const SYSTEM: &str = "/sys/devices/system";

/// Adds what was tried to an error.
fn doing<T>(doing: &str, result: io::Result<T>) -> Result<T, Refused> {
    result.map_err(|error| format!("{doing}: {error}").into())
}

/// The programs attached and all CPUs visited: what the daemon and `check` begin with.
#[derive(Debug)]
pub struct Prepared {
    /// What the system says.
    pub machine: Machine,
    /// The programs.
    pub kernel: Kernel,
    /// What the visits found.
    pub survey: Survey,
}

impl Prepared {
    /// Attaches the programs, then visits the CPUs.
    ///
    /// # Errors
    ///
    /// The kernel refuses, or the lists of CPUs cannot be read.
    pub fn new() -> Result<Prepared, Refused> {
        if !cfg!(target_arch = "x86_64") {
            return Err("barrierd's barriers are proven for x86-64 only: nothing to do here".into());
        }
        let machine = doing("reading the lists of CPUs", Machine::open(Path::new(SYSTEM)))?;
        let kernel = Kernel::attach(machine.slots())?;
        let online = doing("reading the list of CPUs", machine.online())?;
        let survey = survey(&online, kernel.slots());
        Ok(Prepared { machine, kernel, survey })
    }

    /// The margin between clocks, where the kernel's clock is one that CPUs have in common.
    pub fn margin_ns(&self) -> Option<u64> {
        self.survey.margin_ns.filter(|_| self.machine.has_common_clock())
    }

    /// CPUs without regular interrupts: those that the kernel names, and those that were silent.
    pub fn tickless(&self) -> CpuSet {
        self.machine.tickless.iter().chain(self.survey.silent.iter()).collect()
    }
}

/// The daemon, listening.
#[derive(Debug)]
pub struct Daemon {
    /// First, so that it is dropped first: it says that the daemon has ended, and only then may the
    /// programs be detached.
    page: Page,
    prepared: Prepared,
    server: Server,
    signals: Signals,
    events: OwnedFd,
    clock: Option<String>,
    waiting: Waiting,
    last_round_ns: u64,
    last_accept_ns: u64,
    last_look_ns: u64,
}

/// What clients wait for.
#[derive(Clone, Copy, Debug, Default)]
struct Waiting {
    /// Until all stamps are later than this; 0 if no client waits.
    watermark_ns: u64,
    /// Until all virtual times are greater.
    virtual_time: Option<u64>,
    /// When the watermark was set.
    set_ns: u64,
    /// When a client last asked.
    asked_ns: u64,
    /// One has asked after the watermark was set.
    is_asked_again: bool,
}

impl Waiting {
    /// A client asks; whether the watermark must be set for it at once.
    ///
    /// It is not moved by each: every event of every CPU would become a report, and clients could
    /// keep the machine busy. Who asks in between gets the next one, or is woken by this one.
    fn ask(&mut self, now_ns: u64) -> bool {
        self.asked_ns = now_ns;
        let is_due = now_ns.saturating_sub(self.set_ns) >= ROUND_MS as u64 * 1_000_000;
        let is_at_once = self.watermark_ns == 0 || is_due;
        self.is_asked_again |= !is_at_once;
        is_at_once
    }

    fn set(&mut self, now_ns: u64, margin_ns: u64) {
        self.watermark_ns = now_ns + margin_ns;
        self.set_ns = now_ns;
        self.is_asked_again = false;
    }
}

impl Daemon {
    /// Makes the page and the socket. For clients the daemon lives until it is dropped, or the
    /// calling thread ends: no other should run it.
    ///
    /// # Errors
    ///
    /// One of them cannot be made.
    pub fn new(prepared: Prepared, socket: &Path, signals: Signals) -> Result<Daemon, Refused> {
        let cpus = prepared.machine.slots();
        let surveyed = &prepared.survey.surveyed;
        let page = Page::new(cpus, &prepared.tickless(), surveyed, prepared.margin_ns());
        let page = doing("making the daemon's page", page)?;
        let server = Server::listen(socket)?;
        // SAFETY: the descriptor is new and ours.
        let events = unsafe {
            let set = checked(libc::epoll_create1(libc::EPOLL_CLOEXEC));
            OwnedFd::from_raw_fd(doing("making a set of descriptors", set)?)
        };
        let clock = prepared.machine.clock();
        let waiting = Waiting::default();
        let mut daemon = Daemon {
            prepared,
            page,
            server,
            signals,
            events,
            clock,
            waiting,
            last_round_ns: 0,
            last_accept_ns: 0,
            last_look_ns: 0,
        };
        for descriptor in [
            daemon.signals.as_fd().as_raw_fd(),
            daemon.server.listener.as_raw_fd(),
            daemon.prepared.kernel.ring.as_fd().as_raw_fd(),
        ] {
            doing("watching a descriptor", daemon.watch(descriptor))?;
        }
        doing("reading the list of CPUs", daemon.look())?;
        Ok(daemon)
    }

    /// Works until a signal asks it to end.
    ///
    /// # Errors
    ///
    /// Waiting failed, which the kernel does only if descriptors are wrong.
    pub fn run(&mut self) -> io::Result<()> {
        loop {
            let ready = self.wait()?;
            // Not only when nothing came: somebody may always wait.
            self.look_if_due();
            let (mut asked, mut is_round_due) = (Requests::default(), self.is_somebody_waiting());
            for descriptor in ready {
                if descriptor == self.signals.as_fd().as_raw_fd() {
                    return Ok(());
                } else if descriptor == self.server.listener.as_raw_fd() {
                    self.accept();
                } else if descriptor == self.prepared.kernel.ring.as_fd().as_raw_fd() {
                    is_round_due |= self.prepared.kernel.ring.drain();
                } else if let Some(more) = self.server.read(descriptor) {
                    asked.wake |= more.wake;
                    asked.wake_virtual |= more.wake_virtual;
                }
            }
            if asked != Requests::default() {
                self.note(asked);
                is_round_due = true;
            }
            if is_round_due {
                self.round();
            }
        }
    }

    fn is_somebody_waiting(&self) -> bool {
        self.waiting.watermark_ns != 0
    }

    /// Takes one who wants to connect, and the next a step later. They find lists of CPUs that were
    /// looked at in this turn of the loop, or shortly before.
    fn accept(&mut self) {
        keep_step(self.last_accept_ns);
        self.last_accept_ns = now_ns();
        let hello = Hello { version: VERSION, cpus: self.prepared.machine.slots() as u32 };
        let descriptors = [self.prepared.kernel.slots_map.as_fd(), self.page.as_fd()];
        if let Some(client) = self.server.accept(hello, descriptors) {
            // Who cannot be watched is not woken, and polls.
            let _ = self.watch(client);
        }
    }

    /// Notes what clients wait for. What they have written, they wrote before they asked.
    fn note(&mut self, asked: Requests) {
        let now_ns = now_ns();
        if self.waiting.ask(now_ns) {
            self.set_watermark(now_ns);
        }
        if asked.wake_virtual {
            // Relaxed: only this thread writes it.
            let round = self.page.header().virtual_time.load(std::sync::atomic::Ordering::Relaxed);
            self.waiting.virtual_time = Some(round);
        }
    }

    fn set_watermark(&mut self, now_ns: u64) {
        self.waiting.set(now_ns, self.page.margin_ns().unwrap_or(0));
        self.prepared.kernel.set_watermark(self.waiting.watermark_ns);
    }

    /// Publishes, until what is waited for has come or the programs will report.
    fn round(&mut self) {
        keep_step(self.last_round_ns);
        loop {
            let now_ns = now_ns();
            let found = self.page.publish(self.prepared.kernel.slots(), now_ns);
            self.last_round_ns = now_ns;
            let watermark_ns = self.waiting.watermark_ns;
            let is_before = found.oldest_busy_ns.is_some_and(|oldest_ns| oldest_ns <= watermark_ns);
            if !self.is_somebody_waiting() || is_before {
                break;
            }
            // All stamps are late enough; virtual times need one more interrupt now and then, and
            // so does who has asked since.
            let is_done =
                self.waiting.virtual_time.is_none_or(|time| found.oldest_virtual_time > time);
            if is_done && !self.waiting.is_asked_again {
                self.rest();
                break;
            }
            self.set_watermark(now_ns);
        }
        if self.is_somebody_waiting() {
            let waited_ns = self.last_round_ns.saturating_sub(self.waiting.asked_ns);
            if waited_ns > GIVEN_UP_NS {
                self.rest();
            }
        }
    }

    /// No client waits any more.
    fn rest(&mut self) {
        self.waiting = Waiting::default();
        self.prepared.kernel.set_watermark(0);
    }

    fn look_if_due(&mut self) {
        if now_ns().saturating_sub(self.last_look_ns) >= LOOK_NS {
            // The next look may succeed.
            let _ = self.look();
        }
    }

    /// Looks at the lists of CPUs and at the kernel's clock.
    fn look(&mut self) -> io::Result<()> {
        self.last_look_ns = now_ns();
        let clock = self.prepared.machine.clock();
        if clock != self.clock {
            // Even if the new one is as good: times before and after it were not compared.
            self.page.withdraw_clock();
            self.clock = clock;
        }
        let (slots, machine) = (self.prepared.kernel.slots(), &self.prepared.machine);
        self.page.say_offline(slots, || machine.online())
    }

    fn watch(&self, descriptor: RawFd) -> io::Result<()> {
        let mut event = libc::epoll_event { events: libc::EPOLLIN as u32, u64: descriptor as u64 };
        let set = self.events.as_raw_fd();
        // SAFETY: the structure outlives the call.
        let result = unsafe { libc::epoll_ctl(set, libc::EPOLL_CTL_ADD, descriptor, &mut event) };
        checked(result).map(drop)
    }

    /// Waits for descriptors that have something to be read.
    fn wait(&mut self) -> io::Result<Vec<RawFd>> {
        let timeout_ms = match (self.is_somebody_waiting(), self.server.clients.len()) {
            (true, _) => ROUND_MS,
            (false, 0) => -1,
            (false, _) => LOOK_MS,
        };
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; 64];
        // SAFETY: the kernel writes at most so many structures.
        let count = unsafe {
            let (set, room) = (self.events.as_raw_fd(), events.len() as i32);
            libc::epoll_wait(set, events.as_mut_ptr(), room, timeout_ms)
        };
        match checked(count) {
            Ok(count) => {
                Ok(events[..count as usize].iter().map(|event| event.u64 as RawFd).collect())
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Vec::new()),
            Err(error) => Err(error),
        }
    }
}

/// Sleeps for what is left of the shortest step since `last_ns`.
fn keep_step(last_ns: u64) {
    let left_ns = (last_ns + STEP_NS).saturating_sub(now_ns());
    if left_ns > 0 {
        std::thread::sleep(Duration::from_nanos(left_ns));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_watermark_moves_seldom_however_often_clients_ask() {
        const MS: u64 = 1_000_000;
        let (mut waiting, mut moves) = (Waiting::default(), 0);
        // One asks each 10 us for a second.
        for now_ns in (0..100_000).map(|step| 5 * MS + step * 10_000) {
            if waiting.ask(now_ns) {
                waiting.set(now_ns, 7);
                moves += 1;
            }
            assert_eq!(waiting.asked_ns, now_ns);
        }
        assert_eq!(moves, 1000 / ROUND_MS);
        assert!(waiting.is_asked_again, "and is not forgotten");
    }

    #[test]
    fn the_first_who_asks_does_not_wait() {
        let mut waiting = Waiting::default();
        assert!(waiting.ask(5));
        waiting.set(5, 7);
        assert_eq!((waiting.watermark_ns, waiting.is_asked_again), (12, false));
        assert!(!waiting.ask(6) && waiting.is_asked_again);
    }
}
