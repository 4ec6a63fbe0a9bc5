//! `mprotect(2)` as a barrier: a page that every CPU has to forget.
//!
//! The page is made writable, written to, and made inaccessible. The write puts its translation,
//! marked as used, into the page table; so taking the rights away obliges the kernel to make every
//! CPU that runs this address space forget it, and the call returns only after they have. Where
//! [`soundness`](super::soundness) says that this is done by interrupts, each of those CPUs has
//! passed a full fence; a CPU that runs another process or none has passed one by switching to it.
//!
//! A page without an entry in the page table, or with one that was never marked as used, cannot be
//! in anyone's cache, and then the call interrupts no CPU. The write sees to both; the page is
//! locked in memory, so that its entry is not taken away between the write and the last call.
//! (Should the kernel move the page just then, it has to make all CPUs forget the old place: the
//! same interrupts.)

use core::ffi::c_int;

use super::Reason;
use super::fork::Lock;

/// The page of the process. One thread at a time: another's last step between one's first and
/// second would be a fault.
pub(super) static PAGE: Lock<Page> = Lock::new(Page(core::ptr::null_mut()));

/// Makes the page, and does it once.
pub(super) fn prepare() -> Result<(), Reason> {
    PAGE.hold(|page| {
        if page.0.is_null() {
            page.0 = map()?;
        }
        page.lock_in_memory()?;
        page.flip()
    })
}

/// The heavy side.
pub(super) fn issue() -> Result<(), Reason> {
    PAGE.hold(|page| page.flip())
}

/// Where the page is; null while there is none.
pub(super) struct Page(*mut u8);

// SAFETY: a mapping belongs to the process, not to a thread.
unsafe impl Send for Page {}

impl Page {
    /// After a fork, in the child: the page was copied, but is not locked in memory. If it cannot
    /// be, there is no page any more, and the next heavy side fails.
    pub(super) fn after_fork(&mut self) {
        if !self.0.is_null() && self.lock_in_memory().is_err() {
            self.0 = core::ptr::null_mut();
        }
    }

    fn lock_in_memory(&self) -> Result<(), Reason> {
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: mlock changes no byte of the page.
        match unsafe { libc::mlock(self.0.cast(), page_len()) } {
            0 => Ok(()),
            _ => Err(Reason::of_last("mlock")),
        }
    }

    /// Writable, written to, inaccessible.
    fn flip(&self) -> Result<(), Reason> {
        if self.0.is_null() {
            return Err(Reason::NotOffered);
        }
        self.protect(libc::PROT_READ | libc::PROT_WRITE)?;
        // SAFETY: the page is mapped as long as the process lives, was just made writable, and the
        // lock keeps every other thread from changing that. Volatile: the write must happen, here.
        unsafe { self.0.write_volatile(1) };
        self.protect(libc::PROT_NONE)
    }

    fn protect(&self, rights: c_int) -> Result<(), Reason> {
        // SAFETY: the page is a mapping of this module's own, to which nothing else points.
        match unsafe { libc::mprotect(self.0.cast(), page_len(), rights) } {
            0 => Ok(()),
            _ => Err(Reason::of_last("mprotect")),
        }
    }
}

fn map() -> Result<*mut u8, Reason> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let page =
        unsafe { libc::mmap(core::ptr::null_mut(), page_len(), libc::PROT_NONE, flags, -1, 0) };
    if page == libc::MAP_FAILED { Err(Reason::of_last("mmap")) } else { Ok(page.cast()) }
}

fn page_len() -> usize {
    // SAFETY: sysconf has no precondition.
    let len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // x86-64 has pages of 4 KiB; no other architecture comes here.
    usize::try_from(len).unwrap_or(4096)
}
