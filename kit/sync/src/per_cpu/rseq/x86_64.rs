//! `struct rseq` on Linux and x86-64: the C library's, or one of our own.

use super::Finder;
use crate::per_cpu::mode::{Reason, Registration};
use std::arch::asm;
use std::cell::{Cell, UnsafeCell};
use std::ffi::CStr;
use std::io;
use std::mem::offset_of;
use std::ptr::null_mut;

/// `struct rseq` of the kernel. It writes both numbers, and 0 over `rseq_cs`; threads write
/// `rseq_cs` alone.
#[repr(C, align(32))]
pub(crate) struct RawArea {
    cpu_id_start: u32,
    cpu_id: u32,
    rseq_cs: u64,
    flags: u32,
    reserved: [u32; 3],
}

/// What a thread without registration has as its CPU's number: larger than any.
const UNREGISTERED: u32 = u32::MAX;

/// The oldest layout has so many bytes in use.
const SIZE_MIN: u32 = 20;

/// The area of the calling thread. It is for this thread alone, which the pointer in it says to the
/// compiler too.
#[derive(Clone, Copy)]
pub(crate) struct Area(*mut RawArea);

impl Area {
    /// What stands before each abort handler, so that the kernel jumps nowhere else. glibc
    /// registers its threads with this value, so every section of the process must have it.
    pub(crate) const SIGNATURE: u32 = 0x5305_3053;
    /// Where the fields are that sections use.
    pub(crate) const CPU_ID: usize = offset_of!(RawArea, cpu_id);
    /// As above.
    pub(crate) const RSEQ_CS: usize = offset_of!(RawArea, rseq_cs);

    /// The area of this thread; `None` if it cannot have one. That it is there does not mean that
    /// it is registered: see [`Area::cpu`].
    #[inline(always)]
    pub(crate) fn of_thread(finder: Finder) -> Option<Area> {
        match finder {
            Finder::Libc(offset) => Some(Area(thread_pointer().wrapping_offset(offset).cast())),
            Finder::Own => own_area(),
        }
    }

    /// The CPU on which this thread ran a moment ago; a number above all CPUs' if the kernel does
    /// not keep it.
    #[inline(always)]
    pub(crate) fn cpu(self) -> u32 {
        // SAFETY: the area is this thread's and lives as long as it. Volatile, as the kernel writes
        // it whenever it likes, though never while this thread runs.
        unsafe { (&raw const (*self.0).cpu_id).read_volatile() }
    }

    #[inline(always)]
    pub(crate) fn as_ptr(self) -> *mut RawArea {
        self.0
    }
}

/// A call, so that the code of those who need it not stays short.
#[inline(never)]
fn own_area() -> Option<Area> {
    OWN.try_with(OwnArea::area).ok().flatten()
}

/// Not declared as pure, so that it is never kept from one thread's stretch of code to another's
/// where stacks are switched.
#[inline(always)]
fn thread_pointer() -> *mut u8 {
    let pointer;
    // SAFETY: the ABI has the thread pointer itself at its own address.
    unsafe {
        asm!("mov {}, fs:0", out(reg) pointer, options(readonly, nostack, preserves_flags));
    }
    pointer
}

/// A variable that the C library may have: looked up at run time, as musl and old glibc have none.
fn of_symbol<T: Copy>(name: &CStr) -> Option<T> {
    // SAFETY: the name ends with a zero. Both names that are asked for are documented by glibc as
    // constants of the type that the caller reads, set before the first line of the program.
    unsafe {
        let symbol = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()).cast::<T>();
        symbol.as_ref().copied()
    }
}

/// How far from the thread pointer the C library keeps its area.
pub(crate) fn libc_offset() -> Result<isize, Reason> {
    let size = of_symbol::<u32>(c"__rseq_size");
    let (Some(size), Some(offset)) = (size, of_symbol::<isize>(c"__rseq_offset")) else {
        return Err(unless_refused(Reason::NotOffered));
    };
    match size {
        0 => Err(unless_refused(Reason::TurnedOff)),
        SIZE_MIN.. => Ok(offset),
        _ => Err(Reason::UnknownLayout),
    }
}

/// Whether the C library has registered, and this thread too.
pub(crate) fn of_libc() -> Result<Registration, Reason> {
    let offset = libc_offset()?;
    // A registered thread has a number; one that is not has one of the negative marks.
    match Area::of_thread(Finder::Libc(offset)) {
        Some(area) if area.cpu() <= i32::MAX as u32 => Ok(Registration::Libc),
        _ => Err(Reason::ThreadNotRegistered),
    }
}

/// Registers this thread by ourselves, for want of the C library.
pub(crate) fn of_own(_reason: Reason) -> Result<Registration, Reason> {
    OWN.try_with(|own| match own.register() {
        State::Registered => Ok(Registration::Own),
        State::Refused(errno) => Err(Reason::Refused(errno)),
        State::New => Err(Reason::ThreadNotRegistered),
    })
    .unwrap_or(Err(Reason::ThreadNotRegistered))
}

/// Asks the kernel by a call that it can only refuse: `EINVAL` for an area without a length, where
/// it knows the call.
fn unless_refused(reason: Reason) -> Reason {
    match rseq(null_mut(), 0, 0) {
        Err(libc::EINVAL) | Ok(()) => reason,
        Err(errno) => Reason::Refused(errno),
    }
}

fn rseq(area: *mut RawArea, bytes: usize, flags: u32) -> Result<(), i32> {
    // SAFETY: the kernel checks all of it. An area that it takes stays until it is taken back: see
    // `OwnArea`.
    let status = unsafe { libc::syscall(libc::SYS_rseq, area, bytes, flags, Area::SIGNATURE) };
    match status {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error().raw_os_error().unwrap_or(libc::ENOSYS)),
    }
}

/// An area that this crate registers, in the thread's own storage: it stays where it is until the
/// thread ends, and `drop` takes it back before that.
struct OwnArea {
    raw: UnsafeCell<RawArea>,
    state: Cell<State>,
}

#[derive(Clone, Copy)]
enum State {
    New,
    Registered,
    Refused(i32),
}

/// The flag of the system call that takes an area back.
const UNREGISTER: u32 = 1;

thread_local! {
    static OWN: OwnArea = const {
        OwnArea {
            raw: UnsafeCell::new(RawArea {
                cpu_id_start: 0,
                cpu_id: UNREGISTERED,
                rseq_cs: 0,
                flags: 0,
                reserved: [0; 3],
            }),
            state: Cell::new(State::New),
        }
    };
}

impl OwnArea {
    fn area(&self) -> Option<Area> {
        matches!(self.register(), State::Registered).then_some(Area(self.raw.get()))
    }

    fn register(&self) -> State {
        if let State::New = self.state.get() {
            let done = rseq(self.raw.get(), size_of::<RawArea>(), 0);
            self.state.set(done.map_or_else(State::Refused, |()| State::Registered));
        }
        self.state.get()
    }
}

impl Drop for OwnArea {
    fn drop(&mut self) {
        if let State::Registered = self.state.get() {
            // It fails only if somebody else has taken it back; then the kernel has forgotten it.
            let _ = rseq(self.raw.get(), size_of::<RawArea>(), UNREGISTER);
        }
    }
}
