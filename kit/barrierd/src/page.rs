//! The daemon's page: what it says, and in which order it is written.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::atomic::{AtomicU32, Ordering};

use tiebreak_sync::interrupts::CpuSet;
use tiebreak_sync::interrupts::layout::{
    CpuWords, FLAG_TICKLESS, FLAG_UNSURVEYED, Header, MAGIC, NO_COMMON_CLOCK, ONLINE, Slot,
    VERSION, page_bytes, time_namespace,
};
use tiebreak_sync::interrupts::mapping::{Access, Mapping};

use crate::checked;
use crate::held::hold;

/// The page, and what the daemon saw when it last wrote it.
#[derive(Debug)]
pub struct Page {
    file: OwnedFd,
    mapping: Mapping,
    cpus: usize,
    round: u64,
    /// The slots' counts at the previous round; nothing before the first.
    seen: Vec<Option<u64>>,
    online: Option<CpuSet>,
    surveyed: CpuSet,
}

/// What a round found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// The oldest stamp of the CPUs that are neither idle nor offline; nothing if all are.
    pub oldest_busy_ns: Option<u64>,
    /// The oldest of the CPUs' virtual times.
    pub oldest_virtual_time: u64,
}

impl Page {
    /// Makes the page. Only this mapping can write it, and nothing can change its size. The
    /// margin is between the clocks of the CPUs in `surveyed`. It says that the daemon lives until
    /// it is dropped, or the calling thread ends.
    ///
    /// # Errors
    ///
    /// The kernel has no memory files that can be sealed (before Linux 5.1), no robust futexes, or
    /// does not lock memory.
    pub fn new(
        cpus: usize,
        tickless: &CpuSet,
        surveyed: &CpuSet,
        margin_ns: Option<u64>,
    ) -> io::Result<Page> {
        let (file, mapping) = sealed_memory(page_bytes(cpus))?;
        let page = Page {
            file,
            mapping,
            cpus,
            round: 0,
            seen: vec![None; cpus],
            online: None,
            surveyed: surveyed.clone(),
        };
        let header = page.header();
        // Relaxed throughout: no client has the page yet, and it is sent through the kernel.
        header.magic.store(MAGIC, Ordering::Relaxed);
        header.version.store(VERSION, Ordering::Relaxed);
        header.cpus.store(cpus as u32, Ordering::Relaxed);
        header.margin_ns.store(margin_ns.unwrap_or(NO_COMMON_CLOCK), Ordering::Relaxed);
        header.time_namespace.store(time_namespace().unwrap_or(0), Ordering::Relaxed);
        header.pid.store(std::process::id(), Ordering::Relaxed);
        for (cpu, words) in page.words().iter().enumerate() {
            words.offline_state.store(ONLINE, Ordering::Relaxed);
            let tickless = if tickless.contains(cpu) { FLAG_TICKLESS } else { 0 };
            let unsurveyed = if surveyed.contains(cpu) { 0 } else { FLAG_UNSURVEYED };
            words.flags.store(tickless | unsurveyed, Ordering::Relaxed);
        }
        hold(&header.owner)?;
        Ok(page)
    }

    /// The start of the page.
    pub fn header(&self) -> &Header {
        // SAFETY: the page begins with it; its fields are atomics, it is mapped to be written.
        unsafe { &self.mapping.slice::<Header>(0, 1)[0] }
    }

    /// What it says of each CPU.
    pub fn words(&self) -> &[CpuWords] {
        // SAFETY: they follow the header; the fields are atomics, mapped to be written.
        unsafe { self.mapping.slice(size_of::<Header>(), self.cpus) }
    }

    /// By how much clocks can differ; nothing if they cannot be compared.
    pub fn margin_ns(&self) -> Option<u64> {
        // Relaxed: only this thread writes it.
        let margin_ns = self.header().margin_ns.load(Ordering::Relaxed);
        (margin_ns != NO_COMMON_CLOCK).then_some(margin_ns)
    }

    /// From now on times of different CPUs must not be compared.
    pub fn withdraw_clock(&self) {
        self.header().margin_ns.store(NO_COMMON_CLOCK, Ordering::Release);
        self.header().generation.fetch_add(1, Ordering::Release);
    }

