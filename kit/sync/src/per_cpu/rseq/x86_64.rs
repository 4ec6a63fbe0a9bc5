//! `struct rseq` on Linux and x86-64: the C library's, or one of our own.

use super::Finder;
use crate::per_cpu::mode::{Reason, Registration};
use std::arch::asm;
use std::cell::{Cell, UnsafeCell};
use std::ffi::c_void;
use std::io;
use std::marker::PhantomData;
use std::mem::offset_of;
use std::num::NonZeroIsize;
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

/// The number of the CPU of a thread that is not registered: larger than any CPU's.
const UNREGISTERED: u32 = u32::MAX;

/// The oldest layout has so many bytes in use.
const SIZE_MIN: u32 = 20;

/// The area of the calling thread, as its distance from the thread pointer: instructions reach it
/// by FS, without a pointer. It is for this thread alone, which the marker says to the compiler.
#[derive(Clone, Copy)]
pub(crate) struct Area {
    offset: isize,
    is_of_this_thread: PhantomData<*mut RawArea>,
}

impl Area {
    /// What stands before each abort handler, so that the kernel jumps nowhere else. glibc
    /// registers its threads with this value, so every section of the process must have it.
    pub(crate) const SIGNATURE: u32 = 0x5305_3053;
    /// Where the fields are that sections use.
    pub(crate) const CPU_ID: usize = offset_of!(RawArea, cpu_id);
    /// As above.
    pub(crate) const RSEQ_CS: usize = offset_of!(RawArea, rseq_cs);

    /// The area at this distance.
    #[inline(always)]
    const fn at(offset: isize) -> Area {
        Area { offset, is_of_this_thread: PhantomData }
    }

    /// The area of this thread that the C library has.
    #[inline(always)]
    pub(crate) fn of_libc(offset: NonZeroIsize) -> Area {
        Area::at(offset.get())
    }

    /// The area of this thread; `None` if it cannot have one. That it is there does not mean that
    /// it is registered: see [`Area::cpu`].
    pub(crate) fn of_thread(finder: Finder) -> Option<Area> {
        match finder {
            Finder::Libc(offset) => Some(Area::of_libc(offset)),
            Finder::Own => OWN.try_with(OwnArea::area).ok().flatten(),
        }
    }

    /// The CPU on which this thread ran a moment ago; a number above all CPUs' if the kernel does
    /// not keep it.
    #[inline(always)]
    pub(crate) fn cpu(self) -> u32 {
        let cpu;
        // SAFETY: the area is this thread's and lives as long as it. It may change between any two
        // instructions, so it is read anew each time.
        unsafe {
            asm!(
                "mov {cpu:e}, dword ptr fs:[{offset} + {cpu_id}]",
                cpu = out(reg) cpu,
                offset = in(reg) self.offset,
                cpu_id = const Area::CPU_ID,
                options(readonly, nostack, preserves_flags),
            );
        }
        cpu
    }

    /// How far it is from the thread pointer.
    #[inline(always)]
    pub(crate) fn offset(self) -> isize {
        self.offset
    }
}

fn thread_pointer() -> *mut RawArea {
    let pointer;
    // SAFETY: the ABI has the thread pointer itself at its own address.
    unsafe {
        asm!("mov {}, fs:0", out(reg) pointer, options(readonly, nostack, preserves_flags));
    }
    pointer
}

/// A variable that the C library may have: it is looked up at run time, as musl and old glibc have
/// none. In a program that is linked statically nothing can be looked up then; there the linker
/// finds it, or puts 0 for its address.
///
/// Both variables that are asked for are documented by glibc as constants of the type that the
/// caller reads, set before the first line of the program.
macro_rules! of_libc {
    ($name:literal, $type:ty) => {{
        #[cfg(target_feature = "crt-static")]
        let symbol: *const $type = {
            let address;
            // SAFETY: it loads an address that the linker has written.
            unsafe {
                asm!(
                    concat!(".weak ", $name),
                    concat!("mov {}, qword ptr [rip + ", $name, "@GOTPCREL]"),
                    out(reg) address,
                    options(pure, readonly, nostack, preserves_flags),
                );
            }
            address
        };
        #[cfg(not(target_feature = "crt-static"))]
        let symbol: *const $type = {
            let name: *const u8 = concat!($name, "\0").as_ptr();
            // SAFETY: the name ends with a zero.
            unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.cast()) }.cast()
        };
        // SAFETY: it is null or such a variable.
        unsafe { symbol.as_ref() }.copied()
    }};
}

