//! The word that says that a thread lives: the kernel changes it when the thread dies.

use std::io;
use std::sync::atomic::{AtomicU32, Ordering};

use crate::checked;

/// A thread's list of robust futexes, `struct robust_list_head` of the kernel, with one entry.
#[repr(C)]
struct List {
    first: usize,
    /// From an entry to its futex.
    offset: isize,
    pending: usize,
    /// The entry: where the next one is, which is the list's head again.
    entry: usize,
}

/// Writes the calling thread's number into a word, which the kernel takes out when the thread ends,
/// by whatever means. That happens before the thread's descriptors are closed.
///
/// A thread holds one word: the last. The kernel looks for the word even if its memory was unmapped
/// meanwhile, and changes it only where it still has the thread's number.
///
/// # Errors
///
/// The kernel has no robust futexes, or does not lock two pages of memory.
pub fn hold(word: &AtomicU32) -> io::Result<()> {
    // Shared and locked: who kills for want of memory (or `process_mrelease`) takes private memory
    // away before the process ends, and the kernel would find no list.
    let list: *mut List = shared_page()?.cast();
    lock_page(word.as_ptr().cast())?;
    // SAFETY: the page is new, ours, and never unmapped, so the kernel may look at it until the
    // thread ends; it is larger than a list. The last call asks for a number.
    let thread = unsafe {
        let entry = &raw mut (*list).entry;
        let offset = word.as_ptr() as isize - entry as isize;
        list.write(List { first: entry as usize, offset, pending: 0, entry: list as usize });
        checked(libc::syscall(libc::SYS_set_robust_list, list, HEAD_BYTES))?;
        libc::syscall(libc::SYS_gettid) as u32
    };
    // Release: who sees the number sees what the word stands for.
    word.store(thread, Ordering::Release);
    Ok(())
}

/// The size of the kernel's structure: without the entry.
const HEAD_BYTES: usize = std::mem::offset_of!(List, entry);

/// A page of shared memory, in memory for good.
fn shared_page() -> io::Result<*mut libc::c_void> {
    let (access, kind) =
        (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    // SAFETY: a new mapping at a place of the kernel's choice takes nothing from anyone.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), size_of::<List>(), access, kind, -1, 0) };
    if page == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    lock_page(page)?;
    Ok(page)
}

/// Keeps the page of an address in memory.
fn lock_page(address: *mut libc::c_void) -> io::Result<()> {
    // SAFETY: changes no contents; where nothing is mapped it fails.
    checked(unsafe { libc::mlock(address, 1) }).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_of_a_thread_that_ended_names_nobody() {
        let word = AtomicU32::new(0);
        let own = || {
            hold(&word).unwrap();
            word.load(Ordering::Relaxed)
        };
        let thread = std::thread::scope(|scope| scope.spawn(own).join().unwrap());
        assert_ne!(thread, 0);
        // The C library may say that a thread has ended shortly before its memory is let go.
        let is_dead = |_| word.load(Ordering::Acquire) == libc::FUTEX_OWNER_DIED;
        let wait = || std::thread::sleep(std::time::Duration::from_millis(1));
        assert!((0..20_000).inspect(|_| wait()).any(is_dead), "{:x}", word.into_inner());
    }
}
