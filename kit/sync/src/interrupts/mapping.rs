//! Memory of another process, mapped to be read.

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr::NonNull;

use super::layout::{CpuWords, Header, Slot, page_bytes, slot_bytes};
use super::view::View;

/// Bytes mapped for reading, shared with who writes them, until this is dropped.
#[derive(Debug)]
struct Mapping {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the mapping belongs to the process, not to a thread, and is unmapped only when dropped.
unsafe impl Send for Mapping {}
// SAFETY: what is read through it is atomic.
unsafe impl Sync for Mapping {}

impl Mapping {
    fn new(file: BorrowedFd<'_>, bytes: usize) -> io::Result<Mapping> {
        // SAFETY: a new mapping at a place of the kernel's choice takes nothing from anyone.
        let start = unsafe {
            let (read, shared) = (libc::PROT_READ, libc::MAP_SHARED);
            libc::mmap(std::ptr::null_mut(), bytes, read, shared, file.as_raw_fd(), 0)
        };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast()).ok_or_else(io::Error::last_os_error)?;
        Ok(Mapping { start, bytes })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what `new` mapped; references into it borrow `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

/// Both mappings of a client.
#[derive(Debug)]
pub(super) struct Shared {
    slots: Mapping,
    page: Mapping,
    cpus: usize,
}

impl Shared {
    /// Maps the kernel's array and the daemon's page for `cpus` CPUs.
    pub(super) fn new(
        slots: BorrowedFd<'_>,
        page: BorrowedFd<'_>,
        cpus: usize,
    ) -> io::Result<Shared> {
        check_page(page, page_bytes(cpus))?;
        // The kernel refuses to map more of its array than there is.
        let slots = Mapping::new(slots, slot_bytes(cpus))?;
        Ok(Shared { slots, page: Mapping::new(page, page_bytes(cpus))?, cpus })
    }

    /// What they show.
    pub(super) fn view(&self) -> View<'_> {
        // SAFETY: mappings begin at a page and have at least these bytes, which `new` asked for and
        // which cannot be cut off: the array is the kernel's, the page is sealed. They live as long
        // as `self`. All fields that another process writes are atomics; any bits are valid.
        unsafe {
            let page = self.page.start.as_ptr();
            View {
                slots: std::slice::from_raw_parts(
                    self.slots.start.as_ptr().cast::<Slot>(),
                    self.cpus,
                ),
                header: &*page.cast::<Header>(),
                words: std::slice::from_raw_parts(
                    page.add(size_of::<Header>()).cast::<CpuWords>(),
                    self.cpus,
                ),
            }
        }
    }
}

/// Whether the page is long enough, and sealed so that it stays so.
fn check_page(page: BorrowedFd<'_>, bytes: usize) -> io::Result<()> {
    // SAFETY: a zeroed `stat` is a valid one, and the kernel fills it; the other call takes
    // numbers.
    let (size, seals) = unsafe {
        let mut status: libc::stat = std::mem::zeroed();
        if libc::fstat(page.as_raw_fd(), &mut status) != 0 {
            return Err(io::Error::last_os_error());
        }
        (status.st_size as usize, libc::fcntl(page.as_raw_fd(), libc::F_GET_SEALS))
    };
    if seals < 0 {
        return Err(io::Error::last_os_error());
    }
    if seals & libc::F_SEAL_SHRINK == 0 || size < bytes {
        return Err(io::Error::other("the page is too short, or may become so"));
    }
    Ok(())
}
