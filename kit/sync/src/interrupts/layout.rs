//! What daemon and client share: the layout of the two mappings, and what goes over the socket.
//!
//! The first mapping is the kernel's: an array of [`Slot`]s, one a possible CPU, that programs in
//! the kernel write and nothing else can, the daemon included. The second is the daemon's page: a
//! [`Header`] and an array of [`CpuWords`]. Only the daemon can write it; clients map it to read.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::os::fd::AsRawFd;
use std::os::unix::fs::MetadataExt;
use std::os::unix::net::UnixStream;

/// The first eight bytes of the daemon's page.
pub const MAGIC: u64 = u64::from_le_bytes(*b"TBBARRD1");

/// The version of all that this file describes.
pub const VERSION: u32 = 2;

/// Where the daemon listens unless the command line says otherwise.
pub const DEFAULT_SOCKET: &str = "/run/barrierd/socket";

/// In [`Header::margin_ns`]: times of different CPUs cannot be compared.
pub const NO_COMMON_CLOCK: u64 = u64::MAX;

/// In [`CpuWords::offline_state`]: the CPU is online.
pub const ONLINE: u64 = u64::MAX;

/// In [`CpuWords::flags`]: the kernel does not interrupt this CPU at regular times.
pub const FLAG_TICKLESS: u32 = 1;

/// In [`CpuWords::flags`]: the CPU's clock was not compared with the others', as it was offline.
pub const FLAG_UNSURVEYED: u32 = 2;

/// What a client sends before it sleeps on a futex word: one byte.
pub const WAKE_ME: u8 = b'w';

/// The same, of a client that waits for virtual time.
pub const WAKE_ME_VIRTUAL: u8 = b'v';

/// What the kernel's programs say of one CPU. 64 bytes, a cache line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Slot {
    /// The time of the last run of a program on this CPU, shifted left by one; bit 0 is set while
    /// the CPU is idle. 0 before the first run. Written by an exchange, which is a full fence.
    pub state: AtomicU64,
    /// How many times a program ran on this CPU.
    pub count: AtomicU64,
    /// How many times this CPU became idle, as far as the program could tell.
    pub idle_count: AtomicU64,
}

impl Slot {
    /// The state as it is now.
    pub fn state(&self) -> State {
        // Acquire: what the CPU wrote before its stamp must be visible to who has seen the stamp.
        State(self.state.load(Ordering::Acquire))
    }

    /// How many times a program ran.
    pub fn count(&self) -> u64 {
        // Acquire: as above.
        self.count.load(Ordering::Acquire)
    }
}

/// A value of [`Slot::state`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct State(pub u64);

impl State {
    /// A state with this time.
    pub const fn new(stamp_ns: u64, is_idle: bool) -> State {
        State(stamp_ns << 1 | is_idle as u64)
    }

    /// When a program last ran, on `CLOCK_MONOTONIC`.
    pub const fn stamp_ns(self) -> u64 {
        self.0 >> 1
    }

    /// Whether the CPU is idle.
    pub const fn is_idle(self) -> bool {
        self.0 & 1 == 1
    }
}

/// The start of the daemon's page. 128 bytes: what never changes on the first line.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct Header {
    /// [`MAGIC`].
    pub magic: AtomicU64,
    /// [`VERSION`].
    pub version: AtomicU32,
    /// How many slots there are: the highest possible CPU number, plus one.
    pub cpus: AtomicU32,
    /// Grows when CPUs come or go, and when the clock loses its standing.
    pub generation: AtomicU64,
    /// By how much the clocks of two CPUs can differ at most, or [`NO_COMMON_CLOCK`].
    pub margin_ns: AtomicU64,
    /// Which time namespace the times are of: the inode of `/proc/self/ns/time`, 0 if there is
    /// none.
    pub time_namespace: AtomicU64,
    /// The daemon's process, in its own process namespace.
    pub pid: AtomicU32,
    /// A robust futex: the number of the daemon's thread that holds it, and 0 in these bits once
    /// it does not. Only who holds it keeps the program on context switches attached.
    pub owner: AtomicU32,
    _padding: [u32; 4],
    /// The round that the daemon is in: its virtual time.
    pub virtual_time: AtomicU64,
    /// The oldest of the CPUs' virtual times.
    pub oldest_virtual_time: AtomicU64,
    /// The oldest of the CPUs' stamps, where one that is idle or offline counts as stamped now.
    pub oldest_stamp_ns: AtomicU64,
    /// When the daemon last wrote its page.
    pub round_ns: AtomicU64,
    /// A futex word that changes with `oldest_virtual_time`.
    pub futex: AtomicU32,
}

impl Header {
    /// Whether the daemon lives, and so the program on context switches is attached. True for all
    /// that was loaded before, by this thread.
    pub fn is_held(&self) -> bool {
        // Acquire: with the mark comes all that the daemon wrote before it died.
        self.owner.load(Ordering::Acquire) & OWNER != 0
    }
}

/// The bits of [`Header::owner`] that are a thread's number: `FUTEX_TID_MASK` of the kernel.
const OWNER: u32 = 0x3fff_ffff;

