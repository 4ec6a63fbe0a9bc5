//! `mprotect(2)` as a barrier: a page that every CPU has to forget.
//!
//! The page is made writable, written to, and made inaccessible. The write puts its translation,
//! marked as used, into the page table; so taking the rights away obliges the kernel to make every
//! CPU that runs this address space forget it, and the call returns only after they have. Where
//! [`soundness`](super::soundness) says that this is done by interrupts, each of those CPUs has
//! passed a full fence; a CPU that runs another process or none has passed one by switching to it.
//!
//! A page without an entry in the page table, or with one that was never marked as used, cannot be
//! in anyone's cache, and then the call interrupts nobody. The write sees to both; the page is
//! locked in memory, so that its entry is not taken away between the write and the last call.
//! (Should the kernel move the page just then, it has to make all CPUs forget the old place: the
//! same interrupts.)

use core::ffi::c_int;
use core::sync::atomic::{AtomicPtr, Ordering};

use super::Reason;
use super::lock::Lock;

/// The page, null while there is none. Changed only under the lock.
static PAGE: AtomicPtr<u8> = AtomicPtr::new(core::ptr::null_mut());

/// One at a time: another thread's last step between one's first and second would be a fault.
static LOCK: Lock = Lock::new();

/// Makes the page, and does it once.
pub(super) fn prepare() -> Result<(), Reason> {
    LOCK.hold(|| {
        // Relaxed, wherever the page is named: only holders of the lock do.
        if PAGE.load(Ordering::Relaxed).is_null() {
            PAGE.store(map()?, Ordering::Relaxed);
        }
        lock_in_memory()?;
        flip()
    })
}

/// The heavy side.
pub(super) fn issue() -> Result<(), Reason> {
    LOCK.hold(flip)
}

/// Before a fork: nobody is in the middle of it.
pub(super) fn before_fork() {
    LOCK.lock();
}

/// After a fork, in the parent.
pub(super) fn after_fork_in_parent() {
    LOCK.unlock();
}

/// After a fork, in the child: the page was copied, but is not locked in memory. If it cannot be,
/// there is no page any more, and the next heavy side is told so.
pub(super) fn after_fork_in_child() {
    if !PAGE.load(Ordering::Relaxed).is_null() && lock_in_memory().is_err() {
        PAGE.store(core::ptr::null_mut(), Ordering::Relaxed);
    }
    LOCK.unlock();
}

fn page_len() -> usize {
    // SAFETY: sysconf has no precondition.
    let len = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // x86-64 has pages of 4 KiB; no other architecture comes here.
    usize::try_from(len).unwrap_or(4096)
}

fn last_errno(call: &'static str) -> Reason {
    let errno = std::io::Error::last_os_error().raw_os_error().unwrap_or(0);
    Reason::Errno { call, errno }
}

fn map() -> Result<*mut u8, Reason> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new mapping at an address of the kernel's choice touches no memory in use.
    let page =
        unsafe { libc::mmap(core::ptr::null_mut(), page_len(), libc::PROT_NONE, flags, -1, 0) };
    if page == libc::MAP_FAILED { Err(last_errno("mmap")) } else { Ok(page.cast()) }
}

/// Under the lock, with a page.
fn lock_in_memory() -> Result<(), Reason> {
    let page = PAGE.load(Ordering::Relaxed);
    protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: mlock changes no byte of the page.
    if unsafe { libc::mlock(page.cast(), page_len()) } == 0 {
        Ok(())
    } else {
        Err(last_errno("mlock"))
    }
}

/// Under the lock: writable, written to, inaccessible.
fn flip() -> Result<(), Reason> {
    let page = PAGE.load(Ordering::Relaxed);
    if page.is_null() {
        return Err(Reason::NotOffered);
    }
    protect(page, libc::PROT_READ | libc::PROT_WRITE)?;
    // SAFETY: the page is mapped as long as the process lives, was just made writable, and the lock
    // keeps every other thread from changing that. Volatile: the write must happen, here.
    unsafe { page.write_volatile(1) };
    protect(page, libc::PROT_NONE)
}

fn protect(page: *mut u8, rights: c_int) -> Result<(), Reason> {
    // SAFETY: the page is a mapping of this module's own, to which nothing else points.
    if unsafe { libc::mprotect(page.cast(), page_len(), rights) } == 0 {
        Ok(())
    } else {
        Err(last_errno("mprotect"))
    }
}