    /// Says which CPUs are offline. If one has come up whose clock was not compared with the
    /// others', the clock is withdrawn, so that barriers can go on by counts. `online` must look at
    /// the system when it is called: a CPU is named with the state that it had before the look, so
    /// one that has come up since differs.
    ///
    /// # Errors
    ///
    /// As `online`.
    pub fn say_offline(
        &mut self,
        slots: &[Slot],
        online: impl FnOnce() -> io::Result<CpuSet>,
    ) -> io::Result<()> {
        let states: Vec<u64> = slots.iter().map(|slot| slot.state().0).collect();
        let online = online()?;
        for (cpu, (words, state)) in self.words().iter().zip(states).enumerate() {
            let state = if online.contains(cpu) { ONLINE } else { state };
            // Release: the look at the system comes before.
            words.offline_state.store(state, Ordering::Release);
        }
        if self.margin_ns().is_some() && online.iter().any(|cpu| !self.surveyed.contains(cpu)) {
            self.withdraw_clock();
        }
        if self.online.as_ref() != Some(&online) {
            self.header().generation.fetch_add(1, Ordering::Release);
            self.online = Some(online);
        }
        Ok(())
    }

    /// One round: begins a virtual time, looks at all slots, writes what changed, wakes who sleeps.
    ///
    /// Virtual time `r` is stored before the slots are looked at. A CPU that is idle or offline at
    /// this look, or whose count has moved since the look of round `r - 1`, passed a fence (or ran
    /// nothing) after round `r`, or `r - 1`, had begun; that is its virtual time. A client that
    /// read round `k` before that may go on once all CPUs have more than `k`.
    pub fn publish(&mut self, slots: &[Slot], now_ns: u64) -> Round {
        self.round += 1;
        let header = self.header();
        // SeqCst: a locked instruction, so what follows is loaded after this is visible.
        header.virtual_time.swap(self.round, Ordering::SeqCst);
        let mut seen = Vec::with_capacity(slots.len());
        let mut round = Round { oldest_busy_ns: None, oldest_virtual_time: u64::MAX };
        for (cpu, (slot, words)) in slots.iter().zip(self.words()).enumerate() {
            // The count first: a run between the two loads is then seen at the next round.
            let (count, state) = (slot.count(), slot.state());
            let has_moved = self.seen[cpu].is_some_and(|seen| seen != count);
            let rests = state.is_idle() || words.offline_state.load(Ordering::Relaxed) == state.0;
            if rests {
                words.virtual_time.store(self.round, Ordering::Release);
            } else {
                let oldest_ns = round.oldest_busy_ns.unwrap_or(u64::MAX);
                round.oldest_busy_ns = Some(oldest_ns.min(state.stamp_ns()));
                if has_moved {
                    words.virtual_time.store(self.round - 1, Ordering::Release);
                }
            }
            if has_moved || rests {
                words.stamp_ns.store(state.stamp_ns(), Ordering::Release);
                wake(&words.futex);
            }
            let virtual_time = words.virtual_time.load(Ordering::Relaxed);
            round.oldest_virtual_time = round.oldest_virtual_time.min(virtual_time);
            seen.push(Some(count));
        }
        let stamp_ns = round.oldest_busy_ns.unwrap_or(now_ns);
        header.oldest_stamp_ns.store(stamp_ns, Ordering::Release);
        header.round_ns.store(now_ns, Ordering::Release);
        // Release: the CPUs' fences come before what says so.
        header.oldest_virtual_time.store(round.oldest_virtual_time, Ordering::Release);
        wake(&header.futex);
        self.seen = seen;
        round
    }
}

impl Drop for Page {
    fn drop(&mut self) {
        // SeqCst: visible to all before anything that comes after, a program's end for example.
        self.header().owner.swap(0, Ordering::SeqCst);
    }
}

impl AsFd for Page {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

/// Changes a word and wakes all who sleep on it, in any process.
fn wake(word: &AtomicU32) {
    // Release: what was written before is visible to who finds the word changed.
    word.fetch_add(1, Ordering::Release);
    // SAFETY: the word is live and aligned; waking touches nothing else.
    unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}

/// Memory that this process can write, and others only read.
fn sealed_memory(bytes: usize) -> io::Result<(OwnedFd, Mapping)> {
    // SAFETY: the name is a constant; the descriptor is new and ours.
    let file = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        File::from_raw_fd(checked(libc::memfd_create(c"barrierd".as_ptr(), flags))?)
    };
    file.set_len(bytes as u64)?;
    // Before the seal: later mappings cannot be written.
    let mapping = Mapping::new(file.as_fd(), 0, bytes, Access::Write)?;
    let seals = libc::F_SEAL_SHRINK | libc::F_SEAL_GROW | F_SEAL_FUTURE_WRITE | libc::F_SEAL_SEAL;
    // SAFETY: numbers only.
    checked(unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, seals) })?;
    Ok((file.into(), mapping))
}

/// From `linux/fcntl.h`; not every version of the C library names it.
const F_SEAL_FUTURE_WRITE: libc::c_int = 0x10;

#[cfg(test)]
mod tests;
