//! A daemon that a test plays: its two mappings, and the other ends of its connections.

use std::fs::File;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::interrupts::Client;
use crate::interrupts::connect::Parts;
use crate::interrupts::layout::{CpuWords, Header, ONLINE, Slot, State, page_bytes, slot_bytes};

/// It has the memory, and writes it as files.
pub(crate) struct Daemon {
    slots: File,
    page: File,
    cpus: usize,
    runs: AtomicU64,
    ends: Mutex<Vec<UnixStream>>,
}

impl Daemon {
    /// All CPUs online, busy and never interrupted.
    pub(crate) fn new(cpus: usize) -> Daemon {
        let (slots, page) = (memory(slot_bytes(cpus)), memory(page_bytes(cpus)));
        let ends = Mutex::new(Vec::new());
        let daemon = Daemon { slots, page, cpus, runs: AtomicU64::new(1), ends };
        for cpu in 0..cpus {
            let words = size_of::<Header>() + cpu * size_of::<CpuWords>();
            let at = words + core::mem::offset_of!(CpuWords, offline_state);
            daemon.page.write_all_at(&ONLINE.to_ne_bytes(), at as u64).unwrap();
            daemon.run(cpu);
        }
        daemon.own(1);
        daemon
    }

    /// What a run of a program does.
    pub(crate) fn run(&self, cpu: usize) {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        self.write(cpu, run, State::new(run, false));
    }

    /// The CPU has become idle.
    pub(crate) fn idle(&self, cpu: usize) {
        let run = self.runs.fetch_add(1, Ordering::Relaxed);
        self.write(cpu, run, State::new(run, true));
    }

    fn write(&self, cpu: usize, count: u64, state: State) {
        let slot = (cpu * size_of::<Slot>()) as u64;
        let count_at = slot + core::mem::offset_of!(Slot, count) as u64;
        self.slots.write_all_at(&count.to_ne_bytes(), count_at).unwrap();
        self.slots.write_all_at(&state.0.to_ne_bytes(), slot).unwrap();
    }

    /// A client of this daemon.
    pub(crate) fn client(&self) -> Client {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        self.ends.lock().unwrap().push(far);
        let [slots, page] = [&self.slots, &self.page].map(|file| file.try_clone().unwrap().into());
        let parts = Parts { slots, page, cpus: self.cpus };
        Client::of_parts(near, parts).unwrap()
    }

    /// What the kernel writes of its owner.
    fn own(&self, owner: u32) {
        let at = core::mem::offset_of!(Header, owner);
        self.page.write_all_at(&owner.to_ne_bytes(), at as u64).unwrap();
    }

    /// Dies as if it was killed: the mark first, then the ends of all connections.
    pub(crate) fn end(&mut self) {
        self.own(1 << 30);
        self.ends.get_mut().unwrap().clear();
    }
}

/// Memory whose size cannot change.
fn memory(bytes: usize) -> File {
    // SAFETY: the name is a constant, and the descriptor is new and ours; then numbers only.
    let file = unsafe {
        let flags = libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING;
        let file = libc::memfd_create(c"made".as_ptr(), flags);
        assert!(file >= 0);
        OwnedFd::from_raw_fd(file)
    };
    let file = File::from(file);
    file.set_len(bytes as u64).unwrap();
    // SAFETY: numbers only.
    let result = unsafe { libc::fcntl(file.as_raw_fd(), libc::F_ADD_SEALS, libc::F_SEAL_SHRINK) };
    assert_eq!(result, 0);
    file
}