/// How far from the thread pointer the C library keeps its area.
pub(crate) fn libc_offset() -> Result<NonZeroIsize, Reason> {
    let (size, offset) = (of_libc!("__rseq_size", u32), of_libc!("__rseq_offset", isize));
    let (Some(size), Some(offset)) = (size, offset) else {
        return Err(unless_refused(Reason::NotOffered));
    };
    match size {
        0 => Err(unless_refused(Reason::TurnedOff)),
        // At the thread pointer itself is the thread pointer.
        SIZE_MIN.. => NonZeroIsize::new(offset).ok_or(Reason::UnknownLayout),
        _ => Err(Reason::UnknownLayout),
    }
}

/// Whether the C library has registered, and this thread too.
pub(crate) fn of_libc() -> Result<Registration, Reason> {
    let offset = libc_offset()?;
    // A registered thread has a number; one that is not has one of the negative marks.
    if Area::of_libc(offset).cpu() > i32::MAX as u32 {
        return Err(Reason::ThreadNotRegistered);
    }
    stay_loaded();
    Ok(Registration::Libc)
}

/// Registers this thread by ourselves, for want of the C library.
pub(crate) fn of_own(_reason: Reason) -> Result<Registration, Reason> {
    OWN.try_with(|own| match own.register() {
        State::Registered => {
            stay_loaded();
            Ok(Registration::Own)
        }
        State::Refused(errno) => Err(Reason::Refused(errno)),
        State::New => Err(Reason::ThreadNotRegistered),
    })
    .unwrap_or(Err(Reason::ThreadNotRegistered))
}

/// Keeps the library that this code is in for as long as the process lives: see the sections. The
/// program itself is never unloaded; for it, and where nothing is loaded at run time, the loader
/// knows no library of the name, which is as well.
fn stay_loaded() {
    // SAFETY: an address of this code goes in; the name that comes out is the loader's and stays.
    // `RTLD_NOLOAD` loads nothing and runs nothing: it finds what is there, and the flag stays.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let is_known = libc::dladdr(stay_loaded as *const c_void, &raw mut info) != 0;
        if is_known && !info.dli_fname.is_null() {
            let flags = libc::RTLD_LAZY | libc::RTLD_NOLOAD | libc::RTLD_NODELETE;
            libc::dlopen(info.dli_fname, flags);
        }
    }
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
        let from = thread_pointer().addr();
        // Sections write there by this number alone.
        let offset = self.raw.get().expose_provenance().wrapping_sub(from) as isize;
        matches!(self.register(), State::Registered).then_some(Area::at(offset))
    }

    fn register(&self) -> State {
        if let State::New = self.state.get() {
            let done = rseq(self.raw.get(), size_of::<RawArea>(), 0);
            // A signal's handler may have been quicker; then the kernel has refused this call only.
            if let State::New = self.state.get() {
                self.state.set(done.map_or_else(State::Refused, |()| State::Registered));
            }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Also in a program that is linked statically: `scripts/sync.sh short static`.
    #[test]
    fn whoever_has_registered_this_thread_is_found() {
        let by_libc = libc_offset();
        let own = OWN.with(OwnArea::register);
        match own {
            State::Registered => assert!(by_libc.is_err(), "two have registered: {by_libc:?}"),
            State::Refused(libc::EINVAL) => assert!(by_libc.is_ok(), "not found: {by_libc:?}"),
            State::Refused(_) | State::New => assert!(by_libc.is_err(), "{by_libc:?}"),
        }
    }
}