/// What the daemon says of one CPU. 64 bytes.
#[repr(C, align(64))]
#[derive(Debug, Default)]
pub struct CpuWords {
    /// The CPU's stamp as of the daemon's last round.
    pub stamp_ns: AtomicU64,
    /// The latest virtual time after whose begin the CPU certainly passed a fence.
    pub virtual_time: AtomicU64,
    /// The state that the slot had, not later, when the CPU was seen to be offline; or [`ONLINE`].
    pub offline_state: AtomicU64,
    /// [`FLAG_TICKLESS`] and [`FLAG_UNSURVEYED`].
    pub flags: AtomicU32,
    /// A futex word that changes when the daemon sees that the slot has.
    pub futex: AtomicU32,
}

impl CpuWords {
    /// Whether the kernel leaves this CPU without regular interrupts.
    pub fn is_tickless(&self) -> bool {
        // Relaxed: the flags are written before the page is handed out.
        self.flags.load(Ordering::Relaxed) & FLAG_TICKLESS != 0
    }

    /// Whether this CPU's stamps may be compared with times of other CPUs.
    pub fn is_surveyed(&self) -> bool {
        // Relaxed: as above.
        self.flags.load(Ordering::Relaxed) & FLAG_UNSURVEYED == 0
    }
}

/// How many bytes the daemon's page has for so many CPUs.
pub const fn page_bytes(cpus: usize) -> usize {
    size_of::<Header>() + cpus * size_of::<CpuWords>()
}

/// How many bytes the kernel's array has for so many CPUs.
pub const fn slot_bytes(cpus: usize) -> usize {
    cpus * size_of::<Slot>()
}

/// The inode of this process's time namespace: 0 where the kernel has none, nothing where it cannot
/// be found.
pub fn time_namespace() -> Option<u64> {
    match std::fs::metadata("/proc/self/ns/time") {
        Ok(metadata) => Some(metadata.ino()),
        Err(_) => std::fs::metadata("/proc/self/ns").ok().map(|_| 0),
    }
}

/// Who is at the other end: the process (0 of one in another namespace) and its user.
pub fn peer(socket: &UnixStream) -> Option<libc::ucred> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut length = size_of_val(&peer) as libc::socklen_t;
    let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
    // SAFETY: the kernel writes at most as many bytes as `peer` has, and how many into `length`.
    let result = unsafe {
        let to = (&raw mut peer).cast();
        libc::getsockopt(socket.as_raw_fd(), level, option, to, &raw mut length)
    };
    (result == 0).then_some(peer)
}

/// Now, on `CLOCK_MONOTONIC`.
///
/// On x86 the C library and the kernel read the time-stamp counter by an instruction that waits for
/// all before it (`rdtscp`, or `lfence` first). After a full fence, what was stored is then visible
/// before the time is read.
pub fn now_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the kernel writes one `timespec`.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The daemon's first and only message. With it come two descriptors: the kernel's array and the
/// daemon's page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hello {
    /// [`VERSION`].
    pub version: u32,
    /// As in [`Header::cpus`].
    pub cpus: u32,
}

impl Hello {
    /// How many bytes it is on the wire.
    pub const BYTES: usize = 16;

    /// How many descriptors come with it.
    pub const DESCRIPTORS: usize = 2;

    /// As it is sent.
    pub fn to_bytes(self) -> [u8; Hello::BYTES] {
        let mut bytes = [0; Hello::BYTES];
        bytes[..8].copy_from_slice(&MAGIC.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.version.to_le_bytes());
        bytes[12..].copy_from_slice(&self.cpus.to_le_bytes());
        bytes
    }

    /// Read again; nothing if these are not the bytes of a greeting.
    pub fn from_bytes(bytes: &[u8]) -> Option<Hello> {
        let (magic, rest) = bytes.split_first_chunk()?;
        let (version, rest) = rest.split_first_chunk()?;
        let (cpus, rest) = rest.split_first_chunk()?;
        let (version, cpus) = (u32::from_le_bytes(*version), u32::from_le_bytes(*cpus));
        (u64::from_le_bytes(*magic) == MAGIC && rest.is_empty()).then_some(Hello { version, cpus })
    }
}

const _: () = assert!(size_of::<Slot>() == 64);
const _: () = assert!(size_of::<Header>() == 128);
const _: () = assert!(core::mem::offset_of!(Header, virtual_time) == 64);
const _: () = assert!(size_of::<CpuWords>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_holds_a_time_and_a_flag() {
        for (stamp_ns, is_idle) in [(0, false), (0, true), (1, false), (u64::MAX >> 1, true)] {
            let state = State::new(stamp_ns, is_idle);
            assert_eq!((state.stamp_ns(), state.is_idle()), (stamp_ns, is_idle));
        }
    }

    #[test]
    fn a_dead_owner_holds_nothing() {
        // A thread, one with waiters; none yet, what the kernel writes, the same with waiters.
        for (owner, is_held) in
            [(7, true), (1 << 31 | 7, true), (0, false), (1 << 30, false), (3 << 30, false)]
        {
            let header = Header { owner: AtomicU32::new(owner), ..Header::default() };
            assert_eq!(header.is_held(), is_held, "{owner:x}");
        }
    }

    #[test]
    fn a_greeting_survives_the_wire_and_nothing_else_is_one() {
        let hello = Hello { version: 7, cpus: 300 };
        let bytes = hello.to_bytes();
        assert_eq!(Hello::from_bytes(&bytes), Some(hello));
        assert_eq!(Hello::from_bytes(&bytes[..15]), None);
        assert_eq!(Hello::from_bytes(&[bytes.as_slice(), &[0]].concat()), None);
        assert_eq!(Hello::from_bytes(&[0; Hello::BYTES]), None);
    }
}
